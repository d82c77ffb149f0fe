import GatewayTypes

/// Which route an ask goes to next, when, and when to give up: failures in, steps out. No clock, no socket.
///
/// One route after the other, each with its retries; nothing once text has gone to the client, nothing behind the ask's
/// deadline, and never because of what the caller wrote.
struct Failover {
    enum Step: Hashable {
        /// Ask the present route, now.
        case call
        /// Ask it once this time has passed.
        case pause(TimeSpan)
        /// Give up, for this reason.
        case end(ProviderFailure)
    }

    /// Calls of one ask, whatever routes, keys and retries it has.
    static let mostCalls = 16

    private let routeCount: Int
    private var random: SeededNumbers
    private(set) var route = 0
    /// Calls made so far.
    private(set) var calls = 0
    /// Retries of the present route.
    private var retries = 0
    /// How often another key has taken over at the present route.
    private var swaps = 0
    /// Why the last call failed: says more than why a route behind it could not be asked.
    private var lastFailure: ProviderFailure?
    var deadline = MonotonicTime(nanoseconds: .max)

    init(routeCount: Int, seed: UInt64) {
        self.routeCount = routeCount
        self.random = SeededNumbers(seed: seed)
    }

    var hasOtherRoute: Bool { self.route &+ 1 < self.routeCount }

    /// A call has begun.
    mutating func called() { self.calls &+= 1 }

    /// The present route's call has failed.
    ///
    /// - Parameters:
    ///   - hasText: whether text went to the client, so that no other call may follow.
    ///   - spareKeys: how many other keys the provider has; 0 when none of them is good now.
    mutating func failed(
        _ failure: ProviderFailure, hasText: Bool, spareKeys: Int, retry: Provider.Retry, at now: MonotonicTime
    ) -> Step {
        self.lastFailure = failure
        guard !hasText, self.calls < Self.mostCalls, now < self.deadline else { return .end(failure) }
        switch failure.remedy {
        case .none: return .end(failure)
        case .otherRoute: return self.next(failure)
        case .again: return self.again(failure, retry, at: now) ?? self.next(failure)
        case .otherKey:
            if self.swaps < spareKeys {
                self.swaps &+= 1
                return .call
            }
            if case .rateLimited = failure { return self.again(failure, retry, at: now) ?? self.next(failure) }
            return self.next(failure)
        }
    }

    /// The present route cannot be asked now: its breaker is open, its keys or its places are all taken.
    mutating func passedOver(_ failure: ProviderFailure, at now: MonotonicTime) -> Step {
        guard now < self.deadline else { return .end(self.lastFailure ?? failure) }
        return self.next(failure)
    }

    private mutating func next(_ failure: ProviderFailure) -> Step {
        guard self.hasOtherRoute else { return .end(self.lastFailure ?? failure) }
        self.route &+= 1
        self.retries = 0
        self.swaps = 0
        return .call
    }

    /// A pause before the same route is asked once more; nil when that is of no use.
    private mutating func again(
        _ failure: ProviderFailure, _ retry: Provider.Retry, at now: MonotonicTime
    ) -> Step? {
        guard self.retries < retry.retries else { return nil }
        let pause = self.pause(failure, retry)
        guard pause <= retry.longestPause, now + pause < self.deadline else { return nil }
        self.retries &+= 1
        return .pause(pause)
    }

    /// What the provider asked for, else a time drawn evenly below a bound that doubles ("full jitter").
    private mutating func pause(_ failure: ProviderFailure, _ retry: Provider.Retry) -> TimeSpan {
        if let seconds = failure.retryAfterSeconds { return .seconds(Int64(min(max(0, seconds), 3600))) }
        let longest = retry.longestPause.nanoseconds
        let doubled = retry.backoff.nanoseconds << Int64(self.retries)
        let bound = doubled >= retry.backoff.nanoseconds ? min(doubled, longest) : longest
        return TimeSpan(nanoseconds: self.random.below(bound &+ 1))
    }
}

extension ProviderFailure {
    /// What helps against a failure before any text.
    enum Remedy {
        /// The same call once more.
        case again
        /// The same provider with another key.
        case otherKey
        /// Only somebody else.
        case otherRoute
        /// Nothing: the same words would be refused everywhere.
        case none
    }

    var remedy: Remedy {
        switch self {
        case .unreachable, .connectTimeout, .incomplete, .overloaded, .serverError, .errorInStream: .again
        case .credentialsRefused, .rateLimited: .otherKey
        // What took that long once takes as long again.
        case .firstByteTimeout, .idleTimeout, .totalTimeout: .otherRoute
        case .tls, .unusableAnswer, .emptyAnswer, .contextTooLong, .notOffered, .tooManyCalls, .unusable: .otherRoute
        case .breakerOpen, .keysSetAside, .queueFull, .queueTimeout: .otherRoute
        case .requestRefused: .none
        }
    }

    /// What a failure says about the provider's health.
    enum Verdict {
        case broken
        /// It answered; what it answered is another matter.
        case alive
        case unknown
    }

    var verdict: Verdict {
        switch self {
        case .unreachable, .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout, .tls, .incomplete,
            .overloaded, .serverError, .unusableAnswer, .errorInStream:
            .broken
        case .requestRefused, .contextTooLong, .notOffered, .emptyAnswer: .alive
        case .credentialsRefused, .rateLimited, .tooManyCalls, .unusable, .breakerOpen, .keysSetAside, .queueFull,
            .queueTimeout:
            .unknown
        }
    }
}
