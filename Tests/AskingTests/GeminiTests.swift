import GatewayTesting
import GatewayTypes
import JSON
import Testing

@testable import Asking

@Suite("The gemini dialect")
struct GeminiTests {
    private typealias Shapes = GeminiShapes

    // MARK: Requests

    private func body(_ request: AskRequest, _ options: Provider.CallOptions = .init()) -> String {
        String(decoding: GeminiRequest.body(for: request, options: options), as: UTF8.self)
    }

    @Test(arguments: [true, false])
    func `A call holds what the server decided and nothing else`(stream: Bool) {
        let start =
            #"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"#
            + #""contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"#
        let request = AskRequest.sample("Hi", cap: 42, stream: stream)
        #expect(self.body(request) == start + #""temperature":0.5,"maxOutputTokens":42}}"#)
        #expect(self.body(request, .init(sendsTemperature: false)) == start + #""maxOutputTokens":42}}"#)
    }

    @Test func `Text cannot leave its place`() throws {
        let text = "\"}]}],\"systemInstruction\":{\\ \u{0} \u{7F} \u{2028} سلام 👩‍👩‍👧 \r\n\t"
        var request = AskRequest.sample(text)
        request.prompt.system = []
        let root = try JSONDocument(parsing: Array(self.body(request).utf8)).root
        #expect(root["systemInstruction"] == nil && root["contents"]?.count == 1)
        #expect(root["contents"]?[0]?["parts"]?[0]?["text"]?.string == text)
    }

    // MARK: Whole answers and streams alike

    private static let words = ["سلام، ", "ca", "fe\u{301} ", "👩‍👩‍👧 ", "\u{FEFF}z\u{2028}\u{85}y"]
    private static let thoughts = #"{"text":"hm","thought":true},{"text":"a ","thought":false},{"text":"b"}"#

