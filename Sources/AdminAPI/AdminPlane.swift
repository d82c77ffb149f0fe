import GatewayTypes
import HTTPCodec
package import HTTPServer
import JSON
package import Observability
import Quota

/// The handler of the `admin` listener: liveness, readiness and metrics for whoever can reach it, and the admin API for
/// operators.
package struct AdminPlane: HTTPHandler {
    private let readiness: ServingState
    private let metrics: MetricsRegistry
    private let beforeScrape: @Sendable () -> Void
    private let steering: AdminSteering?

    /// - Parameters:
    ///   - steering: what `/admin/v1` acts on; nil for no such paths.
    ///   - beforeScrape: brings gauges up to date that nobody records as they change.
    package init(
        readiness: ServingState, metrics: MetricsRegistry, steering: AdminSteering? = nil,
        beforeScrape: @escaping @Sendable () -> Void = {}
    ) {
        self.readiness = readiness
        self.metrics = metrics
        self.steering = steering
        self.beforeScrape = beforeScrape
    }

    package func handle(_ exchange: Exchange) async {
        let head = exchange.head
        let id = RequestID.random()
        if let answer = Self.routes.first(where: { head.pathIs($0.path) }) {
            guard head.method == .get || head.method == .head else {
                return exchange.send(Self.notAllowed("GET, HEAD"), id)
            }
            return answer.send(self, exchange, id)
        }
        do throws(AdminProblem) {
            let reply = try await self.reply(to: exchange)
            exchange.sendJSON(200, reply.body, id, version: reply.version)
        } catch {
            exchange.send(error, id)
        }
    }

    private static func notAllowed(_ allowed: StaticString) -> AdminProblem {
        var problem = AdminProblem(.methodNotAllowed, "Only \(allowed).")
        problem.allowed = allowed
        return problem
    }

    private func reply(to exchange: Exchange) async throws(AdminProblem) -> AdminReply {
        let head = exchange.head
        guard let steering = self.steering, let route = AdminRoute(head.bytes[head.path]) else {
            throw AdminProblem(.notFound, "There is nothing here.")
        }
        guard route.methods.contains(head.method) else { throw Self.notAllowed(route.allowed) }
        let changes = head.method != .get && head.method != .head
        let call = try AdminCall(exchange, steering, route: route, changes: changes)
        switch route {
        case .status: return call.status(self.readiness)
        case .reload: return try await call.reload()
        case .tenants: return call.tenants()
        case .tenant(let name): return try await call.tenant(try call.tenant(name))
        case .audit(let name): return try await call.audit(try call.tenant(name))
        case .revocations(let name):
            let tenant = try call.tenant(name)
            guard changes else { return try await call.revocations(of: tenant) }
            return head.method == .post
                ? try await call.revoke(in: tenant) : try await call.readmit(in: tenant)
        case .holder(let name, let path, let resource):
            let tenant = try call.tenant(name)
            let key = try call.key(path, of: tenant)
            if resource == .plan { return try await call.changePlan(of: key, tenant) }
            if changes { return try await call.change(resource, of: key) }
            return resource == .leases
                ? try await call.leases(of: key) : try await call.standing(of: key, tenant)
        }
    }

    private struct Entry: Sendable {
        let path: StaticString
        let send: @Sendable (AdminPlane, Exchange, RequestID) -> Void
    }

    private static let routes = [
        Entry(path: "/livez") { _, exchange, id in exchange.sendJSON(200, Array(#"{"status":"alive"}"#.utf8), id) },
        Entry(path: "/readyz") { plane, exchange, id in plane.sendReadiness(to: exchange, id) },
        Entry(path: "/metrics") { plane, exchange, id in plane.sendMetrics(to: exchange, id) },
        Entry(path: "/admin/v1/openapi.yaml") { _, exchange, id in
            exchange.respond(200, body: PackageResources.admin_openapi_yaml) { head in
                MessageWriter.field("content-type", "application/yaml", to: &head)
                Exchange.appendFields(id, to: &head)
            }
        },
    ]

    private func sendReadiness(to exchange: Exchange, _ id: RequestID) {
        let obstacle = self.readiness.obstacle
        var json = JSONWriter()
        json.beginObject()
        json.name("status")
        json.string(obstacle == nil ? "ready" : "not_ready")
        if let obstacle {
            json.name("reason")
            json.string(obstacle)
        }
        let issuers = self.readiness.issuersWithoutKeys
        if obstacle != nil, !issuers.isEmpty {
            json.name("issuers")
            json.beginArray()
            for issuer in issuers { json.string(issuer.string) }
            json.endArray()
        }
        if let degradation = self.readiness.degradation {
            json.name("store")
            json.beginObject()
            json.name("degraded")
            json.string(degradation.reason.metricLabel)
            json.name("sinceEpochSeconds")
            json.integer(Int(degradation.since.seconds))
            json.endObject()
        }
        json.endObject()
        exchange.sendJSON(obstacle == nil ? 200 : 503, json.bytes, id)
    }

    private func sendMetrics(to exchange: Exchange, _ id: RequestID) {
        self.beforeScrape()
        let accept = exchange.head.range(of: .accept).map { String(decoding: exchange.head.bytes[$0], as: UTF8.self) }
        let format = ExpositionFormat(accept: accept ?? "")
        exchange.respond(200, body: self.metrics.exposition(format)) { head in
            MessageWriter.field("content-type", format.contentType, to: &head)
            Exchange.appendFields(id, to: &head)
        }
    }

    package func answer(to failure: HTTPServerFailure, fields: inout [UInt8]) -> [UInt8] {
        let id = RequestID.random()
        MessageWriter.field("content-type", "application/problem+json", to: &fields)
        Exchange.appendFields(id, to: &fields)
        return AdminProblem(failure).body(id)
    }
}

extension Exchange {
    fileprivate func sendJSON(_ status: Int, _ body: [UInt8], _ id: RequestID, version: Int? = nil) {
        self.respond(status, body: body) { head in
            MessageWriter.field("content-type", "application/json", to: &head)
            if let version {
                MessageWriter.append("etag: \"", to: &head)
                Decimal.append(version, to: &head)
                MessageWriter.append("\"\r\n", to: &head)
            }
            Self.appendFields(id, to: &head)
        }
    }

    fileprivate func send(_ problem: AdminProblem, _ id: RequestID) {
        self.respond(problem.status, body: problem.body(id)) { head in
            MessageWriter.field("content-type", "application/problem+json", to: &head)
            problem.appendFields(to: &head)
            if let version = problem.currentVersion {
                MessageWriter.append("etag: \"", to: &head)
                Decimal.append(version, to: &head)
                MessageWriter.append("\"\r\n", to: &head)
            }
            Self.appendFields(id, to: &head)
        }
    }

    /// What every answer carries: its name, and that nobody may keep it.
    fileprivate static func appendFields(_ id: RequestID, to head: inout [UInt8]) {
        MessageWriter.append("x-request-id: ", to: &head)
        id.append(to: &head)
        MessageWriter.append("\r\n", to: &head)
        MessageWriter.field("cache-control", "no-store", to: &head)
    }
}
