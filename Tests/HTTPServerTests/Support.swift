import EventLoops
import GatewayTesting
import GatewayTypes
import HTTPCodec
import HTTPServer
import Testing

extension Box where Value == [String] {
    func note(_ word: String) { self.change { $0.append(word) } }
}

typealias Answering = @Sendable (Exchange) async -> Void

struct TestHandler: HTTPHandler {
    let answering: Answering

    func handle(_ exchange: Exchange) async { await self.answering(exchange) }

    func answer(to failure: HTTPServerFailure, fields: inout [UInt8]) -> [UInt8] {
        MessageWriter.field("content-type", "text/plain", to: &fields)
        return Array(failure.metricLabel.utf8)
    }
}

extension Exchange {
    var path: String { String(decoding: self.head.bytes[self.head.path], as: UTF8.self) }

    func respond(_ status: Int = 200, _ text: String) {
        self.respond(status, body: Array(text.utf8)) { MessageWriter.field("content-type", "text/plain", to: &$0) }
    }

    func beginStream() { self.beginStream(200) { MessageWriter.field("content-type", "text/plain", to: &$0) } }

    func send(_ text: String) {
        self.write { $0.append(contentsOf: text.utf8) }
        self.flush()
    }

    /// Reads the body and tells what became of it.
    func echo(limit: Int = 1 << 20) async {
        do throws(HTTPServerFailure) {
            let body = try await self.readBody(limit: limit)
            self.respond(200, String(decoding: body, as: UTF8.self))
        } catch {
            self.respond(error.status, error.metricLabel)
        }
    }
}

/// A server on loops of its own, and what a test does with it.
final class TestServer: Sendable {
    let server: WebServer
    var port: UInt16 { UInt16(clamping: self.server.port) }

    init(_ server: WebServer) { self.server = server }

    /// - Parameter limit: how long each read may take.
    func client(limit: TimeSpan = .seconds(15), receiveBuffer: Int32? = nil) throws -> RawClient {
        try RawClient(port: self.port, limit: limit, receiveBuffer: receiveBuffer)
    }

    func waitUntilEmpty() -> Bool { Stopwatch.wait(upTo: .seconds(15)) { self.server.openConnections == 0 } }

    /// Ends in good order, with so long for running answers.
    /// - Parameter meanwhile: called again and again while answers run.
    func drain(within limit: TimeSpan, meanwhile: () -> Void = {}) async {
        let watch = Stopwatch()
        await self.server.drain(
            until: { watch.elapsed >= limit },
            pause: {
                meanwhile()
                // Forty pauses are all that answers get after the deadline: long enough for a busy machine.
                Stopwatch.sleep(milliseconds: 50)
            })
    }
}

/// Serves with the handler while the test runs, then ends the server whatever came of it.
///
/// - Parameter loops: of its own, since a flood on one holds up all else there.
func withServer(
    _ change: (inout HTTPServerConfiguration) -> Void = { _ in }, loops: Int = 2,
    answering: @escaping Answering, test: (TestServer) async throws -> Void
) async throws {
    let group = try EventLoopGroup(count: loops)
    defer { group.shutDown() }
    var configuration = HTTPServerConfiguration()
    change(&configuration)
    let server = try WebServer(
        address: "127.0.0.1", port: 0, group: group, configuration: configuration,
        handler: TestHandler(answering: answering))
    try await withThrowingTaskGroup { tasks in
        tasks.addTask(executorPreference: group.loops[0]) { await server.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await test(TestServer(server))) } catch { result = .failure(error) }
        await TestServer(server).drain(within: .seconds(0))
        try await tasks.waitForAll()
        try result.get()
    }
}
