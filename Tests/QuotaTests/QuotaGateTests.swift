import GatewayTesting
import GatewayTypes
import Quota
import Synchronization
import Testing

/// A memory store that can be made to fail, and to act before it fails.
final class FailingStore: QuotaStore {
    let inner: MemoryStore
    private let failure = Mutex<(QuotaFailure?, actsFirst: Bool)>((nil, false))
    private let asked = Mutex(0)

    init(_ inner: MemoryStore) { self.inner = inner }

    func fail(_ failure: QuotaFailure?, actsFirst: Bool = false) {
        self.failure.withLock { $0 = (failure, actsFirst) }
    }
    /// Admissions that came to the store.
    var asks: Int { self.asked.withLock { $0 } }

    private func check() throws(QuotaFailure) {
        if let failure = self.failure.withLock({ $0.0 }) { throw failure }
    }

    func admit(_ ask: QuotaAsk) async throws(QuotaFailure) -> Admission {
        self.asked.withLock { $0 += 1 }
        if self.failure.withLock({ $0.actsFirst }) { _ = self.inner.admit(ask) }
        try self.check()
        return self.inner.admit(ask)
    }
    func settle(_ settlement: Settlement) async throws(QuotaFailure) -> SettlementResult {
        try self.check()
        return self.inner.settle(settlement)
    }
    func submit(_ settlement: Settlement) { self.inner.submit(settlement) }
    func renew(_ leases: [Lease]) async throws(QuotaFailure) -> [RequestID] {
        try self.check()
        return self.inner.renew(leases)
    }
    func look(_ question: QuotaQuestion) async throws(QuotaFailure) -> Standing { self.inner.look(question) }
    func apply(
        _ change: OperatorChange, to key: CounterKey, by order: OperatorOrder
    ) async throws(QuotaFailure) -> ChangeResult { self.inner.apply(change, to: key, by: order) }
    func steering(of key: CounterKey) async throws(QuotaFailure) -> VersionedSteering { self.inner.steering(of: key) }
    func leases(of key: CounterKey) async throws(QuotaFailure) -> [LeaseRecord] { self.inner.leases(of: key) }
    func dropLeases(
        of key: CounterKey, request: RequestID?, by order: OperatorOrder
    ) async throws(QuotaFailure) -> LeaseDrop { self.inner.dropLeases(of: key, request: request, by: order) }
    func audit(_ question: AuditQuestion) async throws(QuotaFailure) -> AuditPage { self.inner.audit(question) }
    var generation: UInt64 { self.inner.generation }
    var refusalMemory: TimeSpan { self.inner.refusalMemory }
}

/// How a decision came out, for comparing: decisions themselves cannot be copied.
enum Verdict: Equatable {
    case admitted(outputTokens: Int, isLocal: Bool)
    case refused(LimitKind, LimitScope, Int)
    case blocked
    case unavailable(QuotaFailure)
}

struct GateBench {
    let clock = TestClock(wall: WallTime(seconds: 1_800_000_000))
    let store: FailingStore
    let gate: QuotaGate
    let bench: StoreBench

    init(instances: Int = 1) {
        let memory = MemoryStore(clock: self.clock)
        self.store = FailingStore(memory)
        self.gate = QuotaGate(
            store: self.store, local: MemoryStore(clock: self.clock), outage: Outage(expectedInstances: instances),
            clock: self.clock)
        self.bench = StoreBench(store: memory, clock: TestStoreClock(clock: self.clock))
    }

    /// Asks, and ends what was admitted as told; nil drops the reservation.
    func run(_ ask: QuotaAsk, usage: TokenUsage?) async -> Verdict {
        switch await self.gate.admit(ask) {
        case .admitted(let reservation):
            let verdict = Verdict.admitted(outputTokens: reservation.grant.outputTokens, isLocal: reservation.isLocal)
            if let usage { reservation.settle(usage: usage) }
            return verdict
        case .refused(let refusal):
            return .refused(refusal.failing.limit.kind, refusal.failing.limit.scope, refusal.retryAfterSeconds)
        case .blocked: return .blocked
        case .unavailable(let failure, let seconds):
            #expect(seconds >= 1)
            return .unavailable(failure)
        }
    }

    func used(_ ask: QuotaAsk) -> [Int] {
        self.store.inner.look(QuotaQuestion(caller: ask.caller, limits: ask.limits, calendar: ask.calendar)).states
            .map(\.used)
    }
}

