import Authentication
import EventLoops
import Gateway
import GatewayTesting
import GatewayTypes
import HTTPServer
import JOSE
import JSON
import Observability
import Quota
import Synchronization
import Testing

@testable import AdminAPI

/// An admin listener over a store, with two tenants and three operators.
final class SteeredAdmin: Sendable {
    static let loops = makeLoops()
    let store: any QuotaStore
    let reloads = Atomic(0)
    let outcome = Mutex(ReloadOutcome.applied(generation: 2, notes: ["a note"]))

    private static func makeLoops() -> EventLoopGroup {
        do { return try EventLoopGroup(count: 1) } catch { preconditionFailure("no loop to be had: \(error)") }
    }

    init(store: any QuotaStore = MemoryStore(clock: SystemClock())) { self.store = store }

    static let limits = [
        Limit(.requestsPerMinute, quantity: 5), Limit(.tokensPerDay, quantity: 1000),
        Limit(.concurrentRequests, quantity: 2), Limit(.requestsPerMinute, scope: .tenant, quantity: 50),
        Limit(.requestsPerMinute, scope: .address, quantity: 7),
    ]
    static let calendar = ZoneCalendar(offsetSeconds: 0, transitions: [])

    private static func tenant(
        _ id: TenantID,
        plans: [(name: PlanName, limits: [Limit])] = [
            ("free", limits), ("pro", [Limit(.requestsPerMinute, quantity: 500)]),
        ]
    ) -> AdminTenant {
        AdminTenant(
            id: id, zone: "UTC", calendar: self.calendar, defaultPlan: "free", guestPlan: nil, plans: plans)
    }

    private static func entry(_ token: String, _ one: Operator) -> (digest: [UInt8], operator: Operator) {
        (SHA256Digest(of: Array(token.utf8).span).bytes, one)
    }

    static let view = AdminView(
        generation: 1,
        operators: OperatorTable([
            entry("boss", Operator(name: "boss", role: .operator)), entry("eye", Operator(name: "eye", role: .viewer)),
            entry("bound", Operator(name: "bound", role: .operator, tenants: ["acme"])),
        ]),
        tenants: [
            tenant("acme"), tenant("borealis"),
            // Only another plan than the default counts addresses.
            tenant("drift", plans: [("free", [Limit(.requestsPerMinute, quantity: 5)]), ("guest", limits)]),
            // None of its plans counts addresses.
            tenant("calm", plans: [("free", [Limit(.requestsPerMinute, quantity: 5)])]),
        ])

    /// Serves while the test runs.
    func serve(_ test: (AdminTester) throws -> Void) async throws {
        let snapshots = SnapshotStore(
            GatewaySnapshot(
                generation: 1, authenticator: try .init(.init(issuers: [])), tenants: [], providers: [],
                relay: RelayConfiguration(), labels: LabelTable()))
        let state = ServingState(snapshots: snapshots)
        state.enter(.serving)
        let steering = AdminSteering(
            storeKind: "memory", store: { _ in self.store }, view: { Self.view },
            reload: { _ in
                self.reloads.add(1, ordering: .relaxed)
                return self.outcome.withLock { $0 }
            })
        let metrics = MetricsRegistry(loops: 1, version: "1.2.3", startTime: WallTime(seconds: 1_800_000_000))
        let plane = AdminPlane(readiness: state, metrics: metrics, steering: steering)
        let server = try WebServer(
            address: "127.0.0.1", port: 0, group: Self.loops, configuration: HTTPServerConfiguration(), handler: plane)
        try await withThrowingTaskGroup { tasks in
            tasks.addTask(executorPreference: Self.loops.loops[0]) { await server.run() }
            let result: Result<Void, any Error>
            do { result = .success(try test(AdminTester(port: UInt16(server.port)))) } catch {
                result = .failure(error)
            }
            await server.drain(until: { true }, pause: { Stopwatch.sleep(milliseconds: 5) })
            try await tasks.waitForAll()
            try result.get()
        }
    }

