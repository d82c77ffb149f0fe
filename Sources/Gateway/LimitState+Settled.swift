import GatewayTypes
import Quota

extension LimitState {
    /// Where the limit stands once the ask has settled: what was reserved and not used is back, its place is free.
    func settled(charged: Int, of grant: Grant) -> LimitState {
        var state = self
        switch self.limit.kind {
        case .requestsPerMinute: break
        case .tokensPerDay: state.free(grant.reservedTokens - charged)
        case .concurrentRequests: state.free(1)
        }
        return state
    }

    private mutating func free(_ amount: Int) {
        self.used = max(0, self.used - amount)
        self.remaining = max(0, self.limit.quantity - self.used)
        if self.limit.kind == .concurrentRequests, self.used == 0 { self.resetSeconds = 0 }
    }
}
