internal import GatewayTypes

/// Decides when a remote set is fetched. Time and chance are passed in.
///
/// At most one fetch is on its way. Between fetches a set is fresh, then due, then stale, then gone.
struct RefreshPlan {
    /// What becomes of a token that no key fits.
    enum Demand: Equatable {
        /// Its fetch is to begin.
        case start
        /// A fetch is on its way or about to begin.
        case join
        /// The set is what it was a moment ago.
        case refuse
    }

    private static let firstPause = TimeSpan.seconds(1)
    private static let longestPause = TimeSpan.seconds(60)

    private let cooldown: TimeSpan
    private let staleFor: TimeSpan
    private(set) var isFlying = false
    /// When the set in use was last known to be the issuer's.
    private(set) var confirmedAt: MonotonicTime?
    private(set) var failures = 0
    private var endedAt: MonotonicTime?
    /// When the next fetch begins by itself.
    private(set) var due: MonotonicTime

    /// A set that was never fetched; due at once.
    init(cooldown: TimeSpan, staleFor: TimeSpan, now: MonotonicTime) {
        self.cooldown = cooldown
        self.staleFor = staleFor
        self.due = now
    }

    /// When the set is no longer to be used; nil when there is none.
    var gone: MonotonicTime? { self.confirmedAt.map { $0 + self.staleFor } }

    /// A set of this age was found on disk; a fetch is due all the same.
    mutating func restored(age: TimeSpan, now: MonotonicTime) {
        self.confirmedAt = now + TimeSpan(nanoseconds: -max(0, age.nanoseconds))
    }

    /// A token names a key that the set lacks, or there is no set.
    mutating func demanded(now: MonotonicTime) -> Demand {
        if self.isFlying { return .join }
        guard let endedAt = self.endedAt else { return .start }
        let hasSet = self.confirmedAt != nil
        let pause = hasSet ? self.cooldown : min(self.cooldown, Self.firstPause)
        if now - endedAt >= pause { return .start }
        guard !hasSet else { return .refuse }
        // Without keys every token waits for the next try, so that one comes soon.
        self.due = min(self.due, endedAt + pause)
        return .join
    }

    /// The next fetch is to begin now.
    mutating func hasten(now: MonotonicTime) { self.due = min(self.due, now) }

    mutating func started() { self.isFlying = true }

    /// - Parameters:
    ///   - lifetime: how long the answer is fresh.
    ///   - chance: from 0 to 1; keeps instances from fetching all at once.
    mutating func succeeded(lifetime: TimeSpan, now: MonotonicTime, chance: Double) {
        self.isFlying = false
        self.endedAt = now
        self.confirmedAt = now
        self.failures = 0
        // A set that nobody confirms is dropped, however long the issuer calls it fresh.
        self.due = now + min(lifetime, self.staleFor).scaled(by: 0.72 + 0.08 * chance)
    }

    /// - Parameter retryAfter: what the issuer asked for.
    mutating func failed(retryAfter: TimeSpan?, now: MonotonicTime, chance: Double) {
        self.isFlying = false
        self.endedAt = now
        self.failures &+= 1
        let doubled = TimeSpan.seconds(1 << Int64(min(self.failures - 1, 6)))
        let pause = min(Self.longestPause, max(doubled, retryAfter ?? doubled))
        self.due = now + pause.scaled(by: 1 + 0.1 * chance)
    }

    /// Drops a set that nobody has confirmed for too long; true when there was one.
    mutating func droppedStale(now: MonotonicTime) -> Bool {
        guard let gone = self.gone, now >= gone else { return false }
        self.confirmedAt = nil
        self.hasten(now: now)
        return true
    }
}

extension TimeSpan {
    /// A share of a span; for spans of days at most.
    func scaled(by factor: Double) -> TimeSpan {
        TimeSpan(nanoseconds: Int64(exactly: (Double(self.nanoseconds) * factor).rounded()) ?? self.nanoseconds)
    }
}