    /// One admitted ask of a subject of `acme`.
    func admit(_ subject: SubjectID, tokens: Int = 100, from address: ByteString = "") async throws -> Admission {
        try await self.store.admit(
            QuotaAsk(
                caller: QuotaCaller(tenant: "acme", subject: subject, address: address), limits: Self.limits,
                calendar: Self.calendar,
                promptEstimate: tokens / 2, outputCap: tokens / 2, request: .random()))
    }
}

/// Calls an admin listener.
struct AdminTester {
    let port: UInt16

    func call(
        _ method: String, _ path: String, _ body: String? = nil, token: String? = "boss",
        headers: [(name: String, value: String)] = []
    ) throws -> HTTPResponse {
        let client = try RawClient(port: self.port)
        defer { client.close() }
        var fields = headers
        if let token { fields.append(("Authorization", "Bearer \(token)")) }
        if body != nil, !headers.contains(where: { $0.name == "Content-Type" }) {
            fields.append(("Content-Type", "application/json"))
        }
        try client.request(method, "/admin/v1" + path, headers: fields, body: body.map { Array($0.utf8) } ?? [])
        let response = try #require(try client.response(toHead: method == "HEAD"))
        #expect(response.header("x-request-id")?.utf8.count == 32)
        #expect(response.header("cache-control") == "no-store")
        if response.status != 200, method != "HEAD" {
            #expect(response.header("content-type") == "application/problem+json")
            #expect(response.json?["status"]?.int == response.status)
            #expect(response.json?["requestId"]?.string == response.header("x-request-id"))
        }
        return response
    }
}

/// A store that answers nothing but a failure.
final class AwayStore: QuotaStore {
    let failure: QuotaFailure
    /// Tenants whose orders were asked for.
    let asked = Mutex<Set<TenantID>>([])
    init(_ failure: QuotaFailure) { self.failure = failure }

    func admit(_ ask: QuotaAsk) async throws(QuotaFailure) -> Admission { throw self.failure }
    func settle(_ settlement: Settlement) async throws(QuotaFailure) -> SettlementResult { throw self.failure }
    func submit(_ settlement: Settlement) {}
    func renew(_ leases: [Lease]) async throws(QuotaFailure) -> [RequestID] { throw self.failure }
    func look(_ question: QuotaQuestion) async throws(QuotaFailure) -> Standing { throw self.failure }
    func apply(
        _ change: OperatorChange, to key: CounterKey, by order: OperatorOrder
    ) async throws(QuotaFailure) -> ChangeResult { throw self.failure }
    func steering(of key: CounterKey) async throws(QuotaFailure) -> VersionedSteering { throw self.failure }
    func leases(of key: CounterKey) async throws(QuotaFailure) -> [LeaseRecord] { throw self.failure }
    func dropLeases(
        of key: CounterKey, request: RequestID?, by order: OperatorOrder
    ) async throws(QuotaFailure) -> LeaseDrop { throw self.failure }
    func audit(_ question: AuditQuestion) async throws(QuotaFailure) -> AuditPage { throw self.failure }
    func order(
        _ order: StandingOrder, in tenant: TenantID, by operator: OperatorOrder
    ) async throws(QuotaFailure) -> OrderResult { throw self.failure }
    func orders(
        _ book: OrderBook, of tenant: TenantID, since version: Int
    ) async throws(QuotaFailure) -> [StandingOrder] {
        self.asked.withLock { _ = $0.insert(tenant) }
        throw self.failure
    }
    func handOver(_ handOver: HandOver) async throws(QuotaFailure) -> HandOverResult { throw self.failure }
    var generation: UInt64 { 0 }
    var refusalMemory: TimeSpan { .seconds(1) }
}

/// Base64url without padding.
func base64URL(_ bytes: [UInt8]) -> [UInt8] { Base64URL.encode(bytes.span) }
