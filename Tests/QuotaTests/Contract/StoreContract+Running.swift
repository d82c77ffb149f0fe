import GatewayTypes
import Quota
import Testing

extension StoreContract {
    static let runningChecks: [ContractCheck] = [
        ContractCheck("places are taken by admission and freed by settlement") { bench in
            let asks = (0..<2).map { _ in bench.ask([.running(2)]) }
            var grants: [Grant] = []
            for ask in asks { grants.append(try await bench.pass(ask)) }
            #expect(grants.last?.states.first?.remaining == 0)
            let refusal = try await bench.fail(bench.ask([.running(2)]))
            #expect((1...5).contains(refusal.retryAfterSeconds))
            #expect(refusal.certainFor == nil)
            try await bench.settle(asks[0], grants[0], tokens: 5)
            try await bench.pass(bench.ask([.running(2)]))
            try await bench.fail(bench.ask([.running(2)]))
        },
        ContractCheck("refused asks hold no place and do not prolong one") { bench in
            try await bench.pass(bench.ask([.running(1)]))
            for _ in 0..<29 {
                await bench.clock.advance(by: .seconds(1))
                try await bench.fail(bench.ask([.running(1)]))
            }
            await bench.clock.advance(by: .seconds(1))
            try await bench.pass(bench.ask([.running(1)]))
        },
        ContractCheck("leases of a dead instance end by themselves") { bench in
            for _ in 0..<3 { try await bench.pass(bench.ask([.running(3)])) }
            await bench.clock.advance(by: .milliseconds(29_999))
            try await bench.fail(bench.ask([.running(3)]))
            await bench.clock.advance(by: .milliseconds(2))
            #expect(try await bench.used(bench.ask([.running(3)])) == 0)
            for _ in 0..<3 { try await bench.pass(bench.ask([.running(3)])) }
        },
        ContractCheck("renewed leases live on") { bench in
            let ask = bench.ask([.running(1)])
            let grant = try await bench.pass(ask)
            for _ in 0..<40 {
                await bench.clock.advance(by: .seconds(10))
                #expect(try await bench.store.renew([Lease(caller: ask.caller, request: ask.request)]) == [])
                try await bench.fail(bench.ask([.running(1)]))
            }
            #expect(try await bench.settle(ask, grant, tokens: 1) == .settled)
            try await bench.pass(bench.ask([.running(1)]))
        },
        ContractCheck("ended, expired and unknown leases are told as lost and stay lost") { bench in
            let settled = bench.ask([.running(9)])
            try await bench.settle(settled, bench.pass(settled), tokens: 1)
            let expired = bench.ask([.running(9)])
            try await bench.pass(expired)
            await bench.clock.advance(by: .seconds(31))
            let living = bench.ask([.running(9)])
            try await bench.pass(living)
            let unknown = bench.ask([.running(9)])
            let leases = [settled, expired, living, unknown].map { Lease(caller: $0.caller, request: $0.request) }
            let lost = try await bench.store.renew(leases)
            #expect(Set(lost) == [settled.request, expired.request, unknown.request])
            #expect(try await bench.used(living) == 1)
        },
        ContractCheck("settling after the lease has died frees no other place and still charges") { bench in
            let limits = [Limit.running(1), .day(1000)]
            let late = bench.ask(limits)
            let grant = try await bench.pass(late)
            await bench.clock.advance(by: .seconds(31))
            try await bench.pass(bench.ask(limits, prompt: 10, output: 90))
            #expect(try await bench.settle(late, grant, tokens: 7) == .settled)
            try await bench.fail(bench.ask(limits))
            #expect(try await bench.look(late).states.map(\.used) == [1, 107])
        },
        ContractCheck("a limit lowered while asks run ends none of them") { bench in
            let asks = (0..<4).map { _ in bench.ask([.running(4)]) }
            var grants: [Grant] = []
            for ask in asks { grants.append(try await bench.pass(ask)) }
            let refusal = try await bench.fail(bench.ask([.running(2)]))
            #expect(refusal.failing.used == 4)
            #expect(refusal.failing.remaining == 0)
            let leases = asks.map { Lease(caller: $0.caller, request: $0.request) }
            #expect(try await bench.store.renew(leases) == [])
            for index in 0..<2 { try await bench.settle(asks[index], grants[index], tokens: 0) }
            try await bench.fail(bench.ask([.running(2)]))
            try await bench.settle(asks[2], grants[2], tokens: 0)
            try await bench.pass(bench.ask([.running(2)]))
        },
        ContractCheck("the state of running asks resets within a lease") { bench in
            #expect(try await bench.look(bench.ask([.running(3)])).states.first?.resetSeconds == 0)
            let grant = try await bench.pass(bench.ask([.running(3)]))
            let state = try #require(grant.states.first)
            #expect(state.used == 1)
            #expect((1...30).contains(state.resetSeconds))
        },
    ]

