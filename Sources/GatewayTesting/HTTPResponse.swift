package import GatewayTypes
package import JSON

/// A response as a test sees it.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package var body: [UInt8]

    init(_ message: HTTPMessage) throws(MessageFault) {
        let parts = message.startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "HTTP/1.1", parts[1].utf8.count == 3, let status = Int(parts[1]) else {
            throw .malformed("status line: \(message.startLine)")
        }
        self.status = status
        self.headers = message.headers
        self.body = message.body
    }

    package func header(_ name: String) -> String? { self.headers.first { $0.name.lowercased() == name }?.value }
    package var text: String { String(decoding: self.body, as: UTF8.self) }
    /// The body read as strict JSON; nil when it is none.
    package var json: JSONValue? { (try? JSONDocument(parsing: self.body))?.root }
    /// Head and body as one text, for looking for what must not be in them.
    package var everything: String {
        self.headers.map { "\($0.name): \($0.value)\n" }.joined() + self.text
    }
}

/// One server-sent event, or one comment.
package struct StreamEvent: Sendable {
    /// The `event` field; empty when there was none.
    package var name: String
    /// The `data` lines joined; nil for a comment.
    package var data: String?
    /// The `id` field; nil when there was none.
    package var id: String?
    /// When it was whole, counted from the connection's start.
    package var at: TimeSpan

    package var isComment: Bool { self.data == nil }
    package var json: JSONValue? { self.data.flatMap { try? JSONDocument(parsing: Array($0.utf8)) }?.root }
}

/// Cuts a body into events; lines end in LF, as the gateway writes them.
struct EventLines {
    private var buffer: [UInt8] = []

    var isEmpty: Bool { self.buffer.isEmpty }

    mutating func feed(_ bytes: [UInt8]) { self.buffer += bytes }

    mutating func next(at time: TimeSpan) -> StreamEvent? {
        guard
            let end = self.buffer.indices.dropLast().first(where: { self.buffer[$0] == 10 && self.buffer[$0 + 1] == 10 }
            )
        else { return nil }
        let block = self.buffer[..<end]
        self.buffer.removeFirst(end + 2)
        var event = StreamEvent(name: "", data: nil, id: nil, at: time)
        for line in block.split(separator: 10, omittingEmptySubsequences: false) {
            let text = String(decoding: line, as: UTF8.self)
            if let data = text.removing("data: ") ?? text.removing("data:") {
                event.data = event.data.map { $0 + "\n" + data } ?? data
            } else if let name = text.removing("event: ") {
                event.name = name
            } else if let id = text.removing("id: ") {
                event.id = id
            }
        }
        return event
    }
}

extension String {
    /// The text behind a prefix; nil when it does not start so.
    func removing(_ prefix: String) -> String? {
        self.utf8.starts(with: prefix.utf8) ? String(self.utf8.dropFirst(prefix.utf8.count)) : nil
    }
}