@Suite struct QuotaGateTests {
    private static let usage = TokenUsage(input: 10, output: 5, source: .provider)

    @Test func settlementChargesAndFrees() async {
        let it = GateBench()
        let ask = it.bench.ask([.day(1000), .running(1)])
        #expect(await it.run(ask, usage: Self.usage) == .admitted(outputTokens: 100, isLocal: false))
        #expect(it.used(ask) == [15, 0])
        #expect(it.gate.counts == QuotaCounts())
    }

    @Test func droppedReservationIsChargedAsReservedAndCounted() async {
        let it = GateBench()
        let ask = it.bench.ask([.day(1000), .running(1)])
        #expect(await it.run(ask, usage: nil) == .admitted(outputTokens: 100, isLocal: false))
        #expect(it.used(ask) == [110, 0])
        #expect(it.gate.counts.leakedReservations == 1)
        #expect(it.gate.counts.livingLeases == 0)
    }

    @Test func releasedReservationChargesNothingAndStaysCountedInTheMinute() async {
        let it = GateBench()
        let ask = it.bench.ask([.minute(5), .day(1000), .running(1)])
        if case .admitted(let reservation) = await it.gate.admit(ask) { reservation.release() }
        #expect(it.used(ask) == [1, 0, 0])
        #expect(it.gate.counts.leakedReservations == 0)
    }

    @Test func reservationOfACancelledTaskIsSettled() async {
        let it = GateBench()
        let ask = it.bench.ask([.day(1000), .running(1)])
        let task = Task {
            guard case .admitted(let reservation) = await it.gate.admit(ask) else { return }
            while !Task.isCancelled { await Task.yield() }
            reservation.settle(usage: Self.usage)
        }
        task.cancel()
        await task.value
        #expect(it.used(ask) == [15, 0])
    }

