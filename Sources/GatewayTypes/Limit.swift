/// What a limit counts. The raw value is its name in configuration, metrics and answers.
package enum LimitKind: String, Sendable, CaseIterable, MetricLabel {
    /// Admissions in any rolling 60 seconds.
    case requestsPerMinute = "requests_per_minute"
    /// Tokens charged in a calendar day of the tenant's zone.
    case tokensPerDay = "tokens_per_day"
    /// Asks running at the same moment.
    case concurrentRequests = "concurrent_requests"

    package var metricLabel: String { self.rawValue }
}

/// Whose counter a limit moves.
package enum LimitScope: String, Sendable, CaseIterable, MetricLabel {
    case subject
    case tenant
    /// The caller's network address; for guests.
    case address

    package var metricLabel: String { self.rawValue }
}

/// What happens to an ask when the store cannot say whether a limit is reached.
package enum OutageStance: String, Sendable, CaseIterable {
    case deny
    case allow
    /// An in-process counter holding the limit divided by the expected number of instances.
    case local
}

/// One rule of a plan.
package struct Limit: Hashable, Sendable {
    package var kind: LimitKind
    package var scope: LimitScope
    /// Requests, tokens or running asks; 0 refuses everything.
    package var quantity: Int
    /// Counts and reports what it would refuse, and refuses nothing.
    package var observe: Bool
    package var stance: OutageStance

    package init(
        _ kind: LimitKind, scope: LimitScope = .subject, quantity: Int, observe: Bool = false,
        stance: OutageStance = .deny
    ) {
        self.kind = kind
        self.scope = scope
        self.quantity = quantity
        self.observe = observe
        self.stance = stance
    }
}

/// A named tier: what its subjects may use, and how much.
package struct Plan: Sendable {
    package var name: PlanName
    package var limits: [Limit]
    /// Tasks this plan may use; nil allows every task of the tenant.
    package var tasks: Set<TaskName>?
    /// Routes that replace a task's own for this plan.
    package var routes: [TaskName: [ProviderRoute]]

    package init(
        name: PlanName, limits: [Limit], tasks: Set<TaskName>? = nil, routes: [TaskName: [ProviderRoute]] = [:]
    ) {
        self.name = name
        self.limits = limits
        self.tasks = tasks
        self.routes = routes
    }
}
