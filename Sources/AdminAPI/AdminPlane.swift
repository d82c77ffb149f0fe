import GatewayTypes
import HTTPCodec
package import HTTPServer
import JSON
package import Observability
import Quota

/// The handler of the `admin` listener: liveness, readiness and metrics.
package struct AdminPlane: HTTPHandler {
    private let readiness: ServingState
    private let metrics: MetricsRegistry
    private let beforeScrape: @Sendable () -> Void

    /// - Parameter beforeScrape: brings gauges up to date that nobody records as they change.
    package init(
        readiness: ServingState, metrics: MetricsRegistry, beforeScrape: @escaping @Sendable () -> Void = {}
    ) {
        self.readiness = readiness
        self.metrics = metrics
        self.beforeScrape = beforeScrape
    }

    package func handle(_ exchange: Exchange) async {
        let head = exchange.head
        guard let answer = Self.routes.first(where: { head.pathIs($0.path) }) else {
            return Self.problem(404, "not_found", "There is nothing here.", exchange)
        }
        guard head.method == .get || head.method == .head else {
            return Self.problem(405, "method_not_allowed", "Only GET and HEAD.", exchange)
        }
        answer.send(self, exchange)
    }

    private struct Entry: Sendable {
        let path: StaticString
        let send: @Sendable (AdminPlane, Exchange) -> Void
    }

    private static let routes = [
        Entry(path: "/livez") { _, exchange in exchange.sendJSON(200, Array(#"{"status":"alive"}"#.utf8)) },
        Entry(path: "/readyz") { plane, exchange in plane.sendReadiness(to: exchange) },
        Entry(path: "/metrics") { plane, exchange in plane.sendMetrics(to: exchange) },
    ]

    private func sendReadiness(to exchange: Exchange) {
        let obstacle = self.readiness.obstacle
        var json = JSONWriter()
        json.beginObject()
        json.name("status")
        json.string(obstacle == nil ? "ready" : "not_ready")
        if let obstacle {
            json.name("reason")
            json.string(obstacle)
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
        exchange.sendJSON(obstacle == nil ? 200 : 503, json.bytes)
    }

    private func sendMetrics(to exchange: Exchange) {
        self.beforeScrape()
        let accept = exchange.head.range(of: .accept).map { String(decoding: exchange.head.bytes[$0], as: UTF8.self) }
        let format = ExpositionFormat(accept: accept ?? "")
        exchange.respond(200, body: self.metrics.exposition(format)) { head in
            MessageWriter.field("content-type", format.contentType, to: &head)
            MessageWriter.field("cache-control", "no-store", to: &head)
        }
    }

    private static func problem(_ status: Int, _ code: String, _ detail: String, _ exchange: Exchange) {
        exchange.respond(status, body: self.problemBody(status, code, detail)) { head in
            MessageWriter.field("content-type", "application/problem+json", to: &head)
            MessageWriter.field("cache-control", "no-store", to: &head)
            if status == 405 { MessageWriter.field("allow", "GET, HEAD", to: &head) }
        }
    }

    private static func problemBody(_ status: Int, _ code: String, _ detail: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("type")
        json.string("about:blank")
        json.name("status")
        json.integer(status)
        json.name("code")
        json.string(code)
        json.name("detail")
        json.string(detail)
        json.endObject()
        return json.bytes
    }

    package func answer(to failure: HTTPServerFailure, fields: inout [UInt8]) -> [UInt8] {
        MessageWriter.field("content-type", "application/problem+json", to: &fields)
        return Self.problemBody(failure.status, "invalid_request", "The request could not be read.")
    }
}

extension Exchange {
    fileprivate func sendJSON(_ status: Int, _ body: [UInt8]) {
        self.respond(status, body: body) { head in
            MessageWriter.field("content-type", "application/json", to: &head)
            MessageWriter.field("cache-control", "no-store", to: &head)
        }
    }
}
