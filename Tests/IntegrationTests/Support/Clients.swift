import GatewayTesting
import GatewayTypes
import Glibc
import JSON
import Testing

/// Clients that others wrote, run as programs of their own against a gateway.
enum Clients {
    /// Plays one of `Tests/Clients/openai-client.py`; what the library gave its caller.
    static func openAI(
        _ play: String, _ argument: String = "{}", of gateway: TestGateway, as caller: Caller
    ) throws -> JSONValue {
        try self.run(
            LlamaServer.python,
            [
                "Tests/Clients/openai-client.py", "http://127.0.0.1:\(gateway.process.port)/v1", caller.token, play,
                argument,
            ])
    }

    /// Reads a streamed answer with Node's EventSource.
    static func eventSource(
        path: String, body: String, of gateway: TestGateway, as caller: Caller
    ) throws -> JSONValue {
        try self.run(
            self.node,
            [
                "--experimental-eventsource", "--no-warnings", "Tests/Clients/event-source.mjs",
                "http://127.0.0.1:\(gateway.process.port)\(path)", caller.token, body,
            ])
    }

    /// Follows a question with Node's EventSource over a network that breaks so many times, each time at the next of
    /// these gateways.
    static func returningEventSource(
        of question: String, at gateways: [TestGateway], as caller: Caller, losses: Int
    ) throws -> JSONValue {
        let urls = gateways.map { "http://127.0.0.1:\($0.process.port)/v1/questions/\(question)" }
        return try self.run(
            self.node,
            [
                "--experimental-eventsource", "--no-warnings", "Tests/Clients/returning-event-source.mjs",
                urls.joined(separator: ","), caller.token, String(losses),
            ])
    }

    private static var node: String {
        let python = LlamaServer.python
        return (python.utf8.lastIndex(of: 0x2F).map { String(python[...$0]) } ?? "") + "node"
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> JSONValue {
        let (code, output, errors) = try ChildProcess.run(program, arguments, within: .seconds(200))
        try #require(code == 0, "\(arguments) ended with \(String(describing: code)): \(errors)")
        return try JSONDocument(parsing: Array(output.utf8)).root
    }
}

extension JSONValue {
    /// The strings of a list.
    var strings: [String] { self.elements.compactMap(\.string) }
}

extension TestGateway {
    /// Sends a chat completion with one message that holds the marker.
    ///
    /// - Parameter more: further members as JSON, each behind a comma.
    func chat(
        _ marker: String, model: String = "summarize", more: String = "", as caller: Caller? = Caller(),
        headers: [(name: String, value: String)] = []
    ) throws -> HTTPResponse {
        try self.post(
            Self.chatBody(marker, model: model, more: more), as: caller, path: "/v1/chat/completions", headers: headers)
    }

    static func chatBody(_ marker: String, model: String = "summarize", more: String = "") -> String {
        let text = OpenAIShapes.quoted("The harbour opened at dawn. \(marker)")
        return #"{"model":"\#(model)","messages":[{"role":"user","content":\#(text)}]\#(more)}"#
    }

    /// Sends a chat completion and reads its events to whichever end.
    func chatStream(
        _ marker: String, model: String = "summarize", more: String = "", as caller: Caller = Caller()
    ) throws -> ChatStream {
        let client = try self.client()
        try client.request(
            "POST", "/v1/chat/completions", headers: [("Content-Type", "application/json"), caller.authorization],
            body: Array(Self.chatBody(marker, model: model, more: #","stream":true"# + more).utf8))
        var stream = ChatStream(head: try client.head())
        do throws(MessageFault) {
            while let event = try client.event() { stream.events.append(event) }
        } catch {
            stream.isCut = true
        }
        return stream
    }
}

/// A streamed chat completion as it came.
struct ChatStream {
    var head: HTTPResponse
    var events: [StreamEvent] = []
    /// The body ended without its orderly end.
    var isCut = false

    var data: [String] { self.events.compactMap(\.data) }
    var isDone: Bool { self.data.last == "[DONE]" }
    var chunks: [JSONValue] { self.events.compactMap(\.json) }
    var text: String { self.chunks.compactMap { $0["choices"]?[0]?["delta"]?["content"]?.string }.joined() }
    var errors: [JSONValue] { self.chunks.compactMap { $0["error"] } }
}
