import GatewayTesting
import GatewayTypes
import HTTPClient
import Testing

@testable import Asking

/// What goes wrong at a provider, and what it counts as.
private struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let failure: ProviderFailure
    /// Whether the provider's words are at fault and not the provider, so that nobody else is asked.
    var isFinal = false
    /// The answer, behind these first words.
    let reply: @Sendable (TestDialect, [String]) -> ProviderReply

    static func stream(
        _ name: String, _ failure: ProviderFailure, _ steps: @escaping @Sendable (TestDialect) -> [ProviderStep]
    ) -> Fault {
        Fault(testDescription: name, failure: failure) { dialect, words in
            .events(dialect.start(words).filter { _ in !words.isEmpty }.map { .send($0) } + steps(dialect))
        }
    }

    static func status(_ status: Int, _ failure: ProviderFailure, isFinal: Bool = false) -> Fault {
        Fault(testDescription: "status \(status)", failure: failure, isFinal: isFinal) { _, _ in
            .body(#"{"type":"error","error":{"message":"secret words"}}"#, status: status)
        }
    }

    /// Those that may come behind the first words.
    static let ofStreams: [Fault] = [
        .stream("stall", .idleTimeout) { _ in [.hold(milliseconds: 60_000)] },
        .stream("reset", .incomplete) { _ in [.hold(milliseconds: 50), .reset] },
        .stream("cut", .incomplete) { _ in [.cut] },
        .stream("no end mark", .incomplete) { _ in [.finish] },
        .stream("garbage", .unusableAnswer) { _ in [.send("data: {\"\u{1}garbage\n\n")] },
        .stream("garbage byte by byte", .unusableAnswer) { _ in [.split("data: [1,\n\n", every: 1)] },
        .stream("an endless line", .unusableAnswer) { _ in [.flood(Array("data".utf8), times: 1_000_000)] },
    ]
    static let ofHeads: [Fault] = [
        .status(401, .credentialsRefused), .status(403, .credentialsRefused), .status(404, .notOffered),
        .status(400, .requestRefused, isFinal: true), .status(413, .contextTooLong),
        .status(429, .rateLimited(retryAfterSeconds: nil)), .status(500, .serverError),
        .status(503, .overloaded(retryAfterSeconds: nil)), .status(504, .totalTimeout),
        Fault(testDescription: "a page", failure: .unusableAnswer) { _, _ in .body("<html>", type: "text/html") },
    ]
}

@Suite("Faults of every dialect and the next route", .ownThread)
struct DialectFailoverTests {
    private static func hear(_ dialect: TestDialect, _ reply: ProviderReply) async throws -> (Heard, Int, Int) {
        let first = try FakeProvider { _, _ in reply }
        let second = try FakeProvider { _, _ in .events([.send(OpenAIShapes.stream(["fine"]).joined())]) }
        var result: (Heard, Int, Int)?
        try await withBench { bench in
            let test = try await bench.start(over: [first.named("a", dialect), second.named("b")])
            #expect(test.ends() && test.heard.ends.count == 1 && !test.heard.isOutOfOrder)
            result = (test.heard, first.calls.count, second.calls.count)
        }
        return try #require(result)
    }

    @Test(arguments: TestDialect.allCases, Fault.ofStreams + Fault.ofHeads)
    private func `Before the first word the next route answers, unless the words are at fault`(
        dialect: TestDialect, fault: Fault
    ) async throws {
        let (heard, first, second) = try await Self.hear(dialect, fault.reply(dialect, []))
        #expect(first == 1 && second == (fault.isFinal ? 0 : 1))
        #expect(heard.isWhole == !fault.isFinal && heard.text == (fault.isFinal ? "" : "fine"))
        if fault.isFinal { #expect(heard.end?.failure == fault.failure && heard.starts == 0) }
    }

    @Test(arguments: TestDialect.allCases, Fault.ofStreams)
    private func `Behind the first words it is the end, and nobody sees success`(
        dialect: TestDialect, fault: Fault
    ) async throws {
        let (heard, first, second) = try await Self.hear(dialect, fault.reply(dialect, ["One ", "two "]))
        #expect(first == 1 && second == 0)
        #expect(heard.text == "One two " && !heard.isWhole)
        #expect(heard.end?.failure == fault.failure)
        #expect(heard.end?.attempts == 1 && heard.end?.route?.provider == "a")
    }

    @Test(arguments: TestDialect.allCases, [400, 422])
    func `A prompt too long for one model goes to the next`(dialect: TestDialect, status: Int) async throws {
        let body = #"{"type":"error","error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#
        let (heard, first, second) = try await Self.hear(dialect, .body(body, status: status))
        #expect(heard.isWhole && heard.text == "fine" && first == 1 && second == 1)
    }

    @Test(arguments: TestDialect.allCases)
    func `A refusal whose reason never comes is not waited for long`(dialect: TestDialect) async throws {
        let type = [(name: "Content-Type", value: "application/json")]
        let stalled = ProviderReply(
            status: 400, headers: type, framing: .chunked, steps: [.send("{"), .hold(milliseconds: 60_000)])
        let (heard, _, second) = try await Self.hear(dialect, stalled)
        #expect(heard.end?.failure == .requestRefused && second == 0)
        let broken = ProviderReply(status: 429, headers: type, framing: .chunked, steps: [.send("{"), .reset])
        #expect(try await Self.hear(dialect, broken).0.isWhole)
    }

    @Test func `Clients of chat completions learn of a refusal by the word they know`() {
        let words: [(FinishReason, String)] = [
            (.stop, "stop"), (.other, "stop"), (.length, "length"), (.contentFilter, "content_filter"),
            (.refusal, "content_filter"), (.toolCalls, "tool_calls"),
        ]
        for (reason, word) in words { #expect("\(reason.chatCompletionWord)" == word) }
    }
}

extension FakeProvider {
    /// This provider of a dialect under a name, quick to lose patience.
    fileprivate func named(_ name: ProviderName, _ dialect: TestDialect) -> Provider {
        let headers = [("Content-Type", Secret("application/json"))]
        let endpoints = Endpoints(UpstreamEndpoint(url: self.baseURL + "/any", headers: headers))
        let options = Provider.CallOptions()
        let called: Provider.Dialect =
            switch dialect {
            case .openai: .openAI(endpoints, options)
            case .anthropic: .anthropic(endpoints, options)
            case .gemini: .gemini(endpoints, options)
            }
        let deadlines = Provider.Deadlines(firstByte: .milliseconds(1500), idle: .milliseconds(1500))
        return Provider(name: name, dialect: called, deadlines: deadlines, breaker: .off)
    }
}
