import GatewayTesting
import GatewayTypes
import JSON
import Testing

@testable import Asking

@Suite("The anthropic dialect")
struct AnthropicTests {
    private typealias Shapes = AnthropicShapes

    // MARK: Requests

    private func body(_ request: AskRequest, _ options: Provider.CallOptions = .init()) -> String {
        String(decoding: AnthropicRequest.body(for: request, options: options), as: UTF8.self)
    }

    @Test func `A call holds what the server decided and nothing else`() {
        let start =
            #"{"model":"m-small","max_tokens":42,"system":"Be brief.","#
            + #""messages":[{"role":"user","content":"Hi"}]"#
        #expect(self.body(.sample("Hi", cap: 42, stream: false)) == start + #","temperature":0.5}"#)
        #expect(self.body(.sample("Hi", cap: 42)) == start + #","temperature":0.5,"stream":true}"#)
        #expect(self.body(.sample("Hi", cap: 42), .init(sendsTemperature: false)) == start + #","stream":true}"#)
    }

    @Test func `What the dialect refuses is not sent`() throws {
        var request = AskRequest.sample("Hi", cap: 0)
        request.temperature = 1.7
        request.prompt.system = []
        let root = try JSONDocument(parsing: Array(self.body(request).utf8)).root
        #expect(root["temperature"]?.number == 1)
        #expect(root["max_tokens"]?.int == 1)
        #expect(root["system"] == nil)
    }

    @Test func `Text cannot leave its place`() throws {
        let text = "\"}],\"model\":\"other\"\\ \u{0} \u{1F} \u{7F} \u{2028} سلام 👩‍👩‍👧 \r\n\t"
        let root = try JSONDocument(parsing: Array(self.body(.sample(text)).utf8)).root
        #expect(root["model"]?.string == "m-small" && root["messages"]?.count == 1)
        #expect(root["messages"]?[0]?["content"]?.string == text)
    }

    // MARK: Whole answers

