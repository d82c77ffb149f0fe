package import GatewayTypes
import Synchronization

/// An upstream that plays scripts byte for byte on real sockets, each connection on a thread of its own.
///
/// Tests that run side by side share one provider: each registers a script under a marker and puts the marker into
/// the text it asks, and the provider plays the script whose marker it finds in the request.
package final class FakeProvider: Sendable {
    package let port: UInt16
    /// Requests that matched no marker.
    package let rest: ProviderScript
    private let scripts: Scripts
    private let server: LoopbackServer

    /// In the order in which they came.
    private final class Scripts: Sendable {
        let all = Mutex<[ProviderScript]>([])
    }

    /// - Parameter rest: what requests without a marker get; the usual answer by default.
    package init(rest: @escaping @Sendable (ProviderCall, Int) -> ProviderReply = { call, _ in .usual(for: call) })
        throws(SocketFailure)
    {
        let scripts = Scripts()
        let rest = ProviderScript(marker: "", reply: rest)
        self.scripts = scripts
        self.rest = rest
        self.server = try LoopbackServer { socket, number in
            Self.serve(socket, number: number) { call in
                scripts.all.withLock { $0 }.last { call.bodyText.contains($0.marker) } ?? rest
            }
        }
        self.port = self.server.port
    }

    deinit { self.stop() }

    /// The base URL of an openai provider in a configuration.
    package var baseURL: String { "http://127.0.0.1:\(self.port)/v1" }
    package var connectionsOpened: Int { self.server.opened }

    /// Plays replies for requests that hold the marker: the n-th gets the n-th reply, the last one repeats.
    package func script(_ marker: String, _ replies: ProviderReply...) -> ProviderScript {
        self.script(marker) { call, index in
            replies.isEmpty ? .usual(for: call) : replies[min(index, replies.count - 1)]
        }
    }

    /// Plays what the function decides for requests that hold the marker; it is given each request's number from 0.
    package func script(
        _ marker: String, reply: @escaping @Sendable (ProviderCall, Int) -> ProviderReply
    ) -> ProviderScript {
        let script = ProviderScript(marker: marker, reply: reply)
        self.scripts.all.withLock { $0.append(script) }
        return script
    }

    /// Every request so far, in no order across scripts.
    package var calls: [ProviderCall] { self.scripts.all.withLock { $0 }.flatMap(\.calls) + self.rest.calls }

    /// Closes the listener and every connection.
    package func stop() { self.server.stop() }

    private static func serve(_ socket: TestSocket, number: Int, script: (ProviderCall) -> ProviderScript) {
        let reader = MessageReader(socket)
        while let message = try? reader.message(isResponse: false, within: .seconds(120)) {
            let call = ProviderCall(message, connection: number)
            let reply = script(call).received(call)
            guard ReplyPlayer(socket: socket, call: call, framing: reply.framing).play(reply) else { break }
        }
    }
}

/// One script of a fake provider, and the requests that got it.
package final class ProviderScript: Sendable {
    let marker: String
    private let reply: @Sendable (ProviderCall, Int) -> ProviderReply
    private let received = Mutex<[ProviderCall]>([])

    init(marker: String, reply: @escaping @Sendable (ProviderCall, Int) -> ProviderReply) {
        self.marker = marker
        self.reply = reply
    }

    package var calls: [ProviderCall] { self.received.withLock { $0 } }

    /// Waits until so many requests have come; nil for the last of them when they did not in time.
    @discardableResult
    package func waitForCall(_ number: Int = 1, within limit: TimeSpan = .seconds(10)) -> ProviderCall? {
        let came = Stopwatch.wait(upTo: limit) { self.calls.count >= number }
        return came ? self.calls[number - 1] : nil
    }

    func received(_ call: ProviderCall) -> ProviderReply {
        let index = self.received.withLock { calls in
            calls.append(call)
            return calls.count - 1
        }
        return self.reply(call, index)
    }
}
