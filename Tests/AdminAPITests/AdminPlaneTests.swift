import Authentication
import EventLoops
import Gateway
import GatewayTesting
import GatewayTypes
import HTTPServer
import JSON
import Observability
import Synchronization
import Testing

@testable import AdminAPI

/// The admin listener with what it shows.
private final class Admin: Sendable {
    static let loops = makeLoops()
    let state: ServingState
    let snapshots: SnapshotStore
    let metrics = MetricsRegistry(loops: 1, version: "1.2.3", startTime: WallTime(seconds: 1_800_000_000))
    let scrapes = Atomic(0)

    private static func makeLoops() -> EventLoopGroup {
        do { return try EventLoopGroup(count: 1) } catch { preconditionFailure("no loop to be had: \(error)") }
    }

    init(hasAllKeys: Bool = true) throws {
        self.snapshots = SnapshotStore(try Self.snapshot(hasAllKeys: hasAllKeys))
        self.state = ServingState(snapshots: self.snapshots)
    }

    static func snapshot(hasAllKeys: Bool) throws -> GatewaySnapshot {
        let issuer = IssuerConfiguration(
            issuer: "https://id.example.test", audiences: ["app"], tenant: "notes", keys: nil, defaultPlan: "free")
        return GatewaySnapshot(
            generation: 1, authenticator: try Authenticator(.init(issuers: hasAllKeys ? [] : [issuer])), tenants: [],
            providers: [], relay: RelayConfiguration(), labels: LabelTable())
    }

    /// Serves while the test runs.
    func serve(_ test: (RawClient) throws -> Void) async throws {
        let plane = AdminPlane(readiness: self.state, metrics: self.metrics) { self.scrapes.add(1, ordering: .relaxed) }
        let server = try WebServer(
            address: "127.0.0.1", port: 0, group: Self.loops, configuration: HTTPServerConfiguration(), handler: plane)
        try await withThrowingTaskGroup { tasks in
            tasks.addTask(executorPreference: Self.loops.loops[0]) { await server.run() }
            let result: Result<Void, any Error>
            do { result = .success(try test(try RawClient(port: UInt16(server.port)))) } catch {
                result = .failure(error)
            }
            await server.drain(until: { true }, pause: { Stopwatch.sleep(milliseconds: 5) })
            try await tasks.waitForAll()
            try result.get()
        }
    }
}

extension RawClient {
    fileprivate func ask(_ method: String, _ path: String, accept: String? = nil) throws -> HTTPResponse {
        try self.request(method, path, headers: accept.map { [("Accept", $0)] } ?? [])
        return try #require(try self.response(toHead: method == "HEAD"))
    }
}

@Suite("Admin listener", .ownThread)
struct AdminPlaneTests {
    @Test func `It says that it lives in every phase`() async throws {
        let admin = try Admin(hasAllKeys: false)
        try await admin.serve { client in
            for phase in [ServingState.Phase.starting, .serving, .draining] {
                admin.state.enter(phase)
                let response = try client.ask("GET", "/livez")
                #expect(response.status == 200 && response.text == #"{"status":"alive"}"#)
                #expect(response.header("content-type") == "application/json")
                #expect(response.header("cache-control") == "no-store")
            }
        }
    }

    @Test(
        arguments: [
            (.starting, true, 503, "starting"), (.starting, false, 503, "starting"), (.serving, true, 200, nil),
            (.serving, false, 503, "waiting for keys of an issuer"), (.draining, true, 503, "draining"),
            (.draining, false, 503, "draining"),
        ] as [(ServingState.Phase, Bool, Int, String?)])
    func `It is ready when it serves and has every key`(
        phase: ServingState.Phase, hasAllKeys: Bool, status: Int, reason: String?
    ) async throws {
        let admin = try Admin(hasAllKeys: hasAllKeys)
        admin.state.enter(phase)
        #expect(admin.state.phase == phase)
        try await admin.serve { client in
            let response = try client.ask("GET", "/readyz")
            #expect(response.status == status)
            let json = try #require(response.json)
            #expect(json["status"]?.string == (status == 200 ? "ready" : "not_ready"))
            #expect(json["reason"]?.string == reason)
            #expect(response.header("cache-control") == "no-store")
        }
    }

    @Test func `Readiness follows the snapshot in force`() async throws {
        let admin = try Admin(hasAllKeys: false)
        admin.state.enter(.serving)
        try await admin.serve { client in
            #expect(try client.ask("GET", "/readyz").status == 503)
            admin.snapshots.replace(with: try Admin.snapshot(hasAllKeys: true))
            #expect(try client.ask("GET", "/readyz").status == 200)
        }
    }

    @Test(
        arguments: [
            (nil, "text/plain; version=0.0.4", false), ("text/plain", "text/plain; version=0.0.4", false),
            ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text; version=1.0.0", true),
        ] as [(String?, String, Bool)])
    func `Metrics come in the format asked for, brought up to date`(
        accept: String?, type: String, isOpenMetrics: Bool
    ) async throws {
        let admin = try Admin()
        admin.metrics.background.snapshotApplied(generation: 7)
        try await admin.serve { client in
            let response = try client.ask("GET", "/metrics", accept: accept)
            #expect(response.status == 200)
            #expect(response.header("content-type")?.hasPrefix(type) == true)
            #expect(response.header("cache-control") == "no-store")
            #expect(response.text.hasSuffix("# EOF\n") == isOpenMetrics)
            #expect(response.text.contains("\naskgate_snapshot_generation 7\n"))
            #expect(response.text.contains("1.2.3"))
            #expect(admin.scrapes.load(ordering: .relaxed) == 1)
        }
    }

    @Test(arguments: ["/livez", "/readyz", "/metrics"])
    func `HEAD has no body and other methods are named as not allowed`(path: String) async throws {
        let admin = try Admin()
        admin.state.enter(.serving)
        try await admin.serve { client in
            let head = try client.ask("HEAD", path)
            #expect(head.status == 200 && head.body.isEmpty && head.header("content-length") != "0")
            for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "get"] {
                let response = try client.ask(method, path)
                #expect(response.status == 405 && response.header("allow") == "GET, HEAD")
                #expect(response.header("content-type") == "application/problem+json")
                #expect(response.json?["code"]?.string == "method_not_allowed" && response.json?["status"]?.int == 405)
            }
        }
    }

    @Test(arguments: [
        "/", "/livez/", "/LIVEZ", "//livez", "/%6Civez", "/livez;x", "/livez.json", "/metricsx", "/admin/v1/nothing",
        "/api/process",
    ])
    func `There is nothing anywhere else`(path: String) async throws {
        let admin = try Admin()
        try await admin.serve { client in
            for method in ["GET", "POST"] {
                let response = try client.ask(method, path)
                #expect(response.status == 404 && response.json?["code"]?.string == "not_found")
                #expect(!response.text.contains(path) || path == "/")
            }
        }
    }

    @Test func `A query changes nothing, and a request that cannot be read gets a problem`() async throws {
        let admin = try Admin()
        try await admin.serve { client in
            #expect(try client.ask("GET", "/livez?verbose").status == 200)
            try client.send("GET /livez HTTP/1.1\r\n\r\n")
            let response = try #require(try client.response())
            #expect(response.status == 400 && response.header("content-type") == "application/problem+json")
            #expect(response.json?["status"]?.int == 400)
            #expect(try client.everything().isEmpty)
        }
    }
}
