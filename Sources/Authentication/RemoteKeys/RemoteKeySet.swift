internal import EventLoops
package import GatewayTypes
package import JOSE
internal import Synchronization

/// One issuer's published keys with everything that is known about fetching them. From any loop.
final class RemoteKeySet: Sendable {
    fileprivate struct State {
        var plan: RefreshPlan
        var memory = KeySetFlight.Memory()
        var waiters: [Waiter] = []
        var outcomes: [FetchOutcome: Int] = [:]
        var skipped: [KeyFailure: Int] = [:]
        /// Of all entries that use the set; empty until one does.
        var algorithms: Set<Algorithm> = []
        var hasFetcher = false
        /// How the last fetch failed, as far as it was told; nil behind a good one.
        var toldFailure: FetchOutcome?
    }

    /// Most requests that wait for one fetch; those beyond go without.
    private static let mostWaiters = 256

    let source: RemoteKeySource
    let slot = KeySlot(nil)
    private let clock: any GatewayTypes.Clock
    private let state: Mutex<State>
    /// Called after something has become due earlier than planned.
    private let wake: @Sendable () -> Void

    init(_ source: RemoteKeySource, clock: any GatewayTypes.Clock, wake: @escaping @Sendable () -> Void) {
        self.source = source
        self.clock = clock
        self.wake = wake
        self.state = Mutex(
            State(
                plan: RefreshPlan(
                    cooldown: source.cooldown, staleFor: source.staleFor, now: clock.monotonicTime())))
    }

    /// Takes a set that was good before the process started.
    func restore(_ keys: KeySet, age: TimeSpan) {
        self.slot.replace(keys)
        self.state.withLock { $0.plan.restored(age: age, now: self.clock.monotonicTime()) }
    }

    /// A set without a key for any of these would lock all its users out, so it is taken for a mistake.
    func use(for algorithms: Set<Algorithm>) { self.state.withLock { $0.algorithms.formUnion(algorithms) } }

    // MARK: For requests

    /// Waits until a fetch that may bring the missing key has ended, but never long.
    ///
    /// - Returns: whether it is worth looking at the keys again.
    func awaitFetch() async -> Bool {
        let waiter = Waiter(deadline: self.clock.monotonicTime() + self.source.patience)
        let joined = self.state.withLock { state in
            guard state.hasFetcher, state.waiters.count < Self.mostWaiters else { return false }
            switch state.plan.demanded(now: self.clock.monotonicTime()) {
            case .refuse: return false
            case .start:
                state.plan.hasten(now: self.clock.monotonicTime())
                fallthrough
            case .join:
                state.waiters.append(waiter)
                return true
            }
        }
        guard joined else { return false }
        self.wake()
        await waiter.wait()
        return true
    }

    // MARK: For the fetcher

    /// Whether somebody runs fetches; without, nobody is let wait.
    func setFetched(by fetcher: Bool) {
        let waiters = self.state.withLock { state in
            state.hasFetcher = fetcher
            return fetcher ? [] : state.takeWaiters()
        }
        for waiter in waiters { waiter.release() }
    }

    /// What a fetch begins with when one is due now; it has then begun.
    func beginIfDue() -> KeySetFlight.Memory? {
        let now = self.clock.monotonicTime()
        return self.state.withLock { state in
            guard !state.plan.isFlying, state.plan.due <= now else { return nil }
            state.plan.started()
            return state.memory
        }
    }

    /// Does what time asks for, and says when it next does.
    func tick() -> MonotonicTime {
        let now = self.clock.monotonicTime()
        let (next, late, isGone) = self.state.withLock { state in
            let isGone = state.plan.droppedStale(now: now)
            if isGone { state.memory = KeySetFlight.Memory() }
            let late = state.waiters.filter { $0.deadline <= now }
            if !late.isEmpty { state.waiters.removeAll { $0.deadline <= now } }
            return (state.next, late, isGone)
        }
        if isGone { self.slot.clear() }
        for waiter in late { waiter.release() }
        return next
    }

