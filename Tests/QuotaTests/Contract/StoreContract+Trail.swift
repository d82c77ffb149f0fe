import GatewayTypes
import Quota
import Testing

extension StoreContract {
    private static let u1 = CounterKey.subject("u1", of: StoreBench.tenant)

    static let trailChecks: [ContractCheck] = [
        ContractCheck("each change takes a version, and one made on an old version moves nothing") { bench in
            let store = bench.store
            #expect(try await store.steering(of: Self.u1) == VersionedSteering())
            let set = OperatorChange.override(.requestsPerMinute, LimitOverride(quantity: 4))
            #expect(try await store.apply(set, to: Self.u1, by: Self.order(0)) == .applied(version: 1))
            let lower = OperatorChange.override(.requestsPerMinute, LimitOverride(quantity: 1))
            #expect(try await store.apply(lower, to: Self.u1, by: Self.order(0)) == .conflict(current: 1))
            #expect(try await store.steering(of: Self.u1).steering[.requestsPerMinute]?.quantity == 4)
            #expect(try await store.apply(.clearOverride(nil), to: Self.u1, by: Self.order(1)) == .applied(version: 2))
            #expect(try await store.steering(of: Self.u1) == VersionedSteering(version: 2))
            #expect(try await store.dropLeases(of: Self.u1, request: nil, by: Self.order(1)) == .conflict(current: 2))
            let drop = try await store.dropLeases(of: Self.u1, request: nil, by: Self.order(2))
            #expect(drop == .dropped(count: 0, version: 2))
            #expect(try await store.apply(set, to: Self.u1, by: Self.order(2)) == .applied(version: 3))
            #expect(try await store.steering(of: .tenant(StoreBench.tenant)).version == 0)
            #expect(try await store.audit(AuditQuestion(.holder(Self.u1))).entries.map(\.version) == [3, 2, 2, 1])
        },
        ContractCheck("what finds nothing to change says so, and is in the trail without a version of its own") {
            bench in
            let store = bench.store
            let limits = [Limit.minute(9), .day(1000), .running(3)]
            let kinds: [LimitKind?] = [nil, .requestsPerMinute, .tokensPerDay, .concurrentRequests]
            let lifting = [.unblock] + kinds.flatMap { [OperatorChange.clearOverride($0), .reset($0)] }
            for change in lifting { #expect(try await store.apply(change, to: Self.u1) == .unchanged(version: 0)) }
            let none = try await store.audit(AuditQuestion(.holder(Self.u1))).entries
            #expect(none.map(\.action) == lifting.reversed().map(\.action) && none.allSatisfy { $0.version == 0 })
            #expect(try await store.steering(of: Self.u1) == VersionedSteering())

            try await store.apply(.block(until: nil), to: Self.u1)
            try await store.apply(.override(.tokensPerDay, LimitOverride(quantity: 0)), to: Self.u1)
            let minute = OperatorChange.clearOverride(.requestsPerMinute)
            #expect(try await store.apply(minute, to: Self.u1) == .unchanged(version: 2))
            #expect(try await store.apply(.clearOverride(nil), to: Self.u1) == .applied(version: 3))
            #expect(try await store.apply(.unblock, to: Self.u1) == .applied(version: 4))
            #expect(try await store.apply(.unblock, to: Self.u1) == .unchanged(version: 4))

            var version = 4
            for kind in kinds {
                try await bench.pass(bench.ask(limits))
                version += 1
                #expect(try await store.apply(.reset(kind), to: Self.u1) == .applied(version: version))
                #expect(try await store.apply(.reset(kind), to: Self.u1) == .unchanged(version: version))
            }
            // What another day has used counts as well.
            let ask = bench.ask([.day(1000)])
            try await bench.settle(ask, bench.pass(ask), tokens: 5)
            await bench.clock.advance(by: .seconds(86_400))
            #expect(try await store.apply(.reset(.tokensPerDay), to: Self.u1) == .applied(version: version + 1))
        },
        ContractCheck("the trail tells which block stood before and afterwards") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            let end = WallTime(seconds: 1_800_000_060)
            for change in [.block(until: end), .block(until: nil), .unblock, .unblock] as [OperatorChange] {
                try await bench.store.apply(change, to: Self.u1)
            }
            try await bench.store.apply(.block(until: end), to: Self.u1)
            await bench.clock.advance(by: .seconds(60))
            try await bench.store.apply(.unblock, to: Self.u1)
            try await bench.store.apply(.reset(nil), to: Self.u1)
            let entries = try await bench.store.audit(AuditQuestion(.holder(Self.u1))).entries.reversed()
            #expect(
                entries.map(\.stateBefore) == [
                    .block(.none), .block(.until(end)), .block(.untilLifted), .block(.none), .block(.none),
                    // It had ended by itself.
                    .block(.none), .untold,
                ])
            #expect(
                entries.map(\.stateAfter) == [
                    .block(.until(end)), .block(.untilLifted), .block(.none), .block(.none), .block(.until(end)),
                    .block(.none), .untold,
                ])
        },
        ContractCheck("the trail tells who did what, when, why, and from which quantity to which") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            let end = WallTime(seconds: 1_800_003_600)
            let first = OperatorOrder(actor: "mina", reason: "Kunde \u{201e}acme\u{201c} braucht mehr\n{x}")
            let change = OperatorChange.override(.tokensPerDay, LimitOverride(quantity: 500, expiresAt: end))
            _ = try await bench.store.apply(change, to: Self.u1, by: first)
            let ask = bench.ask([.minute(9), .day(1000), .running(3)], prompt: 10, output: 100)
            try await bench.pass(ask)
            await bench.clock.advance(by: .seconds(2))
            let second = OperatorOrder(actor: "omid", reason: "")
            _ = try await bench.store.apply(.reset(.tokensPerDay), to: Self.u1, by: second)
            _ = try await bench.store.dropLeases(of: Self.u1, request: ask.request, by: second)
            _ = try await bench.store.apply(.clearOverride(.tokensPerDay), to: Self.u1, by: second)
            _ = try await bench.store.apply(.block(until: nil), to: Self.u1, by: second)
            let entries = try await bench.store.audit(AuditQuestion(.holder(Self.u1))).entries
            try #require(entries.count == 5)
            #expect(entries.map(\.action) == [.block, .clearOverride, .dropLeases, .reset, .override])
            #expect(entries.map(\.actor) == ["omid", "omid", "omid", "omid", "mina"])
            #expect(entries[4].reason == first.reason)
            #expect(entries[4].at == WallTime(seconds: 1_800_000_000))
            #expect(entries[3].at == WallTime(seconds: 1_800_000_002))
            #expect(entries.map(\.expiresAt) == [nil, nil, nil, nil, end])
            #expect(entries.allSatisfy { $0.key == Self.u1 })
            #expect(entries[4].before == KindAmounts() && entries[4].after == KindAmounts(tokensPerDay: 500))
            #expect(entries[3].before == KindAmounts(tokensPerDay: 110))
            #expect(entries[3].after == KindAmounts(tokensPerDay: 0))
            #expect(entries[2].before == KindAmounts(concurrentRequests: 1))
            #expect(entries[2].after == KindAmounts(concurrentRequests: 0))
            #expect(entries[1].before == KindAmounts(tokensPerDay: 500) && entries[1].after == KindAmounts())
            #expect(entries[0].before == KindAmounts() && entries[0].after == KindAmounts())
        },
        ContractCheck("the trail is read page by page, of a tenant or of one holder") { bench in
            for number in 1...7 {
                let key = CounterKey.subject(SubjectID("s\(number % 2)"), of: StoreBench.tenant)
                let change = OperatorChange.override(.requestsPerMinute, LimitOverride(quantity: number))
                try await bench.store.apply(change, to: key)
            }
            try await bench.store.apply(.unblock, to: .tenant("other"))
            var seen: [Int?] = []
            var question = AuditQuestion(.tenant(StoreBench.tenant), limit: 3)
            for pages in 1...3 {
                let page = try await bench.store.audit(question)
                seen += page.entries.map(\.after[.requestsPerMinute])
                #expect((page.next == nil) == (pages == 3))
                // A cursor travels as text.
                question.before = page.next.flatMap { AuditCursor(ByteString($0.description)) }
            }
            #expect(seen == [7, 6, 5, 4, 3, 2, 1])
            let one = try await bench.store.audit(AuditQuestion(.holder(.subject("s0", of: StoreBench.tenant))))
            #expect(one.entries.map(\.after[.requestsPerMinute]) == [6, 4, 2])
            #expect(try await bench.store.audit(AuditQuestion(.tenant("nobody"))).entries == [])
        },
        ContractCheck("an entry is kept for its time and no longer") { bench in
            try await bench.store.apply(.unblock, to: Self.u1)
            await bench.clock.advance(by: Audit.memory - .seconds(1))
            try await bench.store.apply(.block(until: nil), to: Self.u1)
            #expect(try await bench.store.audit(AuditQuestion(.holder(Self.u1))).entries.count == 2)
            await bench.clock.advance(by: .seconds(1))
            #expect(try await bench.store.audit(AuditQuestion(.holder(Self.u1))).entries.map(\.action) == [.block])
        },
    ]

    private static func order(_ version: Int) -> OperatorOrder {
        OperatorOrder(actor: "op", reason: "because", expectedVersion: version)
    }
}

@Suite struct OperatorOrderTests {
    @Test func longTextsAreCutAtACharacter() {
        let order = OperatorOrder(
            actor: ByteString(String(repeating: "a", count: 127) + "\u{e9}"),
            reason: ByteString(String(repeating: "\u{6f22}", count: 400)))
        #expect(order.actor.utf8.count == 127)
        #expect(order.reason.utf8.count == 510)
    }

    @Test(arguments: ["", "-", "1", "1-", "-1", "1-2-3", "a-1", "1-b", "99999999999999999999-1", "+1-2", " 1-2"])
    func otherTextsAreNoCursors(text: String) { #expect(AuditCursor(ByteString(text)) == nil) }
}
