import GatewayTypes

/// The keys of one provider and which of them are set aside. No clock, no socket.
///
/// Calls take turns over the keys that are good, so that their limits add up. A key that the provider refuses is left
/// alone for long, one over its limit for as long as the provider says.
struct KeyRing {
    /// How long a refused key is left alone: somebody has to mend it first.
    static let refusedTime = TimeSpan.seconds(600)
    /// How long a key over its limit is left alone when the provider does not say.
    static let limitedTime = TimeSpan.seconds(5)

    /// When each key may be used again.
    private var notBefore: [MonotonicTime]
    private var refusals: [Bool]
    private var turn = 0

    init(count: Int) {
        self.notBefore = Array(repeating: MonotonicTime(nanoseconds: .min), count: max(1, count))
        self.refusals = Array(repeating: false, count: max(1, count))
    }

    var count: Int { self.notBefore.count }

    /// The key whose turn it is; nil when all are set aside.
    mutating func next(at now: MonotonicTime) -> Int? {
        for _ in 0..<self.count {
            let key = self.turn
            self.turn = key &+ 1 < self.count ? key &+ 1 : 0
            if now >= self.notBefore[key] { return key }
        }
        return nil
    }

    func hasKey(at now: MonotonicTime) -> Bool { self.notBefore.contains { now >= $0 } }

    /// How many keys there are besides the one just used, when any of them is good now.
    func spares(at now: MonotonicTime) -> Int { self.count > 1 && self.hasKey(at: now) ? self.count &- 1 : 0 }

    /// The time until a key may be used again.
    func wait(at now: MonotonicTime) -> TimeSpan {
        let first = self.notBefore.min() ?? now
        return max(.seconds(0), first <= now ? .seconds(0) : first - now)
    }

    /// Whether every key was refused, so that waiting helps nobody.
    var areAllRefused: Bool { self.refusals.allSatisfy { $0 } }

    /// Whether the provider refused a key and has not taken it since.
    func isRefused(_ key: Int) -> Bool { self.refusals.indices.contains(key) && self.refusals[key] }

    /// The provider refused a key.
    ///
    /// - Returns: how long the key is set aside; nil when it is the only one. That one is tried again by every ask: what
    ///   would take over from it?
    mutating func refused(_ key: Int, at now: MonotonicTime) -> TimeSpan? {
        guard self.refusals.indices.contains(key) else { return nil }
        self.refusals[key] = true
        guard self.count > 1 else { return nil }
        self.notBefore[key] = now + Self.refusedTime
        return Self.refusedTime
    }

    /// A key is over the provider's limit.
    ///
    /// - Returns: how long the key is set aside; nil when it is the only one.
    mutating func limited(_ key: Int, seconds: Int?, at now: MonotonicTime) -> TimeSpan? {
        guard self.refusals.indices.contains(key) else { return nil }
        self.refusals[key] = false
        guard self.count > 1 else { return nil }
        let span = seconds.map { TimeSpan.seconds(Int64(min(max(0, $0), 3600))) } ?? Self.limitedTime
        self.notBefore[key] = max(self.notBefore[key], now + span)
        return span
    }

    /// A key works.
    mutating func worked(_ key: Int) {
        guard self.isRefused(key) else { return }
        self.refusals[key] = false
        self.notBefore[key] = MonotonicTime(nanoseconds: .min)
    }
}
