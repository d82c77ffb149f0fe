import EventLoops
import GatewayTypes
import HTTPServer

struct Hello: HTTPHandler {
    func handle(_ exchange: Exchange) async {
        let body = (try? await exchange.readBody(limit: 65536)) ?? []
        exchange.respond(200, contentType: "application/json", body: body)
    }
    func answer(to failure: HTTPServerFailure) -> (contentType: StaticString, body: [UInt8]) { ("text/plain", Array("\(failure)".utf8)) }
}

@main enum Program {
    static func main() async throws {
        let group = try EventLoopGroup(count: 1)
        let server = try WebServer(address: "127.0.0.1", port: 18080, group: group, configuration: HTTPServerConfiguration(), handler: Hello())
        await withTaskGroup { tasks in
            tasks.addTask(executorPreference: group.loops[0]) { await server.run() }
        }
    }
}
