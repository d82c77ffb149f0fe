import GatewayTypes
import Quota
import Testing

@Suite struct RefusalMemoryTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func ask(_ subject: SubjectID, _ limits: [Limit] = [.minute(3)]) -> QuotaAsk {
        QuotaAsk(
            caller: QuotaCaller(tenant: "acme", subject: subject), limits: limits, calendar: .utc, promptEstimate: 1,
            outputCap: 1, request: .random())
    }

    private func refusal(_ limit: Limit = .minute(3), certainFor: TimeSpan? = .seconds(40)) -> Refusal {
        let state = LimitState(limit: limit, remaining: 0, resetSeconds: 40, used: 3, exceeded: true)
        let other = LimitState(limit: .running(5), remaining: 4, resetSeconds: 12, used: 1)
        return Refusal(failing: state, retryAfterSeconds: 40, states: [state, other], certainFor: certainFor)
    }

    @Test func memoryIsBounded() {
        var memory = RefusalMemory(capacity: 100)
        for index in 0..<10_000 {
            let ask = self.ask(SubjectID("s\(index)"))
            memory.remember(self.refusal(), of: ask, generation: 0, longest: .seconds(60), at: self.now)
            #expect(memory.count <= 200)
        }
        let newest = self.ask("s9999")
        #expect(memory.refusal(of: newest.caller, limits: newest.limits, generation: 0, at: self.now) != nil)
        let oldest = self.ask("s0")
        #expect(memory.refusal(of: oldest.caller, limits: oldest.limits, generation: 0, at: self.now) == nil)
    }

    @Test func statesAreToldAsOfNow() {
        var memory = RefusalMemory()
        let ask = self.ask("u")
        memory.remember(self.refusal(), of: ask, generation: 0, longest: .seconds(60), at: self.now)
        let later = memory.refusal(of: ask.caller, limits: ask.limits, generation: 0, at: self.now + .seconds(15))
        #expect(later?.retryAfterSeconds == 25)
        #expect(later?.certainFor == .seconds(25))
        #expect(later?.states.map(\.resetSeconds) == [25, 1])
    }

    @Test func storeCanShortenTheTrustButNotTheWaitThatIsTold() {
        var memory = RefusalMemory()
        let ask = self.ask("u")
        memory.remember(self.refusal(), of: ask, generation: 0, longest: .seconds(1), at: self.now)
        let soon = memory.refusal(
            of: ask.caller, limits: ask.limits, generation: 0, at: self.now + .milliseconds(999))
        #expect(soon?.retryAfterSeconds == 40)
        let later = memory.refusal(of: ask.caller, limits: ask.limits, generation: 0, at: self.now + .seconds(1))
        #expect(later == nil)
    }

    @Test func refusalDecidedBeforeAChangeIsNotRememberedAfterIt() {
        var memory = RefusalMemory()
        let ask = self.ask("u")
        #expect(memory.refusal(of: ask.caller, limits: ask.limits, generation: 7, at: self.now) == nil)
        memory.remember(self.refusal(), of: ask, generation: 6, longest: .seconds(60), at: self.now)
        #expect(memory.refusal(of: ask.caller, limits: ask.limits, generation: 7, at: self.now) == nil)
    }

    @Test func uncertainRefusalsAndThoseOfLimitsOutsideThePlanAreNotRemembered() {
        var memory = RefusalMemory()
        let ask = self.ask("u")
        memory.remember(
            self.refusal(certainFor: nil), of: ask, generation: 0, longest: .seconds(60), at: self.now)
        memory.remember(self.refusal(.running(2)), of: ask, generation: 0, longest: .seconds(60), at: self.now)
        #expect(memory.count == 0)
    }

    @Test func overriddenLimitsAreRememberedWhileTheOverrideHolds() {
        var memory = RefusalMemory()
        let ask = self.ask("u")
        func told(after span: TimeSpan) -> Refusal? {
            memory.refusal(of: ask.caller, limits: ask.limits, generation: 0, at: self.now + span)
        }
        // The plan says 3, an operator 2, for 10 seconds more.
        memory.remember(
            self.refusal(.minute(2), certainFor: .seconds(10)), of: ask, generation: 0, longest: .seconds(60),
            at: self.now)
        #expect(told(after: .seconds(9))?.retryAfterSeconds == 31)
        #expect(told(after: .seconds(9))?.failing.limit == .minute(2))
        #expect(told(after: .seconds(10)) == nil)
    }

    @Test func keeperOffersOnlyWhatHasRunForAWhile() {
        var keeper = LeaseKeeper()
        let leases = (0..<3).map { _ in Lease(caller: self.ask("u").caller, request: .random()) }
        for (index, lease) in leases.enumerated() { keeper.granted(lease, at: self.now + .seconds(Int64(index) * 6)) }
        #expect(Set(keeper.due(at: self.now + .seconds(10))) == [leases[0]])
        #expect(Set(keeper.due(at: self.now + .seconds(20))) == [leases[0], leases[1]])
        keeper.ended(leases[1].request)
        keeper.renewed([leases[0]], lost: [], at: self.now + .seconds(20))
        #expect(keeper.due(at: self.now + .seconds(20)) == [])
        #expect(keeper.due(at: self.now + .seconds(22)) == [leases[2]])
        keeper.renewed([leases[2]], lost: [leases[2].request], at: self.now + .seconds(22))
        #expect(keeper.count == 1)
    }
}