    @Test(arguments: [
        Wire("usual", Shapes.message("Hello"), text: "Hello", usage: .reported(10, 5), finish: .stop),
        Wire(
            "blocks of several kinds",
            #"{"content":[{"type":"thinking","thinking":"hm","text":"no"},{"type":"text","text":"a "},"#
                + #"{"type":"tool_use","input":{}},{"type":"text","text":"b"},7,null,{"type":"text","text":null}],"#
                + #""stop_reason":"end_turn"}"#, text: "a b", finish: .stop),
        Wire(
            "cached input",
            Shapes.message(
                "a",
                usage: #"{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"#
                    + #""output_tokens":7}"#), text: "a", usage: .reported(123, 7, cached: 100), finish: .stop),
        Wire("withheld", #"{"content":[],"stop_reason":"refusal","usage":null}"#, finish: .refusal),
        Wire("no reason", #"{"content":[{"type":"text","text":"a"}],"stop_reason":null}"#, text: "a", finish: .other),
        Wire("one side of usage", Shapes.message("a", usage: #"{"input_tokens":4}"#), text: "a", finish: .stop),
        Wire(
            "usage that is none", Shapes.message("a", usage: #"{"input_tokens":"4","output_tokens":-1}"#), text: "a",
            finish: .stop),
        Wire("no content", #"{"type":"message","stop_reason":"end_turn"}"#, failure: .unusableAnswer),
        Wire("content that is text", #"{"content":"Hello"}"#, failure: .unusableAnswer),
        Wire("an array", "[]", failure: .unusableAnswer), Wire("nothing", "", failure: .unusableAnswer),
        Wire("a page", "<html>Log in</html>", failure: .unusableAnswer),
        Wire("half a body", String(Shapes.message("Hello").dropLast(9)), failure: .unusableAnswer),
        Wire("an error", #"{"type":"error","error":{"type":"api_error","message":"x"}}"#, failure: .serverError),
        Wire(
            "an overload", #"{"type":"error","error":{"type":"overloaded_error"}}"#,
            failure: .overloaded(retryAfterSeconds: nil)),
        Wire("an error without a type", #"{"error":"boom"}"#, failure: .serverError),
    ])
    func `A whole answer is read by its members`(wire: Wire) { wire.check(.anthropic, streams: false) }

    static let reasons: [(String, FinishReason)] = [
        ("end_turn", .stop), ("stop_sequence", .stop), ("max_tokens", .length),
        ("model_context_window_exceeded", .length), ("refusal", .refusal), ("tool_use", .toolCalls),
        ("pause_turn", .other), ("to_come", .other),
    ]

    @Test(arguments: reasons)
    func `Every stop reason has its meaning, whole and streamed`(word: String, reason: FinishReason) {
        Wire("", Shapes.message("a", stop: word), text: "a", usage: .reported(10, 5), finish: reason)
            .check(.anthropic, streams: false)
        let stream = Shapes.start() + Shapes.text("a") + Shapes.delta(word) + Shapes.stop
        Wire("", stream, text: "a", usage: .reported(10, 5), finish: reason).check(.anthropic, streams: true)
    }

    // MARK: Streams

    private static let words = ["سلام، ", "ca", "fe\u{301} ", "👩‍👩‍👧 ", "\u{FEFF}z\u{2028}\u{85}y"]
    private static let usual = Shapes.stream(words).joined()

    @Test(arguments: [
        Wire("usual", usual, text: words.joined(), usage: .reported(10, 5), finish: .stop),
        Wire(
            "CR LF", usual.replacing("\n", with: "\r\n"), text: words.joined(), usage: .reported(10, 5), finish: .stop),
        Wire(
            "without type lines",
            usual.split(separator: "\n\n").map { $0.split(separator: "\n").last.map { "\($0)\n\n" } ?? "" }.joined(),
            text: words.joined(), usage: .reported(10, 5), finish: .stop),
        Wire(
            "type lines alone",
            "event: content_block_delta\ndata: {\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"
                + "event: message_stop\ndata: {}\n\n", text: "a"),
        Wire(
            "events that do not matter",
            ": hello\n\n" + Shapes.start() + Shapes.event("ping") + Shapes.event("to_come", #""delta":{"text":"no"}"#)
                + Shapes.event("content_block_delta", #""delta":{"type":"thinking_delta","thinking":"no"}"#)
                + Shapes.event("content_block_delta", #""delta":{"type":"signature_delta","signature":"no"}"#)
                + Shapes.event("content_block_delta", #""delta":{"type":"input_json_delta","partial_json":"no"}"#)
                + Shapes.event("content_block_delta", #""delta":null"#) + Shapes.event("content_block_delta")
                + "data: []\n\ndata: 7\n\ndata: null\n\ndata: {\"type\":7}\n\n" + Shapes.text("a") + Shapes.text("")
                + Shapes.delta() + Shapes.stop, text: "a", usage: .reported(10, 5), finish: .stop),
        Wire(
            "text in the start of a block",
            Shapes.event("content_block_start", #""content_block":{"type":"text","text":"a"}"#) + Shapes.text("b")
                + Shapes.stop, text: "ab"),
        Wire(
            "an end of another dialect",
            Shapes.start() + Shapes.text("a") + "data: [DONE]\n\n" + Shapes.text("b")
                + Shapes.delta() + Shapes.stop + "data: [DONE]\n\n", text: "ab", usage: .reported(10, 5), finish: .stop),
        Wire(
            "text behind the end",
            Shapes.start() + Shapes.text("a") + Shapes.delta() + Shapes.stop
                + Shapes.text("never") + "data: nonsense\n\n", text: "a", usage: .reported(10, 5), finish: .stop),
    ])
    func `Text, reason and end are found in every form`(wire: Wire) { wire.check(.anthropic, streams: true) }

    private static func counted(_ start: String, _ deltas: String...) -> String {
        Shapes.start(start) + Shapes.text("a") + deltas.map { Shapes.delta(usage: $0) }.joined() + Shapes.stop
    }

    @Test(arguments: [
        Wire(
            "the sum so far replaces what was told before",
            counted(#"{"input_tokens":31,"output_tokens":2}"#, #"{"output_tokens":12}"#), usage: .reported(31, 12)),
        Wire(
            "told again",
            counted(#"{"input_tokens":31,"output_tokens":2}"#, #"{"input_tokens":31,"output_tokens":12}"#),
            usage: .reported(31, 12)),
        Wire(
            "two reports",
            counted(#"{"input_tokens":31,"output_tokens":2}"#, #"{"output_tokens":5}"#, #"{"output_tokens":12}"#),
            usage: .reported(31, 12)),
        Wire(
            "cached",
            counted(
                #"{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}"#,
                #"{"output_tokens":7}"#), usage: .reported(123, 7, cached: 100)),
        Wire(
            "only at the end",
            counted(#"{"input_tokens":0,"output_tokens":0}"#, #"{"input_tokens":31,"output_tokens":12}"#),
            usage: .reported(31, 12)),
        Wire(
            "empty at the end",
            counted(#"{"input_tokens":31,"output_tokens":2}"#, #"{"input_tokens":0,"output_tokens":12}"#),
            usage: .reported(31, 12)),
        Wire("nowhere", counted("null", "null")),
        Wire(
            "odd numbers",
            counted(
                #"{"input_tokens":3.1e1,"output_tokens":-2}"#,
                #"{"input_tokens":18446744073709551616,"output_tokens":12.0}"#), usage: .reported(31, 12)),
    ])
    func `Usage is the last sum of each side`(wire: Wire) {
        let whole = Wire(wire.testDescription, wire.body, text: "a", usage: wire.usage, finish: .stop)
        whole.check(.anthropic, streams: true)
    }

    @Test(arguments: [
        Wire("nothing", "", failure: .incomplete),
        Wire(
            "no end", Shapes.start() + Shapes.text("half "), text: "half ", failure: .incomplete,
            usage: .reported(10, 1)),
        Wire(
            "a reason and no end", Shapes.start() + Shapes.text("half ") + Shapes.delta(), text: "half ",
            failure: .incomplete, usage: .reported(10, 5)),
        Wire(
            "an end without its empty line",
            Shapes.start() + Shapes.text("a") + Shapes.delta() + Shapes.stop.dropLast(),
            text: "a", failure: .incomplete, usage: .reported(10, 5)),
        Wire("garbage", Shapes.text("a") + "data: {\"type\":\n\n" + Shapes.stop, text: "a", failure: .unusableAnswer),
        Wire("too deep", "data: \(String(repeating: "[", count: 100_000))\n\n", failure: .unusableAnswer),
        Wire("bare JSON", #"{"type":"error","error":{"type":"overloaded_error"}}"#, failure: .incomplete),
        Wire("another dialect's error", "data: {\"error\":{\"message\":\"no\"}}\n\n", failure: .errorInStream),
        Wire("an error without its object", Shapes.event("error"), failure: .errorInStream),
    ])
    func `A broken stream is told as one, and keeps what came before`(wire: Wire) {
        wire.check(.anthropic, streams: true)
    }

    @Test(
        arguments: [
            ("overloaded_error", .overloaded(retryAfterSeconds: nil)),
            ("rate_limit_error", .rateLimited(retryAfterSeconds: nil)), ("authentication_error", .credentialsRefused),
            ("permission_error", .credentialsRefused), ("billing_error", .credentialsRefused),
            ("timeout_error", .totalTimeout), ("invalid_request_error", .requestRefused),
            ("not_found_error", .notOffered), ("request_too_large", .contextTooLong),
            ("api_error", .errorInStream), ("to_come", .errorInStream),
        ] as [(String, ProviderFailure)])
    func `An error in a stream says what failed, first or behind text`(type: String, failure: ProviderFailure) {
        Wire("", Shapes.error(type), failure: failure).check(.anthropic, streams: true)
        let behind = Shapes.start() + Shapes.text("a") + Shapes.error(type) + Shapes.stop
        Wire("", behind, text: "a", failure: failure, usage: .reported(10, 1)).check(.anthropic, streams: true)
    }
}