    /// Takes in how a fetch ended, and lets those go on who waited for it.
    ///
    /// - Returns: the text of a set that was taken, and what operators should hear.
    func landed(_ landing: KeySetFlight.Landing) -> (text: [UInt8]?, news: KeySetNews?) {
        var landing = landing
        let algorithms = self.state.withLock { $0.algorithms }
        if let keys = landing.fetched?.keys, !algorithms.isEmpty, !algorithms.contains(where: keys.serves) {
            landing.outcome = .noUsableKey
            landing.fetched = nil
        }
        if let keys = landing.fetched?.keys { self.slot.replace(keys) }
        let (waiters, isNews) = self.state.withLock { state in
            state.take(landing, now: self.clock.monotonicTime())
            let failure = landing.outcome.isGood ? nil : landing.outcome
            defer { state.toldFailure = failure }
            return (state.takeWaiters(), state.toldFailure != failure)
        }
        for waiter in waiters { waiter.release() }
        let news = KeySetNews(
            issuer: self.source.issuer, address: self.source.shownAddress, outcome: landing.outcome,
            isAboutMetadata: landing.isAboutMetadata, keys: self.slot.current?.count ?? 0)
        return (landing.fetched?.text, isNews ? news : nil)
    }

    // MARK: For people

    var report: KeySetReport {
        let now = self.clock.monotonicTime()
        let keys = self.slot.current
        return self.state.withLock { state in
            KeySetReport(
                issuer: self.source.issuer, keys: keys?.count ?? 0, age: state.plan.confirmedAt.map { now - $0 },
                failuresInARow: state.plan.failures, outcomes: state.outcomes, skipped: state.skipped)
        }
    }
}

extension RemoteKeySet.State {
    /// The next moment at which something is to be done.
    fileprivate var next: MonotonicTime {
        var next = self.plan.isFlying ? MonotonicTime(nanoseconds: .max) : self.plan.due
        if let gone = self.plan.gone { next = min(next, gone) }
        for waiter in self.waiters { next = min(next, waiter.deadline) }
        return next
    }

    fileprivate mutating func takeWaiters() -> [Waiter] {
        defer { self.waiters = [] }
        return self.waiters
    }

    fileprivate mutating func take(_ landing: KeySetFlight.Landing, now: MonotonicTime) {
        self.outcomes[landing.outcome, default: 0] &+= 1
        for key in landing.fetched?.keys.skipped ?? [] { self.skipped[key.reason, default: 0] &+= 1 }
        let chance = Double.random(in: 0...1)
        let tag = self.memory.entityTag
        self.memory = landing.memory
        // The set that is unchanged may have been dropped since the issuer was asked: then it is asked for the whole.
        let isLost = landing.outcome == .notModified && self.plan.confirmedAt == nil
        guard landing.outcome.isGood, !isLost else {
            // The set in use is still the one that its tag was for.
            self.memory.entityTag = isLost ? nil : tag
            return self.plan.failed(retryAfter: landing.retryAfter, now: now, chance: chance)
        }
        self.plan.succeeded(lifetime: landing.lifetime, now: now, chance: chance)
    }
}

/// A turn in how fetches of an issuer's keys go.
package struct KeySetNews: Sendable {
    /// One of the configuration's.
    package var issuer: ByteString
    /// Where the configuration says that the fetch begins, without user and query.
    package var address: String
    package var outcome: FetchOutcome
    /// Whether it ended at the metadata, which only says where the keys are.
    package var isAboutMetadata: Bool
    /// Keys in use.
    package var keys: Int
}

/// How one issuer's keys fare.
package struct KeySetReport: Sendable {
    /// One of the configuration's.
    package var issuer: ByteString
    /// Keys in use.
    package var keys: Int
    /// Since the set was last confirmed by the issuer; nil without one.
    package var age: TimeSpan?
    /// Fetches that failed since one last succeeded.
    package var failuresInARow: Int
    /// Fetches by how they ended.
    package var outcomes: [FetchOutcome: Int]
    /// Keys that were left out, counted at each fetch. `privateMembers` and `symmetricKey` are alarms: the issuer
    /// publishes secrets.
    package var skipped: [KeyFailure: Int]
}

/// One request that waits; released once.
private final class Waiter: Sendable {
    private enum State {
        case new
        case waiting(UnsafeContinuation<Void, Never>)
        case released
    }

    let deadline: MonotonicTime
    private let state = Mutex(State.new)

    init(deadline: MonotonicTime) { self.deadline = deadline }

    func wait() async {
        await withUnsafeContinuation { continuation in
            let isReleased = self.state.withLock { state in
                if case .released = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isReleased { continuation.resume() }
        }
    }

    func release() {
        let continuation = self.state.withLock { state -> UnsafeContinuation<Void, Never>? in
            defer { state = .released }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume()
    }
}
