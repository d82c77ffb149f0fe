import GatewayTypes

/// Takes HTTP/1.1 messages from a socket, holding what came too early.
final class MessageReader {
    let socket: TestSocket
    private(set) var buffer: [UInt8] = []

    init(_ socket: TestSocket) { self.socket = socket }

    /// Bytes up to and with the pattern; nil when the peer closed before any byte came.
    func take(through pattern: [UInt8], within limit: TimeSpan) throws(MessageFault) -> [UInt8]? {
        let watch = Stopwatch()
        var looked = 0
        while true {
            if let end = self.find(pattern, from: looked) {
                let taken = Array(self.buffer[..<end])
                self.buffer.removeFirst(end)
                return taken
            }
            looked = max(0, self.buffer.count - pattern.count + 1)
            guard try self.fill(within: limit - watch.elapsed) else {
                if self.buffer.isEmpty { return nil }
                throw .truncated
            }
        }
    }

    /// Exactly so many bytes.
    func take(_ count: Int, within limit: TimeSpan) throws(MessageFault) -> [UInt8] {
        let watch = Stopwatch()
        while self.buffer.count < count {
            guard try self.fill(within: limit - watch.elapsed) else { throw .truncated }
        }
        let taken = Array(self.buffer[..<count])
        self.buffer.removeFirst(count)
        return taken
    }

    /// Whatever comes next; nil at the end of the connection.
    func takeSome(within limit: TimeSpan) throws(MessageFault) -> [UInt8]? {
        if self.buffer.isEmpty { guard try self.fill(within: limit) else { return nil } }
        defer { self.buffer = [] }
        return self.buffer
    }

    /// Everything up to the end of the connection.
    func takeAll(within limit: TimeSpan) throws(MessageFault) -> [UInt8] {
        let watch = Stopwatch()
        while try self.fill(within: limit - watch.elapsed) {}
        defer { self.buffer = [] }
        return self.buffer
    }

    /// One message; nil when the peer closed in place of one.
    func message(isResponse: Bool, hasBody: Bool = true, within limit: TimeSpan) throws(MessageFault) -> HTTPMessage? {
        let watch = Stopwatch()
        guard let head = try self.take(through: [13, 10, 13, 10], within: limit) else { return nil }
        var message = try HTTPMessage(head: head)
        guard hasBody else { return message }
        switch try message.framing(isResponse: isResponse) {
        case .none: break
        case .length(let count): message.body = try self.take(count, within: limit - watch.elapsed)
        case .untilClose: message.body = try self.takeAll(within: limit - watch.elapsed)
        case .chunked:
            while let chunk = try self.chunk(within: limit - watch.elapsed) { message.body += chunk }
        }
        return message
    }

    /// The next chunk of a chunked body; nil for the last one.
    func chunk(within limit: TimeSpan) throws(MessageFault) -> [UInt8]? {
        guard let line = try self.take(through: [13, 10], within: limit) else { throw .truncated }
        let text = String(decoding: line.dropLast(2), as: UTF8.self)
        guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "f") ~= $0 }),
            let size = Int(text, radix: 16)
        else { throw .malformed("chunk size \(text)") }
        let data = try self.take(size, within: limit)
        guard try self.take(2, within: limit) == [13, 10] else { throw .malformed("no CRLF after a chunk") }
        return size == 0 ? nil : data
    }

    /// False when the peer has closed.
    private func fill(within limit: TimeSpan) throws(MessageFault) -> Bool {
        do throws(SocketFailure) {
            let bytes = try self.socket.receive(within: limit)
            self.buffer += bytes
            return !bytes.isEmpty
        } catch {
            throw .socket(error)
        }
    }

    private func find(_ pattern: [UInt8], from start: Int) -> Int? {
        guard self.buffer.count >= pattern.count else { return nil }
        for index in start...(self.buffer.count - pattern.count) where self.buffer[index] == pattern[0] {
            if self.buffer[index..<index + pattern.count].elementsEqual(pattern) { return index + pattern.count }
        }
        return nil
    }
}