    @Test func embeddedStoreIsUsedDirectly() async {
        let clock = TestClock()
        let memory = MemoryStore(clock: clock)
        let gate = QuotaGate(store: memory, local: memory, clock: clock)
        let bench = StoreBench(store: memory, clock: TestStoreClock(clock: clock))
        if case .admitted(let reservation) = await gate.admit(bench.ask([.day(500)])) {
            reservation.settle(usage: Self.usage)
        }
        #expect(
            memory.look(
                QuotaQuestion(
                    caller: bench.ask([]).caller, limits: [.day(500)], calendar: .utc)
            ).states.map(\.used) == [15])
    }

    @Test func knownRefusalNeedsNoStore() async throws {
        let it = GateBench()
        let limits = [Limit.minute(1), .day(1000)]
        let ask = it.bench.ask(limits)
        #expect(it.gate.precheck(ask.caller, limits: limits) == nil)
        _ = await it.run(ask, usage: Self.usage)
        it.clock.advance(by: .milliseconds(10_500))
        #expect(await it.run(it.bench.ask(limits), usage: nil) == .refused(.requestsPerMinute, .subject, 50))
        let asks = it.store.asks
        it.clock.advance(by: .seconds(20))
        let refusal = try #require(it.gate.precheck(ask.caller, limits: limits))
        #expect(refusal.retryAfterSeconds == 30)
        #expect(refusal.failing.limit == .minute(1))
        #expect(refusal.failing.resetSeconds == 30)
        #expect(it.store.asks == asks)
        #expect(it.gate.counts.refusedFromMemory == 1)
        // Another subject, and the same one when the wait has passed to the millisecond.
        #expect(it.gate.precheck(it.bench.ask("u2", limits).caller, limits: limits) == nil)
        it.clock.advance(by: .milliseconds(29_499))
        #expect(it.gate.precheck(ask.caller, limits: limits)?.retryAfterSeconds == 1)
        it.clock.advance(by: .milliseconds(1))
        #expect(it.gate.precheck(ask.caller, limits: limits) == nil)
        #expect(await it.run(it.bench.ask(limits), usage: Self.usage) == .admitted(outputTokens: 100, isLocal: false))
    }

    @Test func tenantRefusalHoldsForItsOtherSubjects() async {
        let it = GateBench()
        let limits = [Limit.minute(1, .tenant)]
        _ = await it.run(it.bench.ask("u1", limits), usage: Self.usage)
        _ = await it.run(it.bench.ask("u2", limits), usage: Self.usage)
        #expect(it.gate.precheck(it.bench.ask("u3", limits).caller, limits: limits) != nil)
        #expect(it.gate.precheck(it.bench.ask("u3", tenant: "other", limits).caller, limits: limits) == nil)
        #expect(it.gate.precheck(it.bench.ask("u3", limits).caller, limits: [.minute(2, .tenant)]) == nil)
    }

    @Test func whatMayBeFreedIsNotRemembered() async {
        let it = GateBench()
        let running = it.bench.ask([.running(1), .day(110, .tenant)])
        guard case .admitted(let reservation) = await it.gate.admit(running) else {
            Issue.record("not admitted")
            return
        }
        // One place and the whole day are taken, but both come back when the running ask settles.
        _ = await it.run(it.bench.ask("u2", [.day(110, .tenant)]), usage: nil)
        _ = await it.run(it.bench.ask("u1", [.running(1)]), usage: nil)
        #expect(it.gate.precheck(it.bench.ask("u2", []).caller, limits: [.day(110, .tenant)]) == nil)
        #expect(it.gate.precheck(running.caller, limits: [.running(1)]) == nil)
        reservation.settle(usage: TokenUsage(input: 200, output: 0, source: .provider))
        // Charged beyond the limit: now nothing can come back before the day turns.
        _ = await it.run(it.bench.ask("u2", [.day(110, .tenant)]), usage: nil)
        #expect(it.gate.precheck(it.bench.ask("u2", []).caller, limits: [.day(110, .tenant)]) != nil)
    }

    @Test func operatorChangesAndNewPlansEndWhatIsRemembered() async throws {
        let it = GateBench()
        let limits = [Limit.minute(1)]
        let ask = it.bench.ask(limits)
        _ = await it.run(ask, usage: Self.usage)
        _ = await it.run(it.bench.ask(limits), usage: nil)
        #expect(it.gate.precheck(ask.caller, limits: limits) != nil)
        #expect(it.gate.precheck(ask.caller, limits: [.minute(5)]) == nil)
        try await it.store.inner.apply(.reset(nil), to: .subject("u1", of: StoreBench.tenant))
        #expect(it.gate.precheck(ask.caller, limits: limits) == nil)
        #expect(await it.run(it.bench.ask(limits), usage: Self.usage) == .admitted(outputTokens: 100, isLocal: false))
    }

    @Test func leasesAreRenewedInBatchesAndLostOnesCounted() async {
        let it = GateBench()
        let ask = it.bench.ask([.running(1)])
        guard case .admitted(let reservation) = await it.gate.admit(ask) else {
            Issue.record("not admitted")
            return
        }
        for _ in 0..<9 {
            it.clock.advance(by: .seconds(10))
            await it.gate.renewLeases()
            #expect(it.used(ask) == [1])
        }
        #expect(it.gate.counts.livingLeases == 1)
        it.store.fail(.timedOut)
        it.clock.advance(by: .seconds(10))
        await it.gate.renewLeases()
        #expect(it.gate.counts.failedRenewals == 1)
        it.store.fail(nil)
        it.clock.advance(by: .seconds(10))
        await it.gate.renewLeases()
        #expect(it.used(ask) == [1])
        it.clock.advance(by: .seconds(31))
        await it.gate.renewLeases()
        #expect(it.used(ask) == [0])
        #expect(it.gate.counts.lostLeases == 1)
        #expect(it.gate.counts.livingLeases == 0)
        reservation.release()
    }
}

@Suite struct OutageTests {
    private static let usage = TokenUsage(input: 10, output: 5, source: .provider)

    private static func limit(_ kind: LimitKind, _ quantity: Int, _ stance: OutageStance, observe: Bool = false)
        -> Limit
    {
        Limit(kind, quantity: quantity, observe: observe, stance: stance)
    }

