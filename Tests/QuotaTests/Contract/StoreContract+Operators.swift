import GatewayTypes
import Quota
import Testing

extension StoreContract {
    private static let u1 = CounterKey.subject("u1", of: StoreBench.tenant)

    static let operatorChecks: [ContractCheck] = [
        ContractCheck("an override holds for the next ask, both ways, and keeps usage") { bench in
            for _ in 0..<3 { try await bench.pass(bench.ask([.minute(3)])) }
            try await bench.store.apply(.override(.requestsPerMinute, LimitOverride(quantity: 5)), to: Self.u1)
            for _ in 0..<2 { try await bench.pass(bench.ask([.minute(3)])) }
            let refusal = try await bench.fail(bench.ask([.minute(3)]))
            #expect(refusal.failing.limit.quantity == 5)
            #expect(refusal.certainFor == nil)
            try await bench.store.apply(.override(.requestsPerMinute, LimitOverride(quantity: 2)), to: Self.u1)
            #expect(try await bench.fail(bench.ask([.minute(100)])).failing.used == 5)
            try await bench.store.apply(.clearOverride(.requestsPerMinute), to: Self.u1)
            try await bench.fail(bench.ask([.minute(5)]))
            #expect(try await bench.pass(bench.ask([.minute(6)])).states.first?.used == 6)
        },
        ContractCheck("an override ends by itself") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            let end = WallTime(seconds: 1_800_000_100)
            try await bench.store.apply(
                .override(.tokensPerDay, LimitOverride(quantity: 0, expiresAt: end)), to: Self.u1)
            try await bench.fail(bench.ask([.day(1000)]))
            #expect(try await bench.store.steering(of: Self.u1).steering[.tokensPerDay]?.expiresAt == end)
            await bench.clock.advance(by: .seconds(99))
            try await bench.fail(bench.ask([.day(1000)]))
            await bench.clock.advance(by: .seconds(1))
            try await bench.pass(bench.ask([.day(1000)]))
            #expect(try await bench.store.steering(of: Self.u1).steering.isEmpty)
        },
        ContractCheck("an override of a kind that the plan does not limit is enforced") { bench in
            try await bench.store.apply(.override(.concurrentRequests, LimitOverride(quantity: 1)), to: Self.u1)
            let grant = try await bench.pass(bench.ask([.minute(50)]))
            #expect(grant.states.map(\.limit) == [.minute(50), .running(1)])
            #expect(try await bench.fail(bench.ask([.minute(50)])).failing.limit == .running(1))
            try await bench.pass(bench.ask("u2", [.minute(50)]))
        },
        ContractCheck("an override of the tenant holds for all its subjects") { bench in
            try await bench.store.apply(
                .override(.requestsPerMinute, LimitOverride(quantity: 2)), to: .tenant(StoreBench.tenant))
            let limits = [Limit.minute(50), .minute(100, .tenant)]
            for user in ["u1", "u2"] as [SubjectID] { try await bench.pass(bench.ask(user, limits)) }
            #expect(try await bench.fail(bench.ask("u3", limits)).failing.limit.scope == .tenant)
            try await bench.pass(bench.ask("u3", tenant: "other", limits))
        },
        ContractCheck("a blocked subject is told apart from a limited one, until the block ends") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            try await bench.store.apply(.block(until: WallTime(seconds: 1_800_000_050)), to: Self.u1)
            #expect(try await bench.store.admit(bench.ask([.minute(5)])) == .blocked)
            #expect(try await bench.look(bench.ask([.minute(5)])).isBlocked)
            try await bench.pass(bench.ask("u2", [.minute(5)]))
            await bench.clock.advance(by: .seconds(50))
            #expect(try await bench.pass(bench.ask([.minute(5)])).states.first?.used == 1)
            try await bench.store.apply(.block(until: nil), to: Self.u1)
            await bench.clock.advance(by: .seconds(86_400))
            #expect(try await bench.store.admit(bench.ask([.minute(5)])) == .blocked)
            try await bench.store.apply(.unblock, to: Self.u1)
            try await bench.pass(bench.ask([.minute(5)]))
        },
        ContractCheck("a blocked address and a blocked tenant are blocked") { bench in
            let limits = [Limit.minute(9)]
            try await bench.store.apply(.block(until: nil), to: .address("bad", of: StoreBench.tenant))
            #expect(try await bench.store.admit(bench.ask(address: "bad", limits)) == .blocked)
            try await bench.pass(bench.ask(address: "good", limits))
            try await bench.store.apply(.block(until: nil), to: .tenant(StoreBench.tenant))
            #expect(try await bench.store.admit(bench.ask(address: "good", limits)) == .blocked)
            try await bench.pass(bench.ask(tenant: "other", limits))
        },
        ContractCheck("operators change one of two ids that only look alike") { bench in
            let composed = CounterKey.subject("caf\u{e9}", of: StoreBench.tenant)
            try await bench.store.apply(.block(until: nil), to: composed)
            #expect(try await bench.store.admit(bench.ask("caf\u{e9}", [.minute(5)])) == .blocked)
            try await bench.pass(bench.ask("cafe\u{301}", [.minute(5)]))
        },
        ContractCheck("reset really sets usage to zero, of one kind or of all") { bench in
            let limits = [Limit.minute(9), .day(1000), .running(9)]
            let ask = bench.ask(limits)
            try await bench.settle(ask, bench.pass(ask), tokens: 700)
            try await bench.pass(bench.ask(limits))
            try await bench.store.apply(.reset(.tokensPerDay), to: Self.u1)
            #expect(try await bench.look(ask).states.map(\.used) == [2, 0, 1])
            try await bench.store.apply(.reset(nil), to: Self.u1)
            #expect(try await bench.look(ask).states.map(\.used) == [0, 0, 0])
        },
        ContractCheck("an ask that runs through a reset is charged in full afterwards") { bench in
            let ask = bench.ask([.day(1000), .day(1000, .tenant), .running(3)])
            let grant = try await bench.pass(ask)
            try await bench.store.apply(.reset(nil), to: Self.u1)
            try await bench.settle(ask, grant, tokens: 30)
            #expect(try await bench.look(ask).states.map(\.used) == [30, 30, 0])
        },
        ContractCheck("a reset of one holder leaves the others") { bench in
            let limits = [Limit.minute(9), .minute(9, .tenant)]
            try await bench.pass(bench.ask("u1", limits))
            try await bench.pass(bench.ask("u2", limits))
            try await bench.store.apply(.reset(nil), to: Self.u1)
            #expect(try await bench.look(bench.ask("u1", limits)).states.map(\.used) == [0, 2])
            #expect(try await bench.look(bench.ask("u2", limits)).states.map(\.used) == [1, 2])
        },
        ContractCheck("running asks can be listed and their places dropped") { bench in
            let limits = [Limit.running(2), .running(9, .tenant)]
            let asks = [bench.ask(limits), bench.ask(limits)]
            try await bench.pass(asks[0])
            await bench.clock.advance(by: .seconds(5))
            try await bench.pass(asks[1])
            try await bench.pass(bench.ask("u2", limits))
            let leases = try await bench.store.leases(of: Self.u1)
            #expect(leases.map(\.request) == asks.map(\.request))
            #expect(leases.map(\.ageSeconds) == [5, 0])
            #expect(leases.map(\.expiresInSeconds) == [25, 30])
            #expect(try await bench.store.leases(of: .tenant(StoreBench.tenant)).count == 3)
            #expect(try await bench.store.dropLeases(of: Self.u1, request: asks[0].request) == 1)
            #expect(try await bench.store.dropLeases(of: Self.u1, request: asks[0].request) == 0)
            #expect(try await bench.look(asks[0]).states.map(\.used) == [1, 3])
            #expect(try await bench.store.dropLeases(of: Self.u1, request: nil) == 1)
            #expect(try await bench.store.leases(of: Self.u1) == [])
        },
        ContractCheck("a dropped place is not freed a second time by settlement") { bench in
            let limits = [Limit.running(1)]
            let ask = bench.ask(limits)
            let grant = try await bench.pass(ask)
            #expect(try await bench.store.dropLeases(of: Self.u1, request: ask.request) == 1)
            try await bench.pass(bench.ask(limits))
            #expect(try await bench.settle(ask, grant, tokens: 1) == .settled)
            try await bench.fail(bench.ask(limits))
        },
        ContractCheck("steering reads back as it was set") { bench in
            let change = LimitOverride(quantity: 77)
            try await bench.store.apply(.override(.requestsPerMinute, change), to: Self.u1)
            try await bench.store.apply(.override(.tokensPerDay, LimitOverride(quantity: 5)), to: Self.u1)
            try await bench.store.apply(.block(until: nil), to: Self.u1)
            var steering = try await bench.store.steering(of: Self.u1).steering
            #expect(steering[.requestsPerMinute] == change)
            #expect(steering.isBlocked)
            try await bench.store.apply(.clearOverride(nil), to: Self.u1)
            steering = try await bench.store.steering(of: Self.u1).steering
            #expect(steering[.requestsPerMinute] == nil && steering[.tokensPerDay] == nil && steering.isBlocked)
        },
        ContractCheck("every change moves the generation") { bench in
            var last = bench.store.generation
            let changes: [OperatorChange] = [
                .override(.requestsPerMinute, LimitOverride(quantity: 1)), .clearOverride(nil), .block(until: nil),
                .unblock, .reset(nil),
            ]
            for change in changes {
                try await bench.store.apply(change, to: Self.u1)
                #expect(bench.store.generation > last)
                last = bench.store.generation
            }
            try await bench.pass(bench.ask([.minute(5)]))
            #expect(bench.store.generation == last)
        },
    ]
}
