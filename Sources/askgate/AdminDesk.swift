import AdminAPI
import Configuration
import Gateway
import GatewayTypes
import Synchronization

/// The view of the admin API in force, which a reload replaces together with the snapshot.
final class AdminDesk: Sendable {
    private let state: Mutex<AdminView>

    init(_ document: ConfigurationDocument, _ snapshot: GatewaySnapshot) {
        self.state = Mutex(Self.view(document, snapshot))
    }

    var view: AdminView { self.state.withLock { $0 } }

    func replace(with document: ConfigurationDocument, _ snapshot: GatewaySnapshot) {
        let view = Self.view(document, snapshot)
        self.state.withLock { $0 = view }
    }

    private static func view(_ document: ConfigurationDocument, _ snapshot: GatewaySnapshot) -> AdminView {
        AdminView(
            generation: snapshot.generation, operators: OperatorTable(document.operators.map(self.entry)),
            tenants: document.tenants.compactMap { tenant in
                snapshot.tenants[tenant.id].map { built in
                    AdminTenant(
                        id: tenant.id, zone: tenant.zone, calendar: built.calendar, defaultPlan: tenant.defaultPlan,
                        guestPlan: tenant.guestPlan, plans: tenant.plans.map { ($0.name, $0.limits) })
                }
            })
    }

    private static func entry(_ settings: OperatorSettings) -> (digest: [UInt8], operator: Operator) {
        let role: Operator.Role =
            switch settings.role {
            case .viewer: .viewer
            case .operator: .operator
            }
        return (settings.digest, Operator(name: settings.name, role: role, tenants: settings.tenants.map(Set.init)))
    }
}
