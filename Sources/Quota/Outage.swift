package import GatewayTypes

/// What becomes of an ask when the store cannot answer: every enforced limit has its own stance.
package struct Outage: Sendable {
    /// Instances that share the store in good times; a local counter gets its part of the limit.
    package var expectedInstances: Int
    /// Seconds that a refused client is told to wait; short, since a store that fails over is back within seconds.
    package var retryAfterSeconds: Int

    package init(expectedInstances: Int = 1, retryAfterSeconds: Int = 2) {
        self.expectedInstances = max(1, expectedInstances)
        self.retryAfterSeconds = max(1, retryAfterSeconds)
    }

    /// The limits to count in this process; nil when one of them wants the ask refused.
    ///
    /// Limits that allow, and those that only observe, are left out: nothing can be said of them.
    package func localLimits(_ limits: [Limit]) -> [Limit]? {
        var local: [Limit] = []
        for limit in limits where !limit.observe {
            switch limit.stance {
            case .deny: return nil
            case .allow: continue
            case .local:
                var part = limit
                // A limit that allows anything allows at least one here; zero stays zero.
                part.quantity = limit.quantity <= 0 ? 0 : max(1, limit.quantity / self.expectedInstances)
                local.append(part)
            }
        }
        return local
    }
}
