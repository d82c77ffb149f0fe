package import GatewayTypes

/// Whether an instance should wait for its store's first answer before it takes traffic. Facts in, decision out.
///
/// A wrong address or password shows itself before a good instance was replaced by this one. A store that is away must
/// not keep every instance down where limits let asks in without it, so the wait then has an end; not where the store
/// is there and refuses us, which is a mistake and no outage.
package struct FirstAnswer: Sendable {
    /// How long a store that is away is waited for where asks may go on without it.
    package static let grace = TimeSpan.seconds(30)

    private let start: MonotonicTime
    private var isOver = false

    package init(start: MonotonicTime) { self.start = start }

    /// Once false it stays false.
    ///
    /// - Parameters:
    ///   - hasAnswered: the store has answered at least once.
    ///   - failure: why the store does not answer now; nil when it does, or was not asked yet.
    ///   - canServeAlone: at least one plan has no limit that refuses while the store is away.
    package mutating func isAwaited(
        hasAnswered: Bool, failure: QuotaFailure?, canServeAlone: Bool, at now: MonotonicTime
    ) -> Bool {
        if self.isOver { return false }
        let hasWaited = now - self.start >= Self.grace && failure != .notPermitted
        self.isOver = hasAnswered || (canServeAlone && hasWaited)
        return !self.isOver
    }
}
