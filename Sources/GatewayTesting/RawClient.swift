package import GatewayTypes

/// An HTTP/1.1 client that sends exactly the bytes it is given and reads strictly; one connection, one thread.
package final class RawClient {
    private let socket: TestSocket
    private let reader: MessageReader
    private let limit: TimeSpan
    private let watch = Stopwatch()
    /// Set while the body of a response is read piece by piece.
    private var body: HTTPMessage.BodyFraming = .none
    private var events = EventLines()

    /// Connects to a port of 127.0.0.1.
    /// - Parameters:
    ///   - limit: how long each read may take.
    ///   - receiveBuffer: bytes the kernel may hold for a client that does not read; nil for its default.
    package init(port: UInt16, limit: TimeSpan = .seconds(20), receiveBuffer: Int32? = nil) throws(MessageFault) {
        do throws(SocketFailure) {
            self.socket = try TestSocket.connect(port: port, receiveBuffer: receiveBuffer)
        } catch {
            throw .socket(error)
        }
        self.reader = MessageReader(self.socket)
        self.limit = limit
    }

    package func send(_ bytes: some Collection<UInt8>) throws(MessageFault) {
        do throws(SocketFailure) { try self.socket.send(bytes, within: self.limit) } catch { throw .socket(error) }
    }

    package func send(_ text: String) throws(MessageFault) { try self.send(text.utf8) }

    /// Sends one request with a Host field, and a Content-Length where there is a body.
    package func request(
        _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) throws(MessageFault) {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: gateway.test\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        try self.send(Array((head + "\r\n").utf8) + (body ?? []))
    }

    /// The next whole response; nil when the peer closed in place of one.
    /// - Parameter toHead: the request was HEAD, so that no body follows.
    package func response(toHead: Bool = false) throws(MessageFault) -> HTTPResponse? {
        guard let message = try self.reader.message(isResponse: true, hasBody: false, within: self.limit) else {
            return nil
        }
        var response = try HTTPResponse(message)
        if toHead || response.status == 204 || response.status < 200 { return response }
        switch try message.framing(isResponse: true) {
        case .none: break
        case .length(let count): response.body = try self.reader.take(count, within: self.limit)
        case .untilClose: response.body = try self.reader.takeAll(within: self.limit)
        case .chunked: while let chunk = try self.reader.chunk(within: self.limit) { response.body += chunk }
        }
        return response
    }

    /// The head of the next response; its body is then read with `event()` or `piece()`.
    package func head() throws(MessageFault) -> HTTPResponse {
        guard let message = try self.reader.message(isResponse: true, hasBody: false, within: self.limit) else {
            throw .truncated
        }
        self.body = try message.framing(isResponse: true)
        self.events = EventLines()
        return try HTTPResponse(message)
    }

    /// The next piece of the body as it came; nil at its end.
    package func piece() throws(MessageFault) -> [UInt8]? {
        switch self.body {
        case .none: return nil
        case .length(let count):
            self.body = .none
            return try self.reader.take(count, within: self.limit)
        case .chunked:
            let chunk = try self.reader.chunk(within: self.limit)
            if chunk == nil { self.body = .none }
            return chunk
        case .untilClose: return try self.reader.takeSome(within: self.limit)
        }
    }

    /// The next event of a streamed body; nil at its orderly end.
    package func event() throws(MessageFault) -> StreamEvent? {
        while true {
            if let event = self.events.next(at: self.watch.elapsed) { return event }
            guard let piece = try self.piece() else {
                guard self.events.isEmpty else { throw .truncated }
                return nil
            }
            self.events.feed(piece)
        }
    }

    /// Every event that is still to come.
    package func allEvents() throws(MessageFault) -> [StreamEvent] {
        var all: [StreamEvent] = []
        while let event = try self.event() { all.append(event) }
        return all
    }

    /// Everything that still comes until the peer closes.
    package func everything() throws(MessageFault) -> [UInt8] { try self.reader.takeAll(within: self.limit) }

    /// Whether the peer closes within the time; bytes that come meanwhile are dropped.
    package func isClosed(within limit: TimeSpan = .seconds(3)) -> Bool {
        let watch = Stopwatch()
        while watch.elapsed < limit {
            do throws(SocketFailure) {
                if try self.socket.receive(within: limit - watch.elapsed).isEmpty { return true }
            } catch {
                return error != .timedOut
            }
        }
        return false
    }

    /// Whether something has come that was not read yet.
    package var hasInput: Bool { self.socket.hasInput }

    /// Whether the peer has closed by now; takes nothing from the connection.
    package var isClosedByPeer: Bool { self.socket.isClosedByPeer }

    /// Says that nothing more will be sent; reading goes on.
    package func finish() { self.socket.finish() }

    /// Leaves; with `reset` the peer gets a TCP reset.
    package func close(reset: Bool = false) { self.socket.close(reset: reset) }
}
