import Asking
import Authentication
import GatewayTypes
import Observability

/// The metric labels of everything a snapshot names, ready to be looked up on the path of a request.
struct SnapshotLabels: Sendable {
    private let providers: [ProviderName: LabelID]
    private let models: [ModelName: LabelID]
    private let tasks: [TaskName: LabelID]
    private let table: LabelTable
    private let answered: LabelID
    private let cancelled: LabelID
    let routes: [LabelID]

    init(tenants: [TenantSnapshot], providers: [Provider], table: LabelTable) {
        self.table = table
        self.providers = Self.labels(providers.map(\.name), in: table)
        self.models = Self.labels(tenants.flatMap(\.names.models), in: table)
        self.tasks = Self.labels(tenants.flatMap(\.names.tasks), in: table)
        self.answered = table.intern("answered")
        self.cancelled = table.intern("cancelled")
        self.routes = Route.allCases.map { table.intern(ByteString($0.template.description)) }
    }

    private static func labels<Name: Identifier>(_ names: [Name], in table: LabelTable) -> [Name: LabelID] {
        Dictionary(names.map { ($0, table.intern($0)) }) { first, _ in first }
    }

    func provider(_ name: ProviderName) -> LabelID { self.providers[name] ?? .other }
    func model(_ name: ModelName) -> LabelID { self.models[name] ?? .other }
    func task(_ name: TaskName?) -> LabelID { name.flatMap { self.tasks[$0] } ?? .other }
    /// Closed sets of names, interned as they first occur.
    func authentication(_ failure: AuthenticationFailure) -> LabelID { self.table.intern(failure) }

    func attempt(_ attempt: AskAttempt) -> LabelID {
        if attempt.wasCancelled { return self.cancelled }
        return attempt.failure.map { self.table.intern($0) } ?? self.answered
    }
}
