import GatewayTypes
import Synchronization

/// An identity provider under a test's control, on real sockets: key sets, metadata, and every bad day there is.
package final class MiniIssuer: Sendable {
    /// What a path is answered with.
    package enum Answer: Sendable {
        /// A body with status 200 and these further header lines.
        case document(String, fields: [String] = [])
        case status(Int, fields: [String] = [], body: String = "")
        /// Nothing at all, until the client gives up.
        case hang
        /// Promises more than it sends.
        case truncated(String)
        /// A body of so many bytes.
        case bulk(Int)
        /// Decides on each request's own lines.
        case decided(@Sendable (HTTPMessage) -> Answer)

        /// The key set of these mints.
        package static func keys(_ mints: [TokenMint], fields: [String] = []) -> Answer {
            .document(TokenMint.jwks(mints), fields: fields)
        }
    }

    /// What is answered, and what was asked.
    private final class Desk: Sendable {
        let answers = Mutex<[String: Answer]>([:])
        let requests = Mutex<[HTTPMessage]>([])

        func received(_ message: HTTPMessage) -> Answer {
            self.requests.withLock { $0.append(message) }
            let words = message.startLine.split(separator: " ")
            guard words.count == 3, words[0] == "GET" else { return .status(405) }
            return self.answers.withLock { $0[String(words[1])] } ?? .status(404)
        }
    }

    package let port: UInt16
    private let desk: Desk
    private let server: LoopbackServer

    /// Serves a key set at `/keys`, and metadata that names it at the place for `issuer`, which is its own address.
    ///
    /// - Parameter port: zero for any; a stopped issuer's to come back after it.
    package init(_ mints: [TokenMint] = [], on port: UInt16 = 0) throws(SocketFailure) {
        let desk = Desk()
        self.desk = desk
        self.server = try LoopbackServer(on: port) { socket, _ in
            let reader = MessageReader(socket)
            while let message = try? reader.message(isResponse: false, within: .seconds(60)),
                Self.play(desk.received(message), message, on: socket)
            {}
        }
        self.port = self.server.port
        self.answer("/keys", .keys(mints))
        self.answer(Self.metadataPath, .document(self.metadata()))
    }

    package static let metadataPath = "/.well-known/openid-configuration"

    /// The issuer's name and address.
    package var url: String { "http://127.0.0.1:\(self.port)" }
    package var keysURL: String { self.url + "/keys" }
    package var metadataURL: String { self.url + Self.metadataPath }

    /// Metadata with some members changed.
    package func metadata(issuer: String? = nil, keysURL: String? = nil) -> String {
        #"{"issuer":"\#(issuer ?? self.url)","jwks_uri":"\#(keysURL ?? self.keysURL)","subject_types_supported":[]}"#
    }

    /// What a path answers from now on.
    package func answer(_ path: String, _ answer: Answer) { self.desk.answers.withLock { $0[path] = answer } }

    package func publish(_ mints: [TokenMint], fields: [String] = []) {
        self.answer("/keys", .keys(mints, fields: fields))
    }

    /// How often a path was asked for.
    package func fetches(of path: String = "/keys") -> Int { self.requests(of: path).count }

    package func requests(of path: String = "/keys") -> [HTTPMessage] {
        self.desk.requests.withLock { $0 }.filter { $0.startLine == "GET \(path) HTTP/1.1" }
    }

    /// Requests of any kind so far.
    package var requestCount: Int { self.desk.requests.withLock { $0.count } }

    /// Closes the listener and every connection; the port is free soon after.
    package func stop() { self.server.stop() }

    /// Whether the connection may go on.
    private static func play(_ answer: Answer, _ request: HTTPMessage, on socket: TestSocket) -> Bool {
        switch answer {
        case .document(let body, let fields): return self.send(200, fields, Array(body.utf8), on: socket)
        case .status(let status, let fields, let body): return self.send(status, fields, Array(body.utf8), on: socket)
        case .bulk(let count): return self.send(200, [], [UInt8](repeating: 0x20, count: count), on: socket)
        case .decided(let decide): return self.play(decide(request), request, on: socket)
        case .hang:
            _ = try? socket.receive(within: .seconds(60))
            return false
        case .truncated(let body):
            try? socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count + 100)\r\n\r\n\(body)".utf8)
            return false
        }
    }

    private static func send(_ status: Int, _ fields: [String], _ body: [UInt8], on socket: TestSocket) -> Bool {
        let lines = ["HTTP/1.1 \(status) Whatever"] + fields + (status == 304 ? [] : ["Content-Length: \(body.count)"])
        let head = lines.joined(separator: "\r\n") + "\r\n\r\n"
        return (try? socket.send(Array(head.utf8) + (status == 304 ? [] : body))) != nil
    }
}
