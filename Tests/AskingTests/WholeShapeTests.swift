import GatewayTesting
import GatewayTypes
import Testing

@testable import Asking

@Suite("Whole answers of the openai dialect", .ownThread)
struct WholeShapeTests {
    private typealias Shapes = OpenAIShapes

    private static func choice(_ choice: String, _ more: String = "") -> ProviderReply {
        .body(#"{"choices":[\#(choice)]\#(more)}"#)
    }

    @Test(arguments: [
        Shape("usual", .answer("Hello"), text: "Hello", total: 15, finish: .stop),
        Shape("no usage", .answer("Hello", usage: nil), text: "Hello", finish: .stop),
        Shape("any script", .answer("سلام 👩‍👩‍👧 cafe\u{301}"), text: "سلام 👩‍👩‍👧 cafe\u{301}", total: 15, finish: .stop),
        Shape(
            "cut by the cap", .body(Shapes.completion("half", finish: "length")), text: "half", total: 15,
            finish: .length),
        Shape("no media type", .body(Shapes.completion("ok"), type: nil), text: "ok", total: 15, finish: .stop),
        Shape(
            "another JSON type", .body(Shapes.completion("ok"), type: "application/vnd.x+json; charset=utf-8"),
            text: "ok", total: 15, finish: .stop),
        Shape(
            "body in pieces",
            ProviderReply(
                headers: [("Content-Type", "application/json")], framing: .chunked,
                steps: [.split(Shapes.completion("pieces"), every: 7)]), text: "pieces", total: 15, finish: .stop),
        Shape(
            "ends with the connection",
            ProviderReply(
                headers: [("Content-Type", "application/json")], framing: .none, steps: [.send(Shapes.completion("ok"))]
            ),
            text: "ok", total: 15, finish: .stop),
        Shape("no reason", choice(#"{"message":{"content":"ok"}}"#), text: "ok", finish: .other),
        Shape(
            "unknown members",
            choice(#"{"message":{"content":"ok","x":[{}]},"y":null}"#, #","z":{"a":1},"error":null"#), text: "ok",
            finish: .other),
        Shape(
            "withheld",
            choice(
                #"{"message":{"content":null},"finish_reason":"content_filter"}"#, #","usage":{"total_tokens":1200}"#),
            total: 1200, finish: .contentFilter),
        Shape("empty text", .answer(""), failure: .emptyAnswer, total: 15, finish: .stop),
        Shape(
            "null text", choice(#"{"message":{"content":null},"finish_reason":"stop"}"#), failure: .emptyAnswer,
            finish: .stop),
        Shape("no message", choice(#"{"finish_reason":"stop"}"#), failure: .emptyAnswer, finish: .stop),
        Shape("no choices", .body(#"{"id":"x"}"#), failure: .unusableAnswer),
        Shape("no choice", .body(#"{"choices":[]}"#), failure: .unusableAnswer),
        Shape("an array", .body("[]"), failure: .unusableAnswer),
        Shape("an error", .body(#"{"error":{"message":"secret words"}}"#), failure: .serverError),
        Shape("a page", .body("<html>Log in</html>", type: "text/html"), failure: .unusableAnswer),
        Shape("a page without its type", .body("<html>Log in</html>", type: nil), failure: .unusableAnswer),
        Shape("text", .body(Shapes.completion("ok"), type: "text/plain"), failure: .unusableAnswer),
        Shape("nothing", .body(""), failure: .unusableAnswer),
        Shape("no content", ProviderReply(status: 204, framing: .none), failure: .unusableAnswer),
        Shape(
            "JSON with a comma too many", .body(#"{"choices":[{"message":{"content":"ok"}},]}"#),
            failure: .unusableAnswer),
        Shape(
            "a member twice", .body(#"{"choices":[],"choices":[{"message":{"content":"ok"}}]}"#),
            failure: .unusableAnswer),
        Shape("half a body", .body(String(Shapes.completion("ok").dropLast(9))), failure: .unusableAnswer),
        Shape("too deep", .body(String(repeating: "[", count: 100_000)), failure: .unusableAnswer),
        Shape("half a pair", choice(#"{"message":{"content":"\ud800"}}"#), failure: .unusableAnswer),
        Shape(
            "cut",
            ProviderReply(
                headers: [("Content-Type", "application/json")], framing: .chunked,
                steps: [.send(Shapes.completion("ok")), .cut]),
            failure: .incomplete),
        Shape(
            "too large", .body(Shapes.completion(String(repeating: "x", count: 5_000_000))), failure: .unusableAnswer),
        Shape("gzip that is none", .body("no gzip", headers: [("Content-Encoding", "gzip")]), failure: .unusableAnswer),
    ])
    func `An answer in one piece is read whole or not at all`(shape: Shape) async throws {
        try await shape.check(stream: false)
    }

    @Test(
        arguments: [
            (201, .unusableAnswer), (301, .unusableAnswer), (400, .requestRefused), (401, .credentialsRefused),
            (402, .credentialsRefused), (403, .credentialsRefused), (404, .notOffered), (408, .totalTimeout),
            (422, .requestRefused), (429, .rateLimited(retryAfterSeconds: 7)), (500, .serverError), (502, .serverError),
            (503, .overloaded(retryAfterSeconds: 7)), (504, .totalTimeout), (529, .overloaded(retryAfterSeconds: 7)),
        ] as [(Int, ProviderFailure)])
    func `Another status than 200 is a failure, streamed or not`(status: Int, failure: ProviderFailure) async throws {
        let provider = try FakeProvider { _, _ in
            .body(OpenAIShapes.completion("never"), status: status, headers: [("Retry-After", "7")])
        }
        try await withBench { bench in
            for stream in [true, false] {
                let heard = try await bench.hear(provider.provider(), stream: stream)
                #expect(heard.end?.failure == failure && heard.starts == 0)
            }
        }
    }

    @Test func `A failure is never told as the caller's fault`() {
        let failures: [ProviderFailure] = [
            .unreachable, .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout, .tls, .incomplete,
            .credentialsRefused, .rateLimited(retryAfterSeconds: 3), .overloaded(retryAfterSeconds: nil), .serverError,
            .requestRefused, .contextTooLong, .notOffered, .unusableAnswer, .errorInStream, .emptyAnswer, .tooManyCalls,
            .breakerOpen(retryAfterSeconds: 1), .keysSetAside(retryAfterSeconds: 1), .queueFull, .queueTimeout,
            .unusable,
        ]
        let allowed: Set<ErrorCode> = [
            .providerFailed, .providerTimeout, .providerOverloaded, .providerEmptyAnswer, .internalError,
        ]
        #expect(failures.allSatisfy { allowed.contains($0.code) })
        #expect(Set(failures.map(\.metricLabel)).count == failures.count)
        #expect(failures.compactMap(\.retryAfterSeconds) == [3, 1, 1])
    }
}
