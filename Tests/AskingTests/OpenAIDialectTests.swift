import GatewayTesting
import GatewayTypes
import JSON
import Testing

@testable import Asking

@Suite("The openai dialect beyond its usual answers")
struct OpenAIDialectTests {
    private typealias Shapes = OpenAIShapes

    @Test func `The cap goes under the name that the server takes`() throws {
        let options = Provider.CallOptions(outputCapMember: .maxCompletionTokens, sendsTemperature: false)
        let root = try JSONDocument(parsing: OpenAIRequest.body(for: .sample(cap: 42), options: options)).root
        #expect(root["max_completion_tokens"]?.int == 42)
        #expect(root["max_tokens"] == nil && root["temperature"] == nil)
    }

    private static func choice(_ choice: String, _ more: String = "") -> String { #"{"choices":[\#(choice)]\#(more)}"# }

    private static func stream(_ chunks: String...) -> String {
        (chunks + ["[DONE]"]).map { Shapes.event($0) }.joined()
    }

    @Test(
        arguments: [
            ("stop", .stop), ("length", .length), ("max_tokens", .length), ("model_length", .length),
            ("content_filter", .contentFilter), ("tool_calls", .toolCalls), ("function_call", .toolCalls),
            ("refusal", .refusal), ("eos", .other),
        ] as [(String, FinishReason)])
    func `Every finish reason has its meaning`(word: String, reason: FinishReason) {
        Wire("", Shapes.completion("a", finish: word), text: "a", usage: .reported(10, 5), finish: reason)
            .check(.openai, streams: false)
        Wire("", Self.stream(Shapes.delta("a"), Shapes.finish(word)), text: "a", finish: reason)
            .check(.openai, streams: true)
    }

    @Test func `A failure told as a finish reason is one`() {
        for (word, failure) in [
            ("error", ProviderFailure.errorInStream),
            ("insufficient_system_resource", .overloaded(retryAfterSeconds: nil)),
        ] {
            Wire("", Self.stream(Shapes.delta("a"), Shapes.finish(word)), text: "a", failure: failure)
                .check(.openai, streams: true)
            Wire("", Shapes.completion("a", finish: word), failure: failure, usage: .reported(10, 5))
                .check(.openai, streams: false)
        }
    }

    @Test(arguments: [
        Wire(
            "words of refusal", choice(#"{"message":{"content":null,"refusal":"I can't."},"finish_reason":"stop"}"#),
            text: "I can't.", finish: .refusal),
        Wire(
            "no refusal", choice(#"{"message":{"content":"a","refusal":null},"finish_reason":"stop"}"#), text: "a",
            finish: .stop),
        Wire(
            "an empty refusal", choice(#"{"message":{"content":"a","refusal":""},"finish_reason":"stop"}"#), text: "a",
            finish: .stop),
        Wire(
            "a refusal that is withheld too",
            choice(#"{"message":{"refusal":"I can't."},"finish_reason":"content_filter"}"#), text: "I can't.",
            finish: .contentFilter),
        Wire(
            "text in parts",
            choice(
                #"{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"no"}]},"#
                    + #"{"type":"text","text":"a"},{"type":"text","text":"b"},"c"]},"finish_reason":"stop"}"#),
            text: "ab", finish: .stop),
        Wire(
            "thoughts beside the text",
            choice(#"{"message":{"content":"a","reasoning_content":"no","reasoning":"no"},"finish_reason":"stop"}"#),
            text: "a", finish: .stop),
    ])
    func `Text and refusal are told apart, whole and streamed`(wire: Wire) {
        wire.check(.openai, streams: false)
        let streamed = wire.body.replacing(#""message""#, with: #""delta""#)
        Wire("", Self.stream(streamed), text: wire.text, finish: wire.finish).check(.openai, streams: true)
    }

    private static let usage = #"{"prompt_tokens":19,"completion_tokens":8,"total_tokens":27"#

    @Test(arguments: [
        Wire(
            "cached and reasoning",
            usage
                + #","prompt_tokens_details":{"cached_tokens":12},"completion_tokens_details":{"reasoning_tokens":6}}"#,
            usage: .reported(19, 8, cached: 12, reasoning: 6)),
        Wire("cached by hits", usage + #","prompt_cache_hit_tokens":4}"#, usage: .reported(19, 8, cached: 4)),
        Wire(
            "more parts than whole",
            usage
                + #","prompt_tokens_details":{"cached_tokens":99},"completion_tokens_details":{"reasoning_tokens":99}}"#,
            usage: .reported(19, 8, cached: 19, reasoning: 8)),
        Wire(
            "reasoning beside the output",
            #"{"prompt_tokens":19,"completion_tokens":8,"total_tokens":57,"completion_tokens_details":{"reasoning_tokens":30}}"#,
            usage: .reported(19, 8, total: 57, reasoning: 30)),
        Wire(
            "details that are none",
            usage + #","prompt_tokens_details":null,"completion_tokens_details":[7]}"#, usage: .reported(19, 8)),
    ])
    func `Cached and reasoning tokens are parts of the totals`(wire: Wire) {
        let chunk = Shapes.chunk(choices: "", usage: wire.body)
        Wire("", Self.stream(Shapes.delta("a"), Shapes.finish(), chunk), text: "a", usage: wire.usage, finish: .stop)
            .check(.openai, streams: true)
        Wire("", Shapes.completion("a", usage: wire.body), text: "a", usage: wire.usage, finish: .stop)
            .check(.openai, streams: false)
    }

    @Test func `Usage is found where some vendors put it`() {
        let inChoice = #"{"choices":[{"delta":{},"finish_reason":"stop","usage":\#(Self.usage)}}]}"#
        Wire("", Self.stream(Shapes.delta("a"), inChoice), text: "a", usage: .reported(19, 8), finish: .stop)
            .check(.openai, streams: true)
        let ofVendor = #"{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":\#(Self.usage)}}}"#
        Wire("", Self.stream(Shapes.delta("a"), ofVendor), text: "a", usage: .reported(19, 8), finish: .stop)
            .check(.openai, streams: true)
    }

    @Test(
        arguments: [
            (#"{"code":429}"#, .rateLimited(retryAfterSeconds: nil)),
            (#"{"code":"503"}"#, .overloaded(retryAfterSeconds: nil)),
            (#"{"code":"rate_limit_exceeded"}"#, .rateLimited(retryAfterSeconds: nil)),
            (#"{"type":"overloaded_error","code":null}"#, .overloaded(retryAfterSeconds: nil)),
            (#"{"type":"insufficient_quota"}"#, .credentialsRefused), (#"{"code":401}"#, .credentialsRefused),
            (#"{"code":"context_length_exceeded"}"#, .contextTooLong), (#"{"code":504}"#, .totalTimeout),
            (#"{"code":400,"type":"x"}"#, .requestRefused), (#"{"code":500}"#, nil), (#"{"code":200}"#, nil),
            (#"{"code":-9223372036854775808}"#, nil), (#"{"code":"99999999999999999999"}"#, nil),
            (#"{"message":"secret words"}"#, nil), (#""boom""#, nil), ("[]", nil), ("true", nil),
        ] as [(String, ProviderFailure?)])
    func `An error under 200 says what failed`(error: String, failure: ProviderFailure?) {
        let body = #"{"error":\#(error)}"#
        Wire("", body, failure: failure ?? .serverError).check(.openai, streams: false)
        Wire("", Self.stream(Shapes.delta("a"), body), text: "a", failure: failure ?? .errorInStream)
            .check(.openai, streams: true)
    }

    @Test func `An answer that is itself an error is one`() {
        let body = #"{"object":"error","message":"secret words","type":"BadRequestError","code":400}"#
        Wire("", body, failure: .requestRefused).check(.openai, streams: false)
        Wire("", Self.stream(body), failure: .requestRefused).check(.openai, streams: true)
    }
}
