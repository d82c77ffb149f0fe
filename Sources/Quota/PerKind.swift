package import GatewayTypes

/// One value for each kind of limit, or none.
package struct PerKind<Value: Hashable & Sendable>: Hashable, Sendable {
    private var requestsPerMinute: Value?
    private var tokensPerDay: Value?
    private var concurrentRequests: Value?

    package init(requestsPerMinute: Value? = nil, tokensPerDay: Value? = nil, concurrentRequests: Value? = nil) {
        self.requestsPerMinute = requestsPerMinute
        self.tokensPerDay = tokensPerDay
        self.concurrentRequests = concurrentRequests
    }

    package subscript(kind: LimitKind) -> Value? {
        get {
            switch kind {
            case .requestsPerMinute: self.requestsPerMinute
            case .tokensPerDay: self.tokensPerDay
            case .concurrentRequests: self.concurrentRequests
            }
        }
        set {
            switch kind {
            case .requestsPerMinute: self.requestsPerMinute = newValue
            case .tokensPerDay: self.tokensPerDay = newValue
            case .concurrentRequests: self.concurrentRequests = newValue
            }
        }
    }

    /// Only the kind that a change concerns; nil concerns all.
    func only(_ kind: LimitKind?) -> Self {
        guard let kind else { return self }
        var result = Self()
        result[kind] = self[kind]
        return result
    }
}
