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
            #expect(drop == .dropped(count: 0, version: 3))
            #expect(try await store.steering(of: .tenant(StoreBench.tenant)).version == 0)
            #expect(try await store.audit(AuditQuestion(.holder(Self.u1))).entries.map(\.version) == [3, 2, 1])
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
