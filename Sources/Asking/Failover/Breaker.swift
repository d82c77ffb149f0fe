import GatewayTypes

/// What is known of a provider's health.
package enum BreakerState: Sendable, Hashable {
    /// Calls go there.
    case closed
    /// One call is there to find out.
    case halfOpen
    /// Nobody is sent there.
    case open
}

/// The breaker of one provider: outcomes in, permission out. No clock, no socket.
///
/// closed → open (too many failures) → half-open (the first ask behind the pause) → closed (it went well) or open
/// again, twice as long. A probe whose ask leaves gives its place to the next.
struct Breaker {
    /// How the breaker lets a call pass, to be given back with the call's outcome.
    enum Pass: Hashable {
        case ordinary
        case probe
    }

    private enum State {
        case closed
        case open(until: MonotonicTime)
        case halfOpen(isProbed: Bool)
    }

    private var policy: Provider.BreakerPolicy
    private var position = State.closed
    private var failuresInRow = 0
    /// How often in a row it has opened.
    private var opened = 0
    private var windowStart = MonotonicTime(nanoseconds: 0)
    private var calls = 0
    private var failures = 0

    init(_ policy: Provider.BreakerPolicy) { self.policy = policy }

    var state: BreakerState {
        switch self.position {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// A reload brings other numbers; what was learnt stays, unless the breaker is turned off. A probe that is out
    /// reports to the breaker that sent it, so this one sends its own.
    mutating func adopt(_ policy: Provider.BreakerPolicy) {
        self.policy = policy
        if case .halfOpen = self.position { self.position = .halfOpen(isProbed: false) }
        if policy.failures == 0 { self = Breaker(policy) }
    }

    /// Whether a call could pass now, nothing being decided yet.
    func mayPass(at now: MonotonicTime) -> Bool {
        switch self.position {
        case .closed: true
        case .open(let until): now >= until
        case .halfOpen(let isProbed): !isProbed
        }
    }

    /// Lets a call pass, or not.
    mutating func pass(at now: MonotonicTime) -> Pass? {
        switch self.position {
        case .closed: return .ordinary
        case .open(let until) where now < until: return nil
        case .halfOpen(isProbed: true): return nil
        case .open, .halfOpen:
            self.position = .halfOpen(isProbed: true)
            return .probe
        }
    }

    /// The time until the next call may pass; what a probe will take is not known and counts as a second.
    func wait(at now: MonotonicTime) -> TimeSpan {
        switch self.position {
        case .closed: .seconds(0)
        case .open(let until): max(.seconds(0), until - now)
        case .halfOpen: .seconds(1)
        }
    }

    // MARK: Outcomes

    /// The provider works.
    mutating func succeeded(_ pass: Pass, at now: MonotonicTime) {
        if pass == .probe, case .halfOpen = self.position {
            self.position = .closed
            self.opened = 0
            self.forget(now)
        }
        self.failuresInRow = 0
        self.count(isFailure: false, at: now)
    }

    /// The provider failed, by no fault of the ask.
    mutating func failed(_ pass: Pass, at now: MonotonicTime) {
        guard self.policy.failures > 0 else { return }
        if pass == .probe, case .halfOpen = self.position { return self.trip(at: now) }
        guard case .closed = self.position else { return }
        self.failuresInRow &+= 1
        self.count(isFailure: true, at: now)
        let isMostly =
            self.calls >= self.policy.leastCalls && self.failures &* 100 >= self.calls &* self.policy.percent
        if self.failuresInRow >= self.policy.failures || isMostly { self.trip(at: now) }
    }

    /// The call told nothing about the provider.
    mutating func learntNothing(_ pass: Pass) {
        if pass == .probe, case .halfOpen = self.position { self.position = .halfOpen(isProbed: false) }
    }

    private mutating func trip(at now: MonotonicTime) {
        let doubled = self.policy.open.nanoseconds << Int64(min(self.opened, 20))
        let longest = self.policy.longestOpen.nanoseconds
        // A shift that overflowed has lost its value or its sign.
        let isUsable = doubled >= self.policy.open.nanoseconds && doubled <= longest
        self.position = .open(until: now + TimeSpan(nanoseconds: isUsable ? doubled : longest))
        self.opened = min(self.opened &+ 1, 20)
        self.forget(now)
    }

    private mutating func forget(_ now: MonotonicTime) {
        self.failuresInRow = 0
        self.windowStart = now
        self.calls = 0
        self.failures = 0
    }

    private mutating func count(isFailure: Bool, at now: MonotonicTime) {
        if now - self.windowStart > self.policy.window {
            self.windowStart = now
            self.calls = 0
            self.failures = 0
        }
        self.calls &+= 1
        if isFailure { self.failures &+= 1 }
    }
}
