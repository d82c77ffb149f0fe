package import Asking
package import Authentication
package import GatewayTypes
package import Observability
package import Routing
import Synchronization

/// The frozen, checked configuration that a request keeps from its first byte to its last.
package final class GatewaySnapshot: Sendable {
    /// Counts reloads; 1 is what the process started with.
    package let generation: Int
    package let authenticator: Authenticator
    package let tenants: [TenantID: TenantSnapshot]
    package let providers: [ProviderName: Provider]
    package let relay: RelayConfiguration
    /// Who gives out the tokens of guests; only tenants that have guests.
    let guests: [TenantID: GuestIssuer]
    let labels: SnapshotLabels
    /// What hops to other instances and from them are signed with; nil where there are none.
    let hopKeys: HopKeys?

    package init(
        generation: Int, authenticator: Authenticator, tenants: [TenantSnapshot], providers: [Provider],
        relay: RelayConfiguration, labels: LabelTable, guests: [GuestIssuer] = [],
        hopKeys: HopKeys? = nil
    ) {
        self.hopKeys = hopKeys
        self.guests = Dictionary(guests.map { ($0.tenant, $0) }) { first, _ in first }
        self.labels = SnapshotLabels(tenants: tenants, providers: providers, table: labels)
        self.generation = generation
        self.authenticator = authenticator
        self.tenants = Dictionary(tenants.map { ($0.id, $0) }) { first, _ in first }
        self.providers = Dictionary(providers.map { ($0.name, $0) }) { first, _ in first }
        self.relay = relay
    }
}

extension GatewaySnapshot {
    /// Those whose tokens cannot be judged yet, each once.
    package var issuersWithoutKeys: [ByteString] { self.authenticator.issuersWithoutKeys }
}

/// What requests of one tenant need.
package final class TenantSnapshot: Sendable {
    package let id: TenantID
    package let plans: [PlanName: PlanSnapshot]
    package let routing: RoutingTable
    package let calendar: ZoneCalendar
    package let label: LabelID
    /// Nil where no task keeps answers. A reload begins with an empty one.
    package let cache: AnswerCache?
    /// Of guests; nil for a tenant that has none.
    let guestPlan: PlanName?
    /// Every task and every route's model, for their labels.
    let names: (tasks: [TaskName], models: [ModelName])

    /// - Parameters:
    ///   - models: of every route that a plan or a task has.
    ///   - cache: for the tasks that keep answers.
    package init(
        id: TenantID, plans: [Plan], tasks: [TaskName], models: [ModelName], routing: RoutingTable,
        calendar: ZoneCalendar, cache: AnswerCache? = nil, labels: LabelTable, guestPlan: PlanName? = nil
    ) {
        self.guestPlan = guestPlan
        self.id = id
        self.cache = cache
        self.names = (tasks, models)
        self.plans = Dictionary(plans.map { ($0.name, PlanSnapshot($0, labels: labels)) }) { first, _ in first }
        self.routing = routing
        self.calendar = calendar
        self.label = labels.intern(id)
    }
}

/// A plan with what is asked of it on every request made ready.
package final class PlanSnapshot: Sendable {
    package let limits: [Limit]
    /// The same for guests, who are let in by no stance: anybody can be one, as often as they like.
    let guestLimits: [Limit]
    /// Whether a limit counts by network address, so that the address has to be spelled out.
    let countsAddresses: Bool
    let label: LabelID

    init(_ plan: Plan, labels: LabelTable) {
        self.limits = plan.limits
        self.guestLimits = plan.limits.map { limit in
            var limit = limit
            limit.stance = .deny
            return limit
        }
        self.countsAddresses = plan.limits.contains { $0.scope == .address }
        self.label = labels.intern(plan.name)
    }
}

/// Bounds of taking a body in and giving an answer out.
package struct RelayConfiguration: Sendable {
    /// Largest request body, in bytes.
    package var maxBodyBytes = 524_288
    /// Silence of a stream after which a comment shows that it lives.
    package var heartbeat = TimeSpan.seconds(15)
    /// Bytes held for a slow client above which the provider is no longer read.
    package var pauseAboveBytes = 262_144
    /// Peers whose word on the client's address is taken.
    package var trustedProxies: [NetworkPrefix] = []
    /// Failed authentications of one network address in a minute; 0 for any number.
    package var failedAuthentications = 3000
    /// Of the answers that tasks with `resume` keep.
    package var questions = QuestionBoard.Bounds()
    /// How long it is remembered that an ask was made with an idempotency key.
    package var keyLifetime = TimeSpan.seconds(3600)

    package init() {}
}

/// Holds the snapshot in force. A reload swaps it; requests on their way keep theirs.
package final class SnapshotStore: Sendable {
    private let state: Mutex<GatewaySnapshot>

    package init(_ snapshot: GatewaySnapshot) { self.state = Mutex(snapshot) }

    package var current: GatewaySnapshot { self.state.withLock { $0 } }

    package func replace(with snapshot: GatewaySnapshot) { self.state.withLock { $0 = snapshot } }
}
