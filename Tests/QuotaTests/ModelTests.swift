import GatewayTesting
import GatewayTypes
import Quota
import Testing

/// Random walks over the store and the naive one side by side; every answer has to be the same.
@Suite struct ModelTests {
    struct Walk {
        var dice: SeededNumbers
        let clock: TestClock
        let store: any QuotaStore
        var naive: NaiveStore
        var open: [(QuotaAsk, Grant)] = []
        var done: [(QuotaAsk, Grant)] = []

        init(seed: UInt64, clock: TestClock, store: any QuotaStore) {
            self.dice = SeededNumbers(seed: seed)
            self.clock = clock
            self.store = store
            clock.set(wall: WallTime(seconds: 1_774_700_000))
            self.naive = NaiveStore(wall: self.clock.wallTime())
        }

        mutating func pick<Element>(_ choices: [Element]) -> Element {
            choices[Int.random(in: choices.indices, using: &self.dice)]
        }

        mutating func caller() -> QuotaCaller {
            QuotaCaller(
                tenant: self.pick(["a", "b"]), subject: self.pick(["u1", "u2", "u3"]),
                address: ByteString(self.pick(["x", "y"])))
        }

        mutating func limits() -> [Limit] {
            var limits: [Limit] = []
            for _ in 0..<Int.random(in: 0...5, using: &self.dice) {
                let kind = self.pick(LimitKind.allCases)
                let quantity =
                    switch kind {
                    case .requestsPerMinute: self.pick([0, 1, 3, 8, 8, 20])
                    case .tokensPerDay: self.pick([0, 90, 400, 2000, 2000])
                    case .concurrentRequests: self.pick([0, 1, 2, 4, 4, 9])
                    }
                limits.append(
                    Limit(
                        kind, scope: self.pick(LimitScope.allCases), quantity: quantity,
                        observe: Int.random(in: 0..<4, using: &self.dice) == 0))
            }
            return limits
        }

        mutating func advance() {
            let step = self.pick([0, 1, 200, 999, 1000, 5000, 5000, 20_000, 60_000, 31_000])
            var span = TimeSpan.milliseconds(Int64(step))
            if Int.random(in: 0..<60, using: &self.dice) == 0 { span = .seconds(40_000) }
            self.clock.advance(by: span)
            self.naive.now += span.nanoseconds
            self.naive.wall = self.clock.wallTime()
        }

        mutating func ask() async throws {
            var ask = QuotaAsk(
                caller: self.caller(), limits: self.limits(), calendar: self.pick([Zones.berlin, .utc]),
                promptEstimate: self.pick([0, 10, 37, 80]), outputCap: self.pick([0, 5, 16, 60, 300]),
                request: RequestID(high: self.dice.next(), low: self.dice.next()))
            // One zone for each tenant.
            ask.calendar = ask.caller.tenant == "a" ? Zones.berlin : Zones.kathmandu
            // A repeated ask is the same ask, and comes while it is remembered.
            var isNew = true
            if Int.random(in: 0..<20, using: &self.dice) == 0, let (old, _) = self.open.last,
                self.isRemembered(old.request)
            {
                ask = old
                isNew = false
            }
            let expected = self.naive.admit(ask)
            try await self.compare(self.store.admit(ask), expected, ask, isNew: isNew)
        }

        mutating func compare(
            _ admission: Admission, _ expected: NaiveStore.Answer?, _ ask: QuotaAsk, isNew: Bool
        ) throws {
            switch admission {
            case .blocked: try #require(expected == nil)
            case .refused(let refusal):
                let expected = try #require(expected)
                try #require(refusal.states.map(\.used) == expected.used)
                try #require(refusal.states.map(\.exceeded) == expected.exceeded)
                if expected.wait == -1 {
                    try #require((1...5).contains(refusal.retryAfterSeconds))
                } else {
                    // A running ask's guess of up to 5 s may be longer than another limit's exact wait.
                    let runs = refusal.failing.limit.kind == .concurrentRequests
                    try #require(refusal.retryAfterSeconds == expected.wait || runs)
                    try #require(!runs || refusal.retryAfterSeconds >= expected.wait)
                }
            case .admitted(let grant):
                let expected = try #require(expected)
                try #require(expected.wait == 0)
                try #require(grant.states.map(\.used) == expected.used)
                try #require(grant.outputTokens == expected.output)
                for state in grant.states {
                    try #require(state.remaining == max(0, state.limit.quantity - state.used))
                }
                if isNew {
                    try #require(grant.states.map(\.exceeded) == expected.exceeded)
                    self.open.append((ask, grant))
                }
            }
        }

