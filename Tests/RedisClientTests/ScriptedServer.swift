import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

/// Listens as a Redis server would, and does with each connection what a test tells it.
final class ScriptedServer: Sendable {
    private let server: LoopbackServer

    /// - Parameter serve: on a thread of each connection; the socket is closed when it returns.
    init(_ serve: @escaping @Sendable (TestSocket) throws -> Void) throws {
        self.server = try LoopbackServer { socket, _ in try serve(socket) }
    }

    /// Takes the greeting, then answers every read with the same bytes.
    convenience init(answering bytes: [UInt8]) throws {
        try self.init { socket in
            try Self.greet(socket)
            while try !socket.receive(within: .seconds(20)).isEmpty { try socket.send(bytes) }
        }
    }

    convenience init(answering text: String) throws { try self.init(answering: Array(text.utf8)) }

    /// Answers whatever it is asked with a port of the loopback interface, as a sentinel names a master.
    static func sentinel(_ port: @escaping @Sendable () -> UInt16) throws -> ScriptedServer {
        try ScriptedServer { socket in
            while try !socket.receive(within: .seconds(20)).isEmpty {
                let digits = "\(port())"
                try socket.send("*2\r\n$9\r\n127.0.0.1\r\n$\(digits.utf8.count)\r\n\(digits)\r\n".utf8)
            }
        }
    }

    /// Answers the `CLIENT SETNAME` that a client without credentials begins with.
    static func greet(_ socket: TestSocket) throws {
        _ = try socket.receive(within: .seconds(20))
        try socket.send("+OK\r\n".utf8)
    }

    /// Closes everything; no connection is taken any more.
    func stop() { self.server.stop() }

    var port: UInt16 { self.server.port }
    var connections: Int { self.server.opened }
    var address: RedisAddress { RedisAddress(host: "127.0.0.1", port: self.port) }
    var settings: RedisSettings {
        RedisSettings(topology: .single(self.address), connectTimeout: .seconds(30), commandTimeout: .seconds(30))
    }
}

/// Uses a scripted server and a client of it.
func withScript(_ server: ScriptedServer, _ body: (TestClient) async throws -> Void) async throws {
    defer { server.stop() }
    try await withClient(server.settings) { try await body($0) }
}
