package import GatewayTypes
import Synchronization

/// The verb *admit*: asks the store, remembers refusals, keeps leases alive, and decides alone when the store cannot.
///
/// One for each loop, so that its lock is never waited for; it may still be used from any thread.
package final class QuotaGate: Sendable {
    /// Guarded by the lock around it.
    private struct State {
        var leases = LeaseKeeper()
        var localLeases = LeaseKeeper()
        var refusals = RefusalMemory()
        var counts = QuotaCounts()
    }

    package let store: any QuotaStore
    /// The same store when it is the embedded one: answered without suspending.
    private let memory: MemoryStore?
    private let local: MemoryStore
    private let outage: Outage
    private let clock: any GatewayTypes.Clock
    private let state = Mutex(State())

    /// - Parameters:
    ///   - local: counts for limits of stance `local` while the store cannot answer; one for the whole process.
    ///   - clock: the machine's, for what is remembered here; counters run on the store's own.
    package init(store: any QuotaStore, local: MemoryStore, outage: Outage = Outage(), clock: any GatewayTypes.Clock) {
        self.store = store
        self.memory = store as? MemoryStore
        self.local = local
        self.outage = outage
        self.clock = clock
    }

    /// Refuses without asking anyone when a limit is known to be reached still. For use before the body is read.
    package func precheck(_ caller: QuotaCaller, limits: [Limit]) -> Refusal? {
        let generation = self.store.generation
        return self.state.withLock { state in
            guard state.refusals.count > 0 else { return nil }
            let now = self.clock.monotonicTime()
            let refusal = state.refusals.refusal(of: caller, limits: limits, generation: generation, at: now)
            if refusal != nil { state.counts.refusedFromMemory &+= 1 }
            return refusal
        }
    }

    /// Whether the store answers without waiting, so that `admitAtOnce` gives a decision.
    package var decidesAtOnce: Bool { self.memory != nil }

    /// The decision of a store that can answer without waiting; nil when `admit` has to be awaited.
    package func admitAtOnce(_ ask: QuotaAsk) -> QuotaDecision? {
        guard let memory = self.memory else { return nil }
        let generation = memory.generation
        return self.decision(on: ask, memory.admit(ask), generation: generation)
    }

    /// One atomic decision over every limit of the ask.
    package func admit(_ ask: QuotaAsk) async -> QuotaDecision {
        if let decision = self.admitAtOnce(ask) { return decision }
        let generation = self.store.generation
        do throws(QuotaFailure) {
            return self.decision(on: ask, try await self.store.admit(ask), generation: generation)
        } catch {
            return self.decision(on: ask, without: error)
        }
    }

    /// Where a caller stands; moves nothing.
    package func look(_ question: QuotaQuestion) async throws(QuotaFailure) -> Standing {
        try await self.store.look(question)
    }

    /// Renews what has run for a while; to be called every `Lease.renewal` while the loop lives. A failed renewal is
    /// tried again at the next call, in time for one more before the lease ends. Counters in memory are swept too.
    package func renewLeases() async {
        let now = self.clock.monotonicTime()
        self.memory?.sweep()
        self.local.sweep()
        let (due, localDue) = self.state.withLock { ($0.leases.due(at: now), $0.localLeases.due(at: now)) }
        if !localDue.isEmpty {
            let lost = self.local.renew(localDue)
            self.state.withLock { $0.localLeases.renewed(localDue, lost: lost, at: now) }
        }
        guard !due.isEmpty else { return }
        do throws(QuotaFailure) {
            let lost = try await self.store.renew(due)
            self.state.withLock { state in
                state.leases.renewed(due, lost: lost, at: now)
                state.counts.lostLeases &+= lost.count
            }
        } catch {
            self.state.withLock { $0.counts.failedRenewals &+= 1 }
        }
    }

    /// What has happened at this gate since it was made.
    package var counts: QuotaCounts {
        self.state.withLock { state in
            var counts = state.counts
            counts.livingLeases = state.leases.count &+ state.localLeases.count
            return counts
        }
    }

    /// Ends a reservation; synchronous, so that it also works where a cancelled request unwinds.
    func finish(_ settlement: Settlement, isLocal: Bool, leaked: Bool) {
        var settlement = settlement
        self.state.withLock { state in
            let since = state.leases.ended(settlement.request)
            // A store that kept its data knows an ask for a while after its lease was renewed. One that does not has
            // lost its data, and the tokens are charged to the day as they are.
            if self.memory == nil, let since {
                settlement.chargesUnrecorded = true
                settlement.knownUntil = since + requestMemory
            }
            if isLocal { state.localLeases.ended(settlement.request) }
            if leaked { state.counts.leakedReservations &+= 1 }
        }
        if isLocal { self.local.submit(settlement) }
        self.store.submit(settlement)
    }

    private func decision(on ask: QuotaAsk, _ admission: Admission, generation: UInt64) -> QuotaDecision {
        switch admission {
        case .admitted(let grant):
            let now = self.clock.monotonicTime()
            self.state.withLock { state in
                state.leases.granted(Lease(caller: ask.caller, request: ask.request), at: now)
            }
            return .admitted(self.reservation(ask, grant, isLocal: false))
        case .refused(let refusal):
            let now = self.clock.monotonicTime()
            self.state.withLock { state in
                state.refusals.remember(
                    refusal, of: ask, generation: generation, longest: self.store.refusalMemory, at: now)
            }
            return .refused(refusal)
        case .blocked:
            return .blocked
        }
    }

    private func decision(on ask: QuotaAsk, without failure: QuotaFailure) -> QuotaDecision {
        self.state.withLock { $0.counts.failures[failure, default: 0] &+= 1 }
        guard let limits = self.outage.localLimits(ask.limits) else {
            self.takeBack(ask, after: failure)
            return .unavailable(failure, retryAfterSeconds: self.outage.retryAfterSeconds)
        }
        var localAsk = ask
        localAsk.limits = limits
        switch self.local.admit(localAsk) {
        case .admitted(let grant):
            let now = self.clock.monotonicTime()
            self.state.withLock { state in
                state.counts.admittedWithoutStore &+= 1
                state.localLeases.granted(Lease(caller: ask.caller, request: ask.request), at: now)
            }
            return .admitted(self.reservation(ask, grant, isLocal: true, knownSince: failure.mayHaveActed ? now : nil))
        case .refused(let refusal):
            self.takeBack(ask, after: failure)
            return .refused(refusal)
        case .blocked:
            self.takeBack(ask, after: failure)
            return .blocked
        }
    }

    /// - Parameter knownSince: when the store may have admitted an ask that was let in without its answer.
    private func reservation(
        _ ask: QuotaAsk, _ grant: Grant, isLocal: Bool, knownSince: MonotonicTime? = nil
    ) -> Reservation {
        var settlement = Settlement(of: ask, grant: grant)
        settlement.chargesUnrecorded = isLocal
        settlement.knownUntil = knownSince.map { $0 + requestMemory }
        return Reservation(grant: grant, settlement: settlement, gate: self, isLocal: isLocal)
    }

    /// The store may have admitted the ask before it failed, or may do so yet, when what was sent reaches it late. Its
    /// tokens and its lease are given back; where it is not known it is settled at nothing, so that nothing moves later.
    private func takeBack(_ ask: QuotaAsk, after failure: QuotaFailure) {
        guard failure.mayHaveActed else { return }
        let day = ask.calendar.day(at: self.clock.wallTime())
        self.store.submit(
            Settlement(
                caller: ask.caller, request: ask.request, limits: ask.limits, day: day, reservedTokens: 0,
                charge: .tokens(0), chargesUnrecorded: true))
    }
}