    static let scopeChecks: [ContractCheck] = [
        ContractCheck("subject, tenant and address are checked together and moved together") { bench in
            let limits = [Limit.minute(10), .minute(3, .tenant), .minute(2, .address)]
            try await bench.pass(bench.ask("a", address: "1", limits))
            try await bench.pass(bench.ask("b", address: "1", limits))
            #expect(try await bench.fail(bench.ask("c", address: "1", limits)).failing.limit.scope == .address)
            // The refused ask has moved neither the tenant nor its subject.
            #expect(try await bench.look(bench.ask("c", address: "1", limits)).states.map(\.used) == [0, 2, 2])
            try await bench.pass(bench.ask("c", address: "2", limits))
            #expect(try await bench.fail(bench.ask("d", address: "3", limits)).failing.limit.scope == .tenant)
        },
        ContractCheck("the failing limit with the longest wait is told, and every state") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            let limits = [Limit.running(1), .minute(1), .day(100)]
            let ask = bench.ask(limits, prompt: 10, output: 90)
            try await bench.pass(ask)
            let refusal = try await bench.fail(bench.ask(limits))
            #expect(refusal.failing.limit == .day(100))
            #expect(refusal.retryAfterSeconds == 57_600)  // to 2027-01-16
            #expect(refusal.states.map(\.limit) == limits)
            #expect(refusal.states.map(\.exceeded) == [true, true, true])
            #expect(refusal.states.map(\.used) == [1, 1, 100])
        },
        ContractCheck("users of one plan and tenants of one name space are apart") { bench in
            try await bench.pass(bench.ask("u1", [.minute(1)]))
            try await bench.fail(bench.ask("u1", [.minute(1)]))
            #expect(try await bench.pass(bench.ask("u2", [.minute(1)])).states.first?.used == 1)
            #expect(try await bench.pass(bench.ask("u1", tenant: "other", [.minute(1)])).states.first?.used == 1)
        },
        ContractCheck("guests at one address share its limit, whoever they are") { bench in
            let limits = [Limit.minute(100), .minute(5, .address)]
            var passed = 0
            for guest in 0..<20 {
                let ask = bench.ask(SubjectID("guest-\(guest)"), address: "198.51.100.7", limits)
                if case .admitted = try await bench.store.admit(ask) { passed += 1 }
            }
            #expect(passed == 5)
            try await bench.pass(bench.ask("guest-0", address: "198.51.100.8", limits))
        },
        ContractCheck("no bytes of an id lead to another's counters") { bench in
            let long = String(repeating: "k", count: 4096)
            let pairs: [(String, String)] = [
                ("a", "b:c"), ("a:b", "c"), ("a", "{b}"), ("{a}", "b"), ("a", "b\0c"), ("a\0b", "c"), ("a", "*"),
                ("a", "u1\n"), ("a", "u1:rpm"), ("a", "u1"), ("a", ""), ("", "a"), ("a", long), ("a", long + "k"),
                ("a", "caf\u{e9}"), ("a", "cafe\u{301}"), ("caf\u{e9}", "a"), ("cafe\u{301}", "a"), ("a", " u1"),
                ("a", "nil"), ("a", "U1"), ("a", "\u{1f469}\u{200d}\u{1f680}"), ("a", "192.0.2.1"),
            ]
            for (tenant, subject) in pairs {
                let limits = [Limit.minute(1), .day(200), .running(1)]
                let ask = bench.ask(SubjectID(subject), tenant: TenantID(tenant), limits)
                #expect(try await bench.pass(ask).states.map(\.used) == [1, 110, 1], "\(tenant) \(subject)")
            }
            for (tenant, subject) in pairs {
                try await bench.fail(bench.ask(SubjectID(subject), tenant: TenantID(tenant), [.minute(1)]))
            }
        },
        ContractCheck("an address and a subject of the same bytes are two") { bench in
            let limits = [Limit.minute(5), .minute(5, .address), .minute(5, .tenant)]
            try await bench.pass(bench.ask("x", address: "y", limits))
            let grant = try await bench.pass(bench.ask("y", address: "x", limits))
            #expect(grant.states.map(\.used) == [1, 1, 2])
        },
        ContractCheck("two limits on one counter count an ask once") { bench in
            let limits = [Limit.minute(4), .minute(2, observe: true), .running(9), .running(8), .day(1000), .day(900)]
            let grant = try await bench.pass(bench.ask(limits, prompt: 10, output: 100))
            #expect(grant.states.map(\.used) == [1, 1, 1, 1, 110, 110])
        },
        ContractCheck("looking moves nothing") { bench in
            let ask = bench.ask([.minute(2), .day(100), .running(2)])
            for _ in 0..<5 { #expect(try await bench.look(ask).states.map(\.used) == [0, 0, 0]) }
            try await bench.pass(ask)
        },
        ContractCheck("an ask without limits passes") { bench in
            let grant = try await bench.pass(bench.ask([], prompt: 5, output: 70))
            #expect(grant.states == [])
            #expect(grant.outputTokens == 70)
        },
    ]

