import GatewayTypes
import Quota
import Testing

extension StoreContract {
    static let dayChecks: [ContractCheck] = [
        ContractCheck("admission reserves, settlement charges what was used and returns the rest") { bench in
            let ask = bench.ask([.day(1000)], prompt: 10, output: 100)
            let grant = try await bench.pass(ask)
            #expect(grant.outputTokens == 100)
            #expect(grant.reservedTokens == 110)
            #expect(grant.states.first?.remaining == 890)
            #expect(try await bench.settle(ask, grant, tokens: 15) == .settled)
            #expect(try await bench.used(ask) == 15)
        },
        ContractCheck("asks at once cannot share what is left") { bench in
            let first = bench.ask([.day(1000)], prompt: 10, output: 40)
            try await bench.settle(first, bench.pass(first), tokens: 900)
            let limits = [Limit.day(1000)]
            var passed: [(QuotaAsk, Grant)] = []
            for _ in 0..<20 {
                let ask = bench.ask(limits, prompt: 10, output: 40)
                if case .admitted(let grant) = try await bench.store.admit(ask) { passed.append((ask, grant)) }
            }
            #expect(passed.count == 2)
            for (ask, grant) in passed { try await bench.settle(ask, grant, tokens: 15) }
            #expect(try await bench.look(first).states.first?.remaining == 70)
        },
        ContractCheck("the output cap is lowered to what is left") { bench in
            let ask = bench.ask([.day(100)], prompt: 40, output: 1200)
            let grant = try await bench.pass(ask)
            #expect(grant.outputTokens == 60)
            #expect(grant.reservedTokens == 100)
            #expect(grant.states.first?.remaining == 0)
            let refusal = try await bench.fail(bench.ask([.day(100)], prompt: 1, output: 1))
            #expect(refusal.failing.limit.kind == .tokensPerDay)
        },
        ContractCheck("the tightest day decides the output cap") { bench in
            let grant = try await bench.pass(
                bench.ask([.day(500), .day(90, .tenant), .day(300, .address)], prompt: 40, output: 1200))
            #expect(grant.outputTokens == 50)
            #expect(grant.states.map(\.used) == [90, 90, 90])
        },
        ContractCheck("too little for an answer worth asking for is refused") { bench in
            let least = QuotaAsk.leastOutput
            try await bench.fail(bench.ask("a", [.day(40 + least - 1)], prompt: 40, output: 1200))
            #expect(
                try await bench.pass(bench.ask("b", [.day(40 + least)], prompt: 40, output: 1200)).outputTokens == least
            )
            // A task whose own cap is smaller needs no more than that.
            #expect(try await bench.pass(bench.ask("c", [.day(43)], prompt: 40, output: 3)).outputTokens == 3)
            try await bench.fail(bench.ask("d", [.day(42)], prompt: 40, output: 3))
        },
        ContractCheck("more than reserved pushes the day below zero and blocks the next ask") { bench in
            let ask = bench.ask([.day(200)], prompt: 10, output: 50)
            try await bench.settle(ask, bench.pass(ask), tokens: 900)
            let standing = try await bench.look(ask)
            #expect(standing.states.first?.remaining == 0)
            #expect(standing.states.first?.used == 900)
            #expect(standing.states.first?.exceeded == true)
            try await bench.fail(bench.ask([.day(200)], prompt: 1, output: 1))
        },
        ContractCheck("a report of zero charges zero, and release gives everything back") { bench in
            let ask = bench.ask([.day(200)])
            try await bench.settle(ask, bench.pass(ask), tokens: 0)
            #expect(try await bench.used(ask) == 0)
        },
        ContractCheck("settled as reserved keeps what was reserved") { bench in
            let ask = bench.ask([.day(500)], prompt: 10, output: 100)
            let grant = try await bench.pass(ask)
            #expect(try await bench.store.settle(Settlement(of: ask, grant: grant)) == .settled)
            #expect(try await bench.used(ask) == 110)
        },
        ContractCheck("negative and absurd charges cannot make tokens") { bench in
            let ask = bench.ask([.day(1000)])
            let grant = try await bench.pass(ask)
            try await bench.settle(ask, grant, tokens: -500)
            #expect(try await bench.used(ask) == 0)
            let other = bench.ask([.day(1000)])
            try await bench.settle(other, bench.pass(other), tokens: .max)
            #expect(try await bench.look(other).states.first?.remaining == 0)
            try await bench.fail(bench.ask([.day(1000)]))
            let absurd = bench.ask("u2", [.day(1000)], prompt: -50, output: -50)
            #expect(try await bench.pass(absurd).reservedTokens == 0)
            try await bench.fail(bench.ask("u3", [.day(1000)], prompt: .max, output: .max))
        },
        ContractCheck("an observed day counts, reports and does not lower the cap") { bench in
            let limits = [Limit.day(150, observe: true)]
            let first = try await bench.pass(bench.ask(limits, prompt: 10, output: 120))
            #expect(first.states.first?.remaining == 20)
            #expect(first.states.first?.exceeded == false)
            let second = try await bench.pass(bench.ask(limits, prompt: 10, output: 120))
            #expect(second.outputTokens == 120)
            #expect(second.states.first?.exceeded == true)
        },
        ContractCheck("an ask that runs over midnight is charged to its own day") { bench in
            let calendar = ZoneCalendar.utc
            await bench.clock.set(wall: WallTime(seconds: 1_800_057_599))  // 23:59:59Z
            let ask = bench.ask([.day(1000)], prompt: 10, output: 100, calendar: calendar)
            let grant = try await bench.pass(ask)
            await bench.clock.advance(by: .seconds(5))
            #expect(try await bench.used(ask) == 0)
            try await bench.settle(ask, grant, tokens: 900)
            #expect(try await bench.used(ask) == 0)
            #expect(try await bench.pass(bench.ask([.day(1000)], output: 990)).outputTokens == 990)
        },
        ContractCheck("a clock turned back over midnight finds the day as it was") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_057_590))
            let ask = bench.ask([.day(1000)])
            try await bench.settle(ask, bench.pass(ask), tokens: 700)
            await bench.clock.set(wall: WallTime(seconds: 1_800_057_601))
            #expect(try await bench.used(ask) == 0)
            await bench.clock.set(wall: WallTime(seconds: 1_800_057_595))
            #expect(try await bench.used(ask) == 700)
        },
        ContractCheck("waits stay sane when the clock is turned back") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            try await bench.pass(bench.ask([.minute(1), .running(5)]))
            await bench.clock.set(wall: WallTime(seconds: 1_799_000_000))
            let refusal = try await bench.fail(bench.ask([.minute(1), .running(5)]))
            #expect((1...60).contains(refusal.retryAfterSeconds))
            // No entry lives for ever: a minute and a lease later all is free.
            await bench.clock.advance(by: .seconds(61))
            let grant = try await bench.pass(bench.ask([.minute(1), .running(5)]))
            #expect(grant.states.map(\.used) == [1, 1])
        },
    ]

    /// The turn of the day in zones that are not whole hours from UTC and that change their offset.
    static let zoneChecks: [ContractCheck] = [
        Self.turn("the day turns at midnight in Tehran", Zones.tehran, at: 1_774_557_000),  // 2026-03-26T20:30Z
        Self.turn("the day turns at midnight in Kathmandu", Zones.kathmandu, at: 1_774_548_900),  // 18:15Z
        Self.turn("the day turns at midnight in New York in winter", Zones.newYork, at: 1_772_859_600),
        Self.turn("the day turns at midnight in New York in summer", Zones.newYork, at: 1_780_286_400),
        Self.length("a day of 23 hours in Berlin", Zones.berlin, startsAt: 1_774_738_800, seconds: 82_800),
        Self.length("a day of 25 hours in Berlin", Zones.berlin, startsAt: 1_792_879_200, seconds: 90_000),
        Self.length("a day of 23 hours in New York", Zones.newYork, startsAt: 1_772_946_000, seconds: 82_800),
        Self.length("a day of 25 hours in New York", Zones.newYork, startsAt: 1_793_505_600, seconds: 90_000),
    ]

    private static func turn(_ name: String, _ calendar: ZoneCalendar, at midnight: Int64) -> ContractCheck {
        ContractCheck(name) { bench in
            await bench.clock.set(wall: WallTime(seconds: midnight - 10))
            let ask = bench.ask([.day(100)], prompt: 10, output: 90, calendar: calendar)
            try await bench.settle(ask, bench.pass(ask), tokens: 100)
            #expect(try await bench.fail(bench.ask([.day(100)], calendar: calendar)).retryAfterSeconds == 10)
            await bench.clock.advance(by: .milliseconds(9_500))
            #expect(try await bench.fail(bench.ask([.day(100)], calendar: calendar)).retryAfterSeconds == 1)
            await bench.clock.advance(by: .milliseconds(500))
            #expect(try await bench.used(ask) == 0)
            try await bench.pass(bench.ask([.day(100)], calendar: calendar))
        }
    }

    private static func length(
        _ name: String, _ calendar: ZoneCalendar, startsAt: Int64, seconds: Int
    ) -> ContractCheck {
        ContractCheck(name) { bench in
            await bench.clock.set(wall: WallTime(seconds: startsAt))
            let ask = bench.ask([.day(100)], prompt: 10, output: 90, calendar: calendar)
            try await bench.settle(ask, bench.pass(ask), tokens: 100)
            #expect(try await bench.fail(bench.ask([.day(100)], calendar: calendar)).retryAfterSeconds == seconds)
            await bench.clock.set(wall: WallTime(seconds: startsAt + Int64(seconds) - 1))
            try await bench.fail(bench.ask([.day(100)], calendar: calendar))
            await bench.clock.set(wall: WallTime(seconds: startsAt + Int64(seconds)))
            try await bench.pass(bench.ask([.day(100)], calendar: calendar))
        }
    }
}

/// Offsets of 2026, worked out by hand.
enum Zones {
    static let tehran = ZoneCalendar(offsetSeconds: 12_600)
    static let kathmandu = ZoneCalendar(offsetSeconds: 20_700)
    static let berlin = ZoneCalendar(
        offsetSeconds: 3600,
        transitions: [
            .init(instant: 1_774_746_000, offsetSeconds: 7200), .init(instant: 1_792_890_000, offsetSeconds: 3600),
        ])
    static let newYork = ZoneCalendar(
        offsetSeconds: -18_000,
        transitions: [
            .init(instant: 1_772_953_200, offsetSeconds: -14_400),
            .init(instant: 1_793_512_800, offsetSeconds: -18_000),
        ])
}