    private static let answers = [
        Wire(
            "usual", Shapes.text("Hello", finish: "STOP", usage: Shapes.usage), text: "Hello", usage: .reported(10, 5),
            finish: .stop),
        Wire("thoughts are no text", Shapes.answer(parts: thoughts, finish: "STOP"), text: "a b", finish: .stop),
        Wire(
            "parts that are no text",
            Shapes.answer(
                parts: #"{"functionCall":{}},7,null,{"text":null},{"text":["x"]},{"text":"a"}"#, finish: "STOP"),
            text: "a", finish: .stop),
        Wire(
            "thinking tokens",
            Shapes.text(
                "a", finish: "STOP",
                usage: #"{"promptTokenCount":10,"candidatesTokenCount":5,"thoughtsTokenCount":30,"totalTokenCount":45}"#
            ),
            text: "a", usage: .reported(10, 35, total: 45, reasoning: 30), finish: .stop),
        Wire(
            "cached and tool tokens",
            Shapes.text(
                "a", finish: "STOP",
                usage: #"{"promptTokenCount":100,"cachedContentTokenCount":80,"toolUsePromptTokenCount":3,"#
                    + #""candidatesTokenCount":5,"totalTokenCount":108}"#),
            text: "a", usage: .reported(103, 5, total: 108, cached: 80), finish: .stop),
        Wire(
            "no total", Shapes.text("a", finish: "STOP", usage: #"{"promptTokenCount":10,"candidatesTokenCount":5}"#),
            text: "a", usage: .reported(10, 5), finish: .stop),
        Wire(
            "zeros are left out",
            Shapes.answer(parts: "", finish: "MAX_TOKENS", usage: #"{"promptTokenCount":10,"totalTokenCount":10}"#),
            usage: .reported(10, 0), finish: .length),
        Wire(
            "thoughts took it all",
            Shapes.answer(
                parts: "", finish: "MAX_TOKENS",
                usage: #"{"promptTokenCount":10,"thoughtsTokenCount":90,"totalTokenCount":100}"#),
            usage: .reported(10, 90, total: 100, reasoning: 90), finish: .length),
        Wire(
            "a total alone", Shapes.text("a", finish: "STOP", usage: #"{"totalTokenCount":15}"#), text: "a",
            usage: .reported(15, 0), finish: .stop),
        Wire(
            "usage that is none",
            Shapes.text("a", finish: "STOP", usage: #"{"promptTokenCount":"10","totalTokenCount":-15}"#), text: "a",
            finish: .stop),
        Wire(
            "a prompt that is withheld",
            #"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":1200,"#
                + #""totalTokenCount":1200}}"#, usage: .reported(1200, 0), finish: .contentFilter),
        Wire(
            "a prompt that is withheld, and no candidates",
            #"{"candidates":[],"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#, finish: .contentFilter),
        Wire("an answer that is withheld", #"{"candidates":[{"finishReason":"SAFETY"}]}"#, finish: .contentFilter),
        Wire(
            "half an answer, then withheld", Shapes.text("half ", finish: "RECITATION"), text: "half ",
            finish: .contentFilter),
    ]

    @Test(arguments: answers)
    func `An answer is read by its members, whole and streamed`(wire: Wire) {
        wire.check(.gemini, streams: false)
        let stream = Wire(
            "", Shapes.event(wire.body), text: wire.text, failure: wire.failure, usage: wire.usage, finish: wire.finish)
        stream.check(.gemini, streams: true)
    }

    @Test(
        arguments: [
            ("STOP", .stop), ("MAX_TOKENS", .length), ("SAFETY", .contentFilter), ("RECITATION", .contentFilter),
            ("PROHIBITED_CONTENT", .contentFilter), ("BLOCKLIST", .contentFilter), ("SPII", .contentFilter),
            ("MODEL_ARMOR", .contentFilter), ("IMAGE_SAFETY", .contentFilter), ("LANGUAGE", .other), ("OTHER", .other),
            ("MALFORMED_FUNCTION_CALL", .toolCalls), ("UNEXPECTED_TOOL_CALL", .toolCalls), ("TO_COME", .other),
        ] as [(String, FinishReason)])
    func `Every finish reason has its meaning`(word: String, reason: FinishReason) {
        let answer = Shapes.text("a", finish: word)
        Wire("", answer, text: "a", finish: reason).check(.gemini, streams: false)
        Wire("", Shapes.event(answer), text: "a", finish: reason).check(.gemini, streams: true)
    }

    @Test(arguments: [
        Wire("no reason", Shapes.text("a"), text: "a", finish: .other),
        Wire(
            "neither candidate nor reason", #"{"usageMetadata":\#(Shapes.usage)}"#, failure: .unusableAnswer,
            usage: .reported(10, 5)),
        Wire("no candidate", #"{"candidates":[]}"#, failure: .unusableAnswer),
        Wire("a candidate that is none", #"{"candidates":["a"]}"#, failure: .unusableAnswer),
        Wire("an array", "[]", failure: .unusableAnswer), Wire("nothing", "", failure: .unusableAnswer),
        Wire("a page", "<html>Log in</html>", failure: .unusableAnswer),
        Wire("an error", #"{"error":{"code":500,"status":"INTERNAL"}}"#, failure: .serverError),
        Wire("an error in words", #"{"error":"boom"}"#, failure: .serverError),
    ])
    func `What is no whole answer is not taken for one`(wire: Wire) { wire.check(.gemini, streams: false) }

    // MARK: Streams

    @Test(arguments: [
        Wire("usual", Shapes.stream(words).joined(), text: words.joined(), usage: .reported(10, 5), finish: .stop),
        Wire(
            "sums so far, not parts",
            [(10, 3), (10, 17), (10, 29)].map { prompt, answer in
                let usage =
                    #"{"promptTokenCount":\#(prompt),"candidatesTokenCount":\#(answer),"totalTokenCount":\#(prompt + answer)}"#
                return Shapes.event(Shapes.text("a", finish: answer == 29 ? "STOP" : nil, usage: usage))
            }.joined(), text: "aaa", usage: .reported(10, 29), finish: .stop),
        Wire(
            "usage behind the reason",
            Shapes.event(Shapes.text("a", finish: "STOP")) + Shapes.event(#"{"usageMetadata":\#(Shapes.usage)}"#),
            text: "a", usage: .reported(10, 5), finish: .stop),
        Wire(
            "nothing after something",
            Shapes.event(Shapes.text("a", usage: Shapes.usage))
                + Shapes.event(Shapes.text("", finish: "STOP", usage: "null")), text: "a", usage: .reported(10, 5),
            finish: .stop),
        Wire(
            "events that do not matter",
            ": hello\n\nevent: x\ndata: {}\n\ndata: []\n\ndata: 7\n\ndata: {\"candidates\":null}\n\n"
                + Shapes.event(#"{"candidates":[{"content":null,"finishReason":null}]}"#)
                + Shapes.event(Shapes.text("a", finish: "FINISH_REASON_UNSPECIFIED"))
                + Shapes.event(Shapes.text("b", finish: "STOP")) + "data: [DONE]\n\n", text: "ab", finish: .stop),
        Wire("nothing", "", failure: .incomplete),
        Wire(
            "no reason", Shapes.event(Shapes.text("half ", usage: Shapes.usage)), text: "half ", failure: .incomplete,
            usage: .reported(10, 5)),
        Wire(
            "an end of another dialect", Shapes.event(Shapes.text("a")) + "data: [DONE]\n\n", text: "a",
            failure: .incomplete),
        Wire(
            "the last event without its empty line", String("data: " + Shapes.text("a", finish: "STOP") + "\n"),
            failure: .incomplete),
        Wire(
            "garbage", Shapes.event(Shapes.text("a")) + "data: {\"candidates\":[\n\n", text: "a",
            failure: .unusableAnswer),
        Wire("too deep", "data: \(String(repeating: "[", count: 100_000))\n\n", failure: .unusableAnswer),
        Wire("an array in place of events", "[\(Shapes.text("a", finish: "STOP"))]", failure: .incomplete),
    ])
    func `A stream is whole with its reason, and broken without`(wire: Wire) { wire.check(.gemini, streams: true) }

    @Test(
        arguments: [
            (#""code":503,"status":"UNAVAILABLE""#, .overloaded(retryAfterSeconds: nil)),
            (#""code":503"#, .overloaded(retryAfterSeconds: nil)),
            (#""status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"17s"}]"#, .rateLimited(retryAfterSeconds: 17)),
            (#""code":429,"details":[{},{"retryDelay":"0.4s"}]"#, .rateLimited(retryAfterSeconds: 1)),
            (#""code":429,"details":[{"retryDelay":"86400s"}]"#, .rateLimited(retryAfterSeconds: 30)),
            (#""code":429,"details":[{"retryDelay":"-4s"}]"#, .rateLimited(retryAfterSeconds: nil)),
            (#""code":429,"details":[{"retryDelay":"soon"}]"#, .rateLimited(retryAfterSeconds: nil)),
            (
                #""code":429,"details":[{"retryDelay":"."},{"retryDelay":"s"},{"retryDelay":4}]"#,
                .rateLimited(retryAfterSeconds: nil)
            ),
            (#""code":403,"status":"PERMISSION_DENIED""#, .credentialsRefused),
            (#""code":401,"status":"UNAUTHENTICATED""#, .credentialsRefused),
            (#""code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]"#, .credentialsRefused),
            (#""code":400,"status":"INVALID_ARGUMENT""#, .requestRefused), (#""code":404"#, .notOffered),
            (#""code":504,"status":"DEADLINE_EXCEEDED""#, .totalTimeout),
            (#""code":500,"status":"INTERNAL""#, .errorInStream), (#""code":"x""#, .errorInStream),
        ] as [(String, ProviderFailure)])
    func `An error in a stream says what failed, first or behind text`(members: String, failure: ProviderFailure) {
        let error = Shapes.event(#"{"error":{\#(members),"message":"secret words"}}"#)
        Wire("", error, failure: failure).check(.gemini, streams: true)
        Wire("", Shapes.event(Shapes.text("a")) + error, text: "a", failure: failure).check(.gemini, streams: true)
    }
}
