import GatewayTypes

extension StandingOrder {
    var book: OrderBook { if case .guest = self.target { .guests } else { .operators } }

    /// What the trail says was done.
    package var action: AuditEntry.Action {
        switch self.target {
        case .plan: self.isLifted ? .clearPlan : .givePlan
        case .token: self.isLifted ? .readmit : .revokeToken
        case .session: self.isLifted ? .readmit : .revokeSession
        case .subject, .guest: self.isLifted ? .readmit : .revokeSubject
        }
    }

    /// Whom the trail names.
    func key(in tenant: TenantID) -> CounterKey {
        switch self.target {
        case .token, .session: .tenant(tenant)
        case .subject(let subject), .plan(let subject), .guest(let subject): .subject(subject, of: tenant)
        }
    }

    /// What the trail says besides.
    var object: ByteString {
        switch self.target {
        case .token(let id), .session(let id): id
        case .plan: self.plan?.bytes ?? ""
        case .subject, .guest: ""
        }
    }
}
