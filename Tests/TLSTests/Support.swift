import GatewayTesting
import GatewayTypes
import Testing

@testable import TLS

/// OpenSSL's own server, which sends back each line reversed.
final class ReversingServer: Sendable {
    struct NotStarted: Error {}

    let port: UInt16
    private let process: ChildProcess

    init(_ pair: RedisCertificates.Pair, _ options: [String] = []) throws {
        self.port = try TestSocket.freePort()
        self.process = try ChildProcess(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(self.port)", "-cert", pair.certificate, "-key", pair.key, "-rev",
                "-quiet",
            ] + options)
        let port = self.port
        let isUp = Stopwatch.wait(upTo: .seconds(10)) { (try? TestSocket.connect(port: port)) != nil }
        guard isUp else { throw NotStarted() }
    }

    deinit { self.process.signal(9) }
}

/// A session and the socket that it speaks over; waits for everything.
final class TLSLine {
    let session: TLSClientSession
    private let socket: TestSocket
    private(set) var received: [UInt8] = []

    init(_ settings: TLSClientSettings, host: String = "localhost", port: UInt16) throws {
        self.session = try TLSClientSession(try TLSClientContext(settings), host: host)
        self.socket = try TestSocket.connect(port: port)
        try self.session.start()
        try self.flush()
    }

    private func flush() throws {
        var output: [UInt8] = []
        self.session.takeOutput { output += $0 }
        try self.socket.send(output)
    }

    /// Reads once, and hands the bytes on in pieces of a size.
    func receive(pieces: Int = .max) throws {
        let bytes = try self.socket.receive(within: .seconds(10))
        guard !bytes.isEmpty else { throw ReversingServer.NotStarted() }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            // What the session has to say is sent also when it ends so.
            defer { try? self.flush() }
            try piece.withUnsafeBytes { try self.session.receive($0) { self.received += $0 } }
        }
    }

    func establish(pieces: Int = .max) throws { while !self.session.isEstablished { try self.receive(pieces: pieces) } }

    func send(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try self.session.send($0) }
        try self.flush()
    }

    /// Sends a line and waits for as many bytes.
    func exchange(_ line: String, pieces: Int = .max) throws -> String {
        self.received = []
        try self.send(Array(line.utf8))
        while self.received.count < line.utf8.count { try self.receive(pieces: pieces) }
        return String(decoding: self.received, as: UTF8.self)
    }
}