        mutating func settle() async throws {
            guard !self.open.isEmpty else { return }
            let (ask, grant) = self.open.remove(at: Int.random(in: self.open.indices, using: &self.dice))
            let charge: Int? = self.pick([nil, 0, 7, grant.reservedTokens, 500])
            let settlement = Settlement(of: ask, grant: grant, charge: charge.map { .tokens($0) } ?? .asReserved)
            let result = try await self.store.settle(settlement)
            // Remembered for a while after the lease has died; whoever comes later stays charged as reserved.
            if !self.isRemembered(ask.request) {
                try #require(result == .unknown)
            } else {
                try #require(self.naive.settle(ask.request, charge) == result)
                self.done.append((ask, grant))
            }
        }

        func isRemembered(_ request: RequestID) -> Bool {
            self.naive.entries.contains {
                $0.ask.request == request && $0.leaseEnds + 300_000_000_000 > self.naive.now
            }
        }

        mutating func settleAgain() async throws {
            guard let (ask, grant) = self.done.last else { return }
            let result = try await self.store.settle(Settlement(of: ask, grant: grant, charge: .tokens(1)))
            try #require(result != .settled)
        }

        mutating func renew() async throws {
            guard !self.open.isEmpty else { return }
            let leases = self.open.map { Lease(caller: $0.0.caller, request: $0.0.request) }
                .filter { _ in Bool.random(using: &self.dice) }
            let lost = Set(try await self.store.renew(leases))
            for lease in leases { try #require(self.naive.renew(lease.request) != lost.contains(lease.request)) }
        }

        mutating func steer() async throws {
            let caller = self.caller()
            let key = self.naive.key(self.pick(LimitScope.allCases), caller)
            let kind = self.pick(LimitKind.allCases)
            let end: WallTime? = Bool.random(using: &self.dice) ? nil : self.naive.wall + .seconds(40)
            switch Int.random(in: 0..<8, using: &self.dice) {
            case 0, 1:
                let override = LimitOverride(quantity: self.pick([0, 2, 9, 500]), expiresAt: end)
                try await self.store.apply(.override(kind, override), to: key)
                self.naive.overrides[key, default: [:]][kind] = override
            case 2:
                try await self.store.apply(.clearOverride(kind), to: key)
                self.naive.overrides[key]?[kind] = nil
            case 3, 4:
                try await self.store.apply(.clearOverride(nil), to: key)
                self.naive.overrides[key] = nil
            case 5:
                try await self.store.apply(.block(until: end), to: key)
                self.naive.blocks[key] = .some(end)
            case 6:
                try await self.store.apply(.unblock, to: key)
                self.naive.blocks[key] = nil
            default:
                let which: LimitKind? = Bool.random(using: &self.dice) ? kind : nil
                try await self.store.apply(.reset(which), to: key)
                self.naive.resets.append(.init(key: key, kind: which, entries: self.naive.entries.count))
            }
        }

        mutating func look() async throws {
            let caller = self.caller()
            let limits = self.limits()
            let calendar = caller.tenant == "a" ? Zones.berlin : Zones.kathmandu
            let standing = try await self.store.look(QuotaQuestion(caller: caller, limits: limits, calendar: calendar))
            let expected = self.naive.limits(limits, caller)
            try #require(standing.states.map(\.limit) == expected)
            let day = calendar.day(at: self.naive.wall)
            try #require(standing.states.map(\.used) == expected.map { self.naive.used($0, caller, day: day).0 })
            try #require(standing.isBlocked == self.naive.isBlocked(caller))
        }

        mutating func step() async throws {
            switch Int.random(in: 0..<100, using: &self.dice) {
            case 0..<50: try await self.ask()
            case 50..<66: try await self.settle()
            case 66..<68: try await self.settleAgain()
            case 68..<74: try await self.renew()
            case 74..<78: try await self.look()
            case 78..<80: try await self.steer()
            case 80..<81:
                for key in self.naive.blocks.keys { try await self.store.apply(.unblock, to: key) }
                self.naive.blocks = [:]
            case 81: (self.store as? MemoryStore)?.sweep()
            default: self.advance()
            }
        }
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func everyAnswerIsTheNaiveOne(seed: UInt64) async throws {
        let clock = TestClock()
        var walk = Walk(seed: seed, clock: clock, store: MemoryStore(clock: clock))
        for _ in 0..<700 { try await walk.step() }
        #expect(walk.naive.entries.count > 60)
    }

    @Test(arguments: 101...112 as ClosedRange<UInt64>)
    func everyAnswerOfRedisIsTheNaiveOne(seed: UInt64) async throws {
        let it = try RedisBench()
        var walk = Walk(seed: seed, clock: it.clock, store: it.store)
        for _ in 0..<700 { try await walk.step() }
        #expect(walk.naive.entries.count > 60)
    }
}
