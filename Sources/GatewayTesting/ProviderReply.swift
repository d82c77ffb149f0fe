import GatewayTypes

/// One thing a scripted provider does after its response head.
package enum ProviderStep: Sendable {
    /// One write; one chunk where the framing is chunked.
    case send([UInt8])
    /// One write for every `every` bytes.
    case split([UInt8], every: Int)
    /// The same bytes `times` times, many to a write.
    case flood([UInt8], times: Int)
    /// Silence; ends the reply when the peer closes.
    case hold(milliseconds: Int)
    /// Silence until the test opens the gate; ends the reply when the peer closes.
    case wait(Gate)
    /// Closes at once, the last chunk sent first.
    case finish
    /// Closes at once in an orderly way with the body unfinished.
    case cut
    /// Closes at once with a TCP reset.
    case reset

    package static func send(_ text: String) -> Self { .send(Array(text.utf8)) }
    package static func split(_ text: String, every count: Int) -> Self { .split(Array(text.utf8), every: count) }
    package static func flood(_ text: String, times: Int) -> Self { .flood(Array(text.utf8), times: times) }
}

/// What a scripted provider answers to one request.
package struct ProviderReply: Sendable {
    package enum Framing: Sendable {
        case chunked
        /// Content-Length over all that is sent; the head goes out first.
        case length
        /// Neither: the body ends with the connection, or there is none.
        case none
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var framing: Framing
    package var steps: [ProviderStep]
    /// Milliseconds before the head goes out; the reply ends when the peer closes meanwhile.
    package var delay: Int

    package init(
        status: Int = 200, headers: [(name: String, value: String)] = [], framing: Framing = .length,
        steps: [ProviderStep] = [], delay: Int = 0
    ) {
        self.status = status
        self.headers = headers
        self.framing = framing
        self.steps = steps
        self.delay = delay
    }

    /// A whole body with its length and media type.
    package static func body(
        _ text: String, status: Int = 200, type: String? = "application/json",
        headers: [(name: String, value: String)] = [], delay: Int = 0
    ) -> Self {
        let type = type.map { [(name: "Content-Type", value: $0)] } ?? []
        return Self(status: status, headers: type + headers, steps: [.send(text)], delay: delay)
    }

    /// A chunked event stream.
    package static func events(_ steps: [ProviderStep], headers: [(name: String, value: String)] = []) -> Self {
        Self(
            headers: [(name: "Content-Type", value: "text/event-stream; charset=utf-8")] + headers,
            framing: .chunked, steps: steps)
    }

    /// The head as it goes out.
    var head: [UInt8] {
        var text = "HTTP/1.1 \(self.status) Scripted\r\n"
        for (name, value) in self.headers { text += "\(name): \(value)\r\n" }
        switch self.framing {
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .length: text += "Content-Length: \(self.length)\r\n"
        case .none: break
        }
        return Array((text + "\r\n").utf8)
    }

    private var length: Int {
        self.steps.reduce(0) { sum, step in
            switch step {
            case .send(let bytes), .split(let bytes, _): sum + bytes.count
            case .flood(let bytes, let times): sum + bytes.count * times
            case .hold, .wait, .finish, .cut, .reset: sum
            }
        }
    }
}