    @Test(arguments: QuotaFailure.allCases)
    func failureIsNeverPermissionWhereALimitDenies(failure: QuotaFailure) async {
        let it = GateBench()
        it.store.fail(failure)
        let limits = [
            Self.limit(.requestsPerMinute, 100, .allow), Self.limit(.tokensPerDay, 1000, .deny),
            Self.limit(.concurrentRequests, 100, .local),
        ]
        for _ in 0..<20 { #expect(await it.run(it.bench.ask(limits), usage: nil) == .unavailable(failure)) }
        #expect(it.gate.counts.failures == [failure: 20])
        it.store.fail(nil)
        #expect(it.used(it.bench.ask(limits)) == [0, 0, 0])
    }

    @Test func allowLetsEverythingThrough() async {
        let it = GateBench()
        it.store.fail(.disconnected)
        let limits = [Self.limit(.requestsPerMinute, 1, .allow), Self.limit(.tokensPerDay, 20, .allow)]
        for _ in 0..<5 {
            #expect(
                await it.run(it.bench.ask(limits), usage: Self.usage) == .admitted(outputTokens: 100, isLocal: true))
        }
        #expect(it.gate.counts.admittedWithoutStore == 5)
    }

    @Test func observedLimitsHaveNoStance() async {
        let it = GateBench()
        it.store.fail(.breakerOpen)
        let limits = [Self.limit(.requestsPerMinute, 1, .deny, observe: true)]
        #expect(await it.run(it.bench.ask(limits), usage: Self.usage) == .admitted(outputTokens: 100, isLocal: true))
    }

    @Test func localCountersHoldTheirShareAndRefuse() async {
        let it = GateBench(instances: 3)
        it.store.fail(.breakerOpen)
        let limits = [Self.limit(.requestsPerMinute, 10, .local)]
        var passed = 0
        for _ in 0..<100 {
            if case .admitted = await it.run(it.bench.ask(limits), usage: Self.usage) { passed += 1 }
        }
        #expect(passed == 3)
        #expect(
            await it.run(it.bench.ask(limits), usage: nil) == .refused(.requestsPerMinute, .subject, 60))
    }

    @Test func sharesAreAtLeastOneButZeroStaysZero() {
        let outage = Outage(expectedInstances: 8)
        let limits = [Self.limit(.requestsPerMinute, 3, .local), Self.limit(.concurrentRequests, 0, .local)]
        #expect(outage.localLimits(limits)?.map(\.quantity) == [1, 0])
        #expect(outage.localLimits([]) == [])
        #expect(Outage(expectedInstances: 0).localLimits(limits)?.map(\.quantity) == [3, 0])
    }

    @Test func asksLetThroughAreChargedWhenTheStoreIsBack() async {
        let it = GateBench()
        it.store.fail(.breakerOpen)
        let limits = [Self.limit(.tokensPerDay, 1000, .local), Self.limit(.concurrentRequests, 1, .local)]
        let ask = it.bench.ask(limits)
        #expect(await it.run(ask, usage: Self.usage) == .admitted(outputTokens: 100, isLocal: true))
        // The local place is free again, and the store knows the tokens.
        #expect(await it.run(it.bench.ask(limits), usage: Self.usage) == .admitted(outputTokens: 100, isLocal: true))
        #expect(it.used(ask) == [30, 0])
    }

    @Test(arguments: [OutageStance.deny, .allow, .local])
    func anAdmissionWhoseAnswerWasLostIsNotChargedTwiceNorKept(stance: OutageStance) async {
        let it = GateBench()
        it.store.fail(.timedOut, actsFirst: true)
        let limits = [Self.limit(.tokensPerDay, 1000, stance), Self.limit(.concurrentRequests, 1, stance)]
        let ask = it.bench.ask(limits)
        let verdict = await it.run(ask, usage: Self.usage)
        #expect((verdict == .unavailable(.timedOut)) == (stance == .deny))
        #expect(it.used(ask) == [stance == .deny ? 0 : 15, 0])
    }

    @Test func localLeasesAreRenewedToo() async {
        let it = GateBench()
        it.store.fail(.breakerOpen)
        let limits = [Self.limit(.concurrentRequests, 1, .local)]
        guard case .admitted(let reservation) = await it.gate.admit(it.bench.ask(limits)) else {
            Issue.record("not admitted")
            return
        }
        for _ in 0..<6 {
            it.clock.advance(by: .seconds(10))
            await it.gate.renewLeases()
            guard case .refused = await it.run(it.bench.ask(limits), usage: nil) else {
                Issue.record("place lost")
                return
            }
        }
        reservation.release()
        #expect(await it.run(it.bench.ask(limits), usage: Self.usage) == .admitted(outputTokens: 100, isLocal: true))
    }
}
