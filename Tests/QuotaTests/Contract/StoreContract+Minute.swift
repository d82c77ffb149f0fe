import GatewayTypes
import Quota
import Testing

extension StoreContract {
    static let minuteChecks: [ContractCheck] = [
        ContractCheck("exactly the limit passes, not one less or more") { bench in
            for quantity in [1, 5, 60] {
                let subject = SubjectID("exact-\(quantity)")
                for _ in 0..<quantity { try await bench.pass(bench.ask(subject, [.minute(quantity)])) }
                let refusal = try await bench.fail(bench.ask(subject, [.minute(quantity)]))
                #expect(refusal.failing.limit == .minute(quantity))
                #expect(refusal.failing.remaining == 0)
                #expect(refusal.failing.exceeded)
                #expect((1...60).contains(refusal.retryAfterSeconds))
            }
        },
        ContractCheck("zero refuses everything") { bench in
            for limit in [Limit.minute(0), .day(0), .running(0)] {
                let refusal = try await bench.fail(bench.ask([limit], prompt: 0, output: 0))
                #expect(refusal.failing.limit == limit)
                #expect(refusal.retryAfterSeconds >= 1)
            }
        },
        ContractCheck("no rolling minute holds more than the limit") { bench in
            // Three at the very end of a clock minute and three at the start of the next would pass a fixed window.
            for _ in 0..<3 { try await bench.pass(bench.ask([.minute(3)])) }
            await bench.clock.advance(by: .milliseconds(59_999))
            try await bench.fail(bench.ask([.minute(3)]))
            await bench.clock.advance(by: .milliseconds(1))
            try await bench.pass(bench.ask([.minute(3)]))
        },
        ContractCheck("the wait is exact, rounded up, and enough") { bench in
            let ask = bench.ask([.minute(2)])
            try await bench.pass(ask)
            await bench.clock.advance(by: .milliseconds(12_300))
            try await bench.pass(bench.ask([.minute(2)]))
            await bench.clock.advance(by: .milliseconds(10_000))
            let refusal = try await bench.fail(bench.ask([.minute(2)]))
            #expect(refusal.retryAfterSeconds == 38)  // 37.7 s left
            await bench.clock.advance(by: .milliseconds(37_600))
            #expect(try await bench.fail(bench.ask([.minute(2)])).retryAfterSeconds == 1)
            await bench.clock.advance(by: .milliseconds(100))
            try await bench.pass(bench.ask([.minute(2)]))
            #expect(try await bench.fail(bench.ask([.minute(2)])).retryAfterSeconds == 13)  // 12.3 s
        },
        ContractCheck("refused asks are not counted, so a raised limit gives its whole difference") { bench in
            for _ in 0..<10 { try await bench.pass(bench.ask([.minute(10)])) }
            for _ in 0..<20 { try await bench.fail(bench.ask([.minute(10)])) }
            #expect(try await bench.used(bench.ask([.minute(10)])) == 10)
            for _ in 0..<10 { try await bench.pass(bench.ask([.minute(20)])) }
            try await bench.fail(bench.ask([.minute(20)]))
        },
        ContractCheck("refused asks do not lengthen the wait") { bench in
            try await bench.pass(bench.ask([.minute(1)]))
            for _ in 0..<59 {
                await bench.clock.advance(by: .seconds(1))
                try await bench.fail(bench.ask([.minute(1)]))
            }
            await bench.clock.advance(by: .seconds(1))
            try await bench.pass(bench.ask([.minute(1)]))
        },
        ContractCheck("a slow steady user is never refused") { bench in
            for _ in 0..<40 {
                let grant = try await bench.pass(bench.ask([.minute(3)]))
                #expect(grant.states.first?.remaining ?? 0 >= 1)
                #expect(grant.states.first?.resetSeconds ?? 99 <= 60)
                await bench.clock.advance(by: .seconds(59))
            }
        },
        ContractCheck("a lowered limit waits until enough has left the minute") { bench in
            for _ in 0..<10 {
                try await bench.pass(bench.ask([.minute(10)]))
                await bench.clock.advance(by: .seconds(2))
            }
            // 20 s have passed; of ten, the ninth has to leave: admitted at 16 s, so 56 s from now.
            #expect(try await bench.fail(bench.ask([.minute(2)])).retryAfterSeconds == 56)
            await bench.clock.advance(by: .seconds(55))
            try await bench.fail(bench.ask([.minute(2)]))
            await bench.clock.advance(by: .seconds(1))
            try await bench.pass(bench.ask([.minute(2)]))
        },
        ContractCheck("state tells limit, remaining and reset") { bench in
            let first = try await bench.pass(bench.ask([.minute(5)]))
            #expect(
                first.states == [LimitState(limit: .minute(5), remaining: 4, resetSeconds: 60, used: 1)])
            await bench.clock.advance(by: .milliseconds(10_500))
            let second = try await bench.pass(bench.ask([.minute(5)]))
            #expect(
                second.states == [LimitState(limit: .minute(5), remaining: 3, resetSeconds: 50, used: 2)])
        },
        ContractCheck("of fifty at once exactly the limit passes") { bench in
            let passed = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        if case .admitted = try await bench.store.admit(bench.ask([.minute(5)])) { true } else { false }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(passed == 5)
            #expect(try await bench.used(bench.ask([.minute(5)])) == 5)
        },
        ContractCheck("an observed limit reports what it would refuse and refuses nothing") { bench in
            var wouldRefuse = 0
            for _ in 0..<12 {
                let grant = try await bench.pass(bench.ask([.minute(5, observe: true)]))
                if grant.states.first?.exceeded == true { wouldRefuse += 1 }
                await bench.clock.advance(by: .seconds(10))
            }
            // Six come in a minute where five are allowed: one of six, as if it were enforced.
            #expect(wouldRefuse == 2)
            try await bench.fail(bench.ask([.minute(5, observe: true), .running(0)]))
        },
    ]
}
