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
    private let listener: TestSocket
    private let state = Mutex(State())

    private struct State {
        var scripts: [ProviderScript] = []
        var connections: [Int: TestSocket] = [:]
        var opened = 0
        var stopped = false
    }

    /// - Parameter rest: what requests without a marker get; the usual answer by default.
    package init(rest: @escaping @Sendable (ProviderCall, Int) -> ProviderReply = { call, _ in .usual(for: call) })
        throws(SocketFailure)
    {
        (self.listener, self.port) = try TestSocket.listen()
        self.rest = ProviderScript(marker: "", reply: rest)
        OwnThread.start { [weak self, listener] in
            while true {
                let socket = listener.accept(within: .milliseconds(100))
                guard let self, !self.state.withLock({ $0.stopped }) else { break }
                if let socket { self.accepted(socket) }
            }
            listener.close()
        }
    }

    deinit { self.stop() }

    /// The base URL of an openai provider in a configuration.
    package var baseURL: String { "http://127.0.0.1:\(self.port)/v1" }
    package var connectionsOpened: Int { self.state.withLock { $0.opened } }

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
        self.state.withLock { $0.scripts.append(script) }
        return script
    }

    /// Every request so far, in no order across scripts.
    package var calls: [ProviderCall] { self.state.withLock { $0.scripts }.flatMap(\.calls) + self.rest.calls }

    /// Closes the listener and every connection.
    package func stop() {
        let connections = self.state.withLock { state in
            state.stopped = true
            return Array(state.connections.values)
        }
        self.listener.interrupt()
        for connection in connections { connection.interrupt() }
    }

    private func accepted(_ socket: TestSocket) {
        let number = self.state.withLock { state in
            defer { state.opened += 1 }
            state.connections[state.opened] = socket
            return state.opened
        }
        OwnThread.start { [self] in
            self.serve(socket, number: number)
            _ = self.state.withLock { $0.connections.removeValue(forKey: number) }
        }
    }

    private func serve(_ socket: TestSocket, number: Int) {
        let reader = MessageReader(socket)
        while let message = try? reader.message(isResponse: false, within: .seconds(120)) {
            let call = ProviderCall(message, connection: number)
            let script = self.state.withLock { $0.scripts }.last { call.bodyText.contains($0.marker) } ?? self.rest
            let reply = script.received(call)
            guard ReplyPlayer(socket: socket, call: call, framing: reply.framing).play(reply) else { break }
        }
        socket.close()
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
