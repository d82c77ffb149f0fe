package import GatewayTypes
package import Quota

/// What the admin API knows of the configuration: who may steer, and what tenants and plans there are. Frozen; a
/// reload puts another in its place.
package struct AdminView: Sendable {
    /// Of the snapshot that it was made with.
    package let generation: Int
    package let operators: OperatorTable
    /// In the order of the configuration.
    package let tenants: [AdminTenant]

    package init(generation: Int, operators: OperatorTable, tenants: [AdminTenant]) {
        self.generation = generation
        self.operators = operators
        self.tenants = tenants
    }

    /// The tenant, when there is one and the operator may see it.
    func tenant(_ id: TenantID, for reader: Operator) -> AdminTenant? {
        guard reader.sees(id) else { return nil }
        return self.tenants.first { $0.id == id }
    }
}

/// A tenant as operators see it.
package struct AdminTenant: Sendable {
    package let id: TenantID
    /// IANA name of the zone whose midnight ends a day of tokens.
    package let zone: String
    package let calendar: ZoneCalendar
    package let defaultPlan: PlanName
    package let guestPlan: PlanName?
    /// In the order of the configuration.
    package let plans: [(name: PlanName, limits: [Limit])]

    package init(
        id: TenantID, zone: String, calendar: ZoneCalendar, defaultPlan: PlanName, guestPlan: PlanName?,
        plans: [(name: PlanName, limits: [Limit])]
    ) {
        self.id = id
        self.zone = zone
        self.calendar = calendar
        self.defaultPlan = defaultPlan
        self.guestPlan = guestPlan
        self.plans = plans
    }
}

/// What the admin API acts on.
package struct AdminSteering: Sendable {
    /// The view in force.
    package let view: @Sendable () -> AdminView
    /// The store as the loop of this index sees it.
    package let store: @Sendable (_ loop: Int) -> any QuotaStore
    /// The store's kind as the configuration names it.
    package let storeKind: String
    /// Reads the configuration again; told which operator wants it.
    package let reload: @Sendable (_ actor: String) async -> ReloadOutcome
    /// The plan that an operator has given to a subject, as this instance knows it.
    package let givenPlan: @Sendable (TenantID, SubjectID) -> PlanName?
    /// To be told when an order was given, by which loop and in which tenant; returns when it holds here.
    package let orderGiven: @Sendable (_ loop: Int, TenantID) async -> Void

    package init(
        storeKind: String, store: @escaping @Sendable (_ loop: Int) -> any QuotaStore,
        view: @escaping @Sendable () -> AdminView, reload: @escaping @Sendable (_ actor: String) async -> ReloadOutcome,
        givenPlan: @escaping @Sendable (TenantID, SubjectID) -> PlanName? = { _, _ in nil },
        orderGiven: @escaping @Sendable (_ loop: Int, TenantID) async -> Void = { _, _ in }
    ) {
        self.givenPlan = givenPlan
        self.orderGiven = orderGiven
        self.storeKind = storeKind
        self.store = store
        self.view = view
        self.reload = reload
    }
}

/// What became of a reload.
package enum ReloadOutcome: Sendable, Hashable {
    /// In force now. Notes are warnings, and what only a restart can change.
    case applied(generation: Int, notes: [String])
    /// Nothing has changed; one line for each problem.
    case refused(problems: [String])
}