    static let repetitionChecks: [ContractCheck] = [
        ContractCheck("an admission repeated gets the same grant and moves nothing") { bench in
            let ask = bench.ask([.minute(5), .day(1000), .running(5)])
            let first = try await bench.pass(ask)
            await bench.clock.advance(by: .milliseconds(20))
            let second = try await bench.pass(ask)
            #expect(second.outputTokens == first.outputTokens)
            #expect(second.reservedTokens == first.reservedTokens)
            #expect(second.day == first.day)
            #expect(try await bench.look(ask).states.map(\.used) == [1, 110, 1])
        },
        ContractCheck("an admission repeated passes though the limit is reached by itself") { bench in
            let ask = bench.ask([.minute(1), .running(1)])
            try await bench.pass(ask)
            try await bench.pass(ask)
            try await bench.fail(bench.ask([.minute(1), .running(1)]))
        },
        ContractCheck("a settlement repeated moves nothing, whatever it says") { bench in
            let ask = bench.ask([.day(1000), .running(2)])
            let grant = try await bench.pass(ask)
            let other = bench.ask([.day(1000), .running(2)])
            try await bench.pass(other)
            #expect(try await bench.settle(ask, grant, tokens: 30) == .settled)
            #expect(try await bench.settle(ask, grant, tokens: 0) == .repeated)
            await bench.clock.advance(by: .seconds(25))
            #expect(try await bench.settle(ask, grant, tokens: 999) == .repeated)
            #expect(try await bench.look(ask).states.map(\.used) == [140, 1])
        },
        ContractCheck("a settled ask repeated takes no place and no tokens") { bench in
            let ask = bench.ask([.minute(9), .day(1000), .running(2)])
            try await bench.settle(ask, bench.pass(ask), tokens: 30)
            await bench.clock.advance(by: .seconds(200))
            try await bench.pass(ask)
            #expect(try await bench.look(ask).states.map(\.used) == [0, 30, 0])
        },
        ContractCheck("a settlement of nobody's ask moves nothing") { bench in
            let ask = bench.ask([.day(1000), .running(2)])
            let running = bench.ask([.day(1000), .running(2)])
            let grant = try await bench.pass(running)
            #expect(try await bench.settle(ask, grant, tokens: 0) == .unknown)
            #expect(try await bench.look(ask).states.map(\.used) == [110, 1])
        },
        ContractCheck("an ask let through without the store is charged in full, once") {
            (bench: StoreBench) async throws in
            let ask = bench.ask([.day(1000), .day(5000, .tenant)])
            let grant = Grant(
                states: [], outputTokens: 100, reservedTokens: 110,
                day: ask.calendar.day(at: await bench.clock.now()))
            var settlement = Settlement(of: ask, grant: grant, charge: .tokens(42))
            settlement.chargesUnrecorded = true
            #expect(try await bench.store.settle(settlement) == .settled)
            #expect(try await bench.store.settle(settlement) == .repeated)
            #expect(try await bench.look(ask).states.map(\.used) == [42, 42])
        },
        ContractCheck("an ask that never settles stays charged as reserved") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_799_971_200))
            let ask = bench.ask([.day(1000), .running(1)])
            let grant = try await bench.pass(ask)
            await bench.clock.advance(by: .seconds(3600))
            #expect(try await bench.look(ask).states.map(\.used) == [110, 0])
            try await bench.settle(ask, grant, tokens: 0)
            #expect(try await bench.look(ask).states.map(\.used) == [110, 0])
        },
        ContractCheck("a refused ask repeated is decided again") { bench in
            try await bench.pass(bench.ask([.minute(1)]))
            let ask = bench.ask([.minute(1)])
            try await bench.fail(ask)
            await bench.clock.advance(by: .seconds(60))
            try await bench.pass(ask)
        },
        ContractCheck("one request id in two tenants is two asks") { (bench: StoreBench) async throws in
            let request = RequestID.random()
            for tenant in ["a", "b"] as [TenantID] {
                let ask = bench.ask(tenant: tenant, [.minute(3)], request: request)
                #expect(try await bench.pass(ask).states.first?.used == 1)
            }
        },
    ]
}
