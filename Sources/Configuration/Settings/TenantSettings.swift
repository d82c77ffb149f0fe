package import Gateway
package import GatewayTypes
package import Routing

/// One tenant with everything that belongs to it alone.
package struct TenantSettings: Sendable {
    package var id: TenantID
    /// IANA name of the zone whose midnight ends a day of tokens.
    package var zone: String
    package var defaultPlan: PlanName
    package var guestPlan: PlanName?
    package var issuers: [IssuerSettings]
    package var plans: [PlanSettings]
    package var tasks: [TaskDefinition]
    /// Who answers a question that names no agent.
    package var defaultAgent: TaskName?
    /// Bounds of the answers that tasks keep.
    package var cacheBounds = AnswerCache.Bounds()
    package var position: SourcePosition

    /// The tenant's catalogue, ready for asks.
    ///
    /// - Parameters:
    ///   - pool: shared by all tenants of a configuration.
    ///   - estimate: tokens that UTF-8 text is expected to take.
    package func routingTable(pool: inout PromptPool, estimate: @escaping RoutingTable.Estimate) -> RoutingTable {
        RoutingTable(
            tasks: self.tasks, plans: self.plans.map(\.routing), defaultAgent: self.defaultAgent, pool: &pool,
            estimate: estimate)
    }

    /// The tenant's catalogue by itself, sharing no prompts with others.
    package func routingTable(estimate: @escaping RoutingTable.Estimate) -> RoutingTable {
        var pool = PromptPool()
        return self.routingTable(pool: &pool, estimate: estimate)
    }
}

/// A plan as the stages need it: what it limits, and what it may use.
package struct PlanSettings: Sendable {
    package var name: PlanName
    package var limits: [Limit]
    /// Nil allows every task of the tenant.
    package var tasks: Set<TaskName>?
    package var routes: [TaskName: RouteList]

    package var routing: RoutingPlan { RoutingPlan(name: self.name, tasks: self.tasks, routes: self.routes) }

    package var plan: Plan {
        Plan(name: self.name, limits: self.limits, tasks: self.tasks, routes: self.routes.mapValues(\.routes))
    }
}
