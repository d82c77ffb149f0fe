package import GatewayTypes
package import JSON
import Synchronization

/// One request that a scripted provider received, and how it ended.
package final class ProviderCall: Sendable {
    /// How the provider's side of a call ended.
    package enum End: Sendable, Equatable {
        /// The whole reply went out.
        case sent
        /// The peer went away first.
        case peerClosed
        /// The script closed the connection.
        case closed
    }

    package let method: String
    package let target: String
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// Counts connections from 0; two calls with one number came over the same connection.
    package let connection: Int
    private let watch = Stopwatch()
    private let state = Mutex<(end: End?, at: TimeSpan, sent: Int)>((nil, .seconds(0), 0))

    init(_ message: HTTPMessage, connection: Int) {
        let line = message.startLine.split(separator: " ", maxSplits: 2).map(String.init)
        self.method = line.first ?? ""
        self.target = line.count > 1 ? line[1] : ""
        self.headers = message.headers
        self.body = message.body
        self.connection = connection
    }

    package func header(_ name: String) -> String? { self.headers.first { $0.name.lowercased() == name }?.value }

    /// The body read as JSON; nil when it is none.
    package var json: JSONValue? { (try? JSONDocument(parsing: self.body))?.root }
    package var bodyText: String { String(decoding: self.body, as: UTF8.self) }
    package var wantsStream: Bool { self.json?["stream"]?.bool == true }

    /// The content of the last message, which is the user's.
    package var userText: String? {
        guard let messages = self.json?["messages"], messages.count > 0 else { return nil }
        return messages[messages.count - 1]?["content"]?.string
    }

    package var end: End? { self.state.withLock { $0.end } }
    /// Bytes of the reply handed to the kernel so far, framing included.
    package var bytesSent: Int { self.state.withLock { $0.sent } }

    /// Waits for the end; nil when it did not come in time.
    package func waitForEnd(within limit: TimeSpan = .seconds(10)) -> End? {
        _ = Stopwatch.wait(upTo: limit) { self.end != nil }
        return self.end
    }

    func ended(_ end: End) {
        self.state.withLock { state in
            guard state.end == nil else { return }
            state.end = end
            state.at = self.watch.elapsed
        }
    }

    func sent(_ count: Int) { self.state.withLock { $0.sent += count } }
}
