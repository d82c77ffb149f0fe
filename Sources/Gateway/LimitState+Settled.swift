import GatewayTypes
import Quota

extension LimitState {
    /// Where the limit stands once the ask has settled: what was reserved and not used is back, its place is free, and
    /// the time that the ask took is off the waits. What other asks have moved meanwhile is not known here.
    ///
    /// - Parameter seconds: whole seconds since the admission, rounded down, so that no wait is told too short.
    func settled(charged: Int, of grant: Grant, after seconds: Int) -> LimitState {
        var state = self
        switch self.limit.kind {
        case .requestsPerMinute: state.age(by: seconds, emptyAfter: 60)
        case .tokensPerDay:
            state.free(grant.reservedTokens &- charged)
            state.age(by: seconds, emptyAfter: self.resetSeconds)
        case .concurrentRequests: state.free(1)
        }
        return state
    }

    private mutating func free(_ amount: Int) {
        self.used = max(0, self.used &- amount)
        self.remaining = max(0, self.limit.quantity &- self.used)
        if self.used == 0 { self.resetSeconds = 0 }
    }

    /// - Parameter lifetime: seconds after which everything that was counted at the admission is gone: the minute has
    ///   passed, or the day has turned.
    private mutating func age(by seconds: Int, emptyAfter lifetime: Int) {
        guard self.used > 0 else { return }
        if seconds >= lifetime { return self.free(self.used) }
        // The oldest admission may have left already; when the next one does is not known.
        self.resetSeconds = max(1, self.resetSeconds &- max(0, seconds))
    }
}
