import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What providers of every dialect do wrong, seen by clients of OpenAI's form and of questions; `DialectTests` sees the
/// same by `/api/process`.
@Suite("Faults of dialects", .oneOfFewThreads, .dialects)
struct DialectFaultTests {
    /// What the provider does behind the words it has said, the code that is told, and the status where it had said
    /// none.
    private static let faults:
        [(name: String, code: String, status: Int, steps: @Sendable (TestDialect) -> [ProviderStep])] = [
            ("stall", "provider_timeout", 504, { _ in [.hold(milliseconds: 60_000)] }),
            ("reset", "provider_failed", 502, { _ in [.hold(milliseconds: 50), .reset] }),
            ("cut", "provider_failed", 502, { _ in [.cut] }),
            ("no end mark", "provider_failed", 502, { _ in [.finish] }),
            (
                "half an event", "provider_failed", 502,
                { dialect in [.split(String(dialect.start(["lost"]).joined().dropLast(20)), every: 1), .finish] }
            ),
            (
                "garbage", "provider_failed", 502,
                { _ in [.send("data: {\"\u{1}garbage\n\n"), .hold(milliseconds: 60_000)] }
            ),
            (
                "bytes that are no text", "provider_failed", 502,
                { _ in
                    [
                        .send(Array("data: {\"a\":\"".utf8) + [0xFF, 0xC0] + Array("\"}\n\n".utf8)),
                        .hold(milliseconds: 60_000),
                    ]
                }
            ),
            ("a page", "provider_failed", 502, { _ in [.send("<html>secret words</html>\n\n"), .finish] }),
            (
                "overload", "provider_overloaded", 503,
                { dialect in [.send(dialect.overload), .hold(milliseconds: 60_000)] }
            ),
        ]

    private static let words = ["One ", "two ", "three "]
    private static let hidden = ["secret words", TestGateway.providerKey, "127.0.0.1", "lost"]

    /// What is left behind by an ask: its charge, its record, and the provider's call.
    private func checkTraces(
        _ caller: Caller, _ head: HTTPResponse, _ script: ProviderScript, outcome: String, charged: ClosedRange<Int>,
        dialect: TestDialect
    ) throws {
        let gateway = try TestGateway.current
        #expect(charged.contains(try gateway.charged(to: caller)))
        let record = try #require(gateway.process.record(of: head.header("x-request-id")))
        #expect(record["outcome"]?.string == outcome)
        #expect(record["provider"]?.string == dialect.rawValue && record["model"]?.string == "m-\(dialect.rawValue)")
        #expect(record["status"]?.int == head.status)
        #expect(script.calls.count == 1)
        #expect(script.calls.first?.waitForEnd() != nil, "the provider's call is left open")
    }

    @Test(arguments: TestDialect.allCases, faults.map(\.name))
    func `A chat stream that goes wrong behind its first words is told so, and never marked as done`(
        dialect: TestDialect, name: String
    ) throws {
        let gateway = try TestGateway.current
        let fault = try #require(Self.faults.first { $0.name == name })
        let (caller, marker) = (Caller("conc-1"), Caller.unique("chat-fault"))
        let steps = dialect.start(Self.words).map { ProviderStep.send($0) } + fault.steps(dialect)
        let script = gateway.provider.script(marker, .events(steps))
        let stream = try gateway.chatStream(
            marker, model: dialect.rawValue, more: #","stream_options":{"include_usage":true}"#, as: caller)
        #expect(stream.head.status == 200 && stream.text.hasPrefix(Self.words.joined()))
        #expect(!stream.data.contains("[DONE]") && stream.isCut)
        #expect(
            stream.chunks.allSatisfy {
                $0["choices"]?[0]?["finish_reason"]?.string == nil && $0["usage"]?.isNull != false
            })
        #expect(stream.errors.count == 1 && stream.chunks.last?["error"]?["code"]?.string == fault.code)
        #expect(Self.hidden.allSatisfy { !stream.data.joined().contains($0) })
        try self.checkTraces(
            caller, stream.head, script, outcome: fault.code, charged: 1...1000, dialect: dialect)
    }

    @Test(arguments: TestDialect.allCases, faults.map(\.name))
    func `A chat stream that goes wrong before its first word is an error of its own status`(
        dialect: TestDialect, name: String
    ) throws {
        let gateway = try TestGateway.current
        let fault = try #require(Self.faults.first { $0.name == name })
        let (caller, marker) = (Caller("conc-1"), Caller.unique("chat-mute"))
        let script = gateway.provider.script(marker, .events(fault.steps(dialect)))
        let response = try gateway.chat(marker, model: dialect.rawValue, more: #","stream":true"#, as: caller)
        #expect(response.status == fault.status && response.json?["error"]?["code"]?.string == fault.code)
        #expect(response.header("content-type") == "application/json")
        #expect(Self.hidden.allSatisfy { !response.everything.contains($0) })
        // Anthropic tells at once what the prompt has cost, and that is owed.
        let most = name == "half an event" ? 20 : 0
        try self.checkTraces(caller, response, script, outcome: fault.code, charged: 0...most, dialect: dialect)
    }

    @Test(arguments: TestDialect.allCases, [(401, 502), (403, 502), (429, 503), (500, 502), (503, 503), (504, 504)])
    func `A status that refuses the call is never the chat client's`(
        dialect: TestDialect, status: (provider: Int, client: Int)
    ) throws {
        let gateway = try TestGateway.current
        for stream in [false, true] {
            let (caller, marker) = (Caller("conc-1"), Caller.unique("chat-refused"))
            let body = #"{"type":"error","error":{"type":"x","message":"secret words","code":"x"}}"#
            let script = gateway.provider.script(marker, .body(body, status: status.provider))
            let response = try gateway.chat(
                marker, model: dialect.rawValue, more: #","stream":\#(stream)"#, as: caller)
            #expect(response.status == status.client)
            let code = try #require(response.json?["error"]?["code"]?.string)
            #expect(code.hasPrefix("provider_") && !response.everything.contains("secret words"))
            #expect((response.header("retry-after") != nil) == (status.client == 503))
            try self.checkTraces(caller, response, script, outcome: code, charged: 0...0, dialect: dialect)
        }
    }

    @Test(arguments: TestDialect.allCases)
    func `An answer in one piece that breaks is no completion`(dialect: TestDialect) throws {
        let gateway = try TestGateway.current
        let half = Array(dialect.whole("never shown").utf8.dropLast(9))
        let type = [(name: "Content-Type", value: "application/json")]
        let replies: [ProviderReply] = [
            ProviderReply(headers: type, framing: .chunked, steps: [.send(half), .cut]),
            ProviderReply(headers: type, framing: .chunked, steps: [.split(half, every: 1), .reset]),
            .body(String(decoding: half, as: UTF8.self)), .body("garbage"), .body(""), .body("{}"), .body("[]"),
        ]
        for reply in replies {
            let (caller, marker) = (Caller("conc-1"), Caller.unique("chat-half"))
            let script = gateway.provider.script(marker, reply)
            let response = try gateway.chat(marker, model: dialect.rawValue, as: caller)
            #expect(response.status == 502 && response.json?["choices"] == nil)
            let code = try #require(response.json?["error"]?["code"]?.string)
            #expect(!response.everything.contains("never shown"))
            try self.checkTraces(caller, response, script, outcome: code, charged: 0...0, dialect: dialect)
        }
    }

    @Test(arguments: TestDialect.allCases)
    func `Bytes that come one by one make the same completion, marked as done`(dialect: TestDialect) throws {
        let gateway = try TestGateway.current
        let words = ["سلام، ", "café ", "👩‍👩‍👧"]
        let (caller, marker) = (Caller("conc-1"), Caller.unique("chat-split"))
        let script = gateway.provider.script(
            marker, .events([.split(dialect.stream(words).joined(), every: 1)]))
        let stream = try gateway.chatStream(marker, model: dialect.rawValue, as: caller)
        #expect(stream.text == words.joined() && stream.isDone && !stream.isCut && stream.errors.isEmpty)
        try self.checkTraces(caller, stream.head, script, outcome: "answered", charged: 15...15, dialect: dialect)
    }

    @Test(arguments: TestDialect.allCases, ["stall", "cut", "no end mark"])
    func `A question's stream that goes wrong ends as an error`(dialect: TestDialect, name: String) throws {
        let gateway = try TestGateway.current
        let fault = try #require(Self.faults.first { $0.name == name })
        let (caller, marker) = (Caller("conc-1"), Caller.unique("question-fault"))
        let steps = dialect.start(Self.words).map { ProviderStep.send($0) } + fault.steps(dialect)
        let script = gateway.provider.script(marker, .events(steps))
        let client = try gateway.client()
        try client.request(
            "POST", "/v1/questions", headers: [("Content-Type", "application/json"), caller.authorization],
            body: Array(
                #"{"agent":"\#(dialect.rawValue)","question":"Why do tides rise? \#(marker)","stream":true}"#.utf8))
        var answer = Answer(response: try client.head())
        gateway.readEvents(of: &answer, on: client)
        answer.checkStream()
        #expect(answer.text == Self.words.joined() && !answer.isFinished && answer.code == fault.code)
        try self.checkTraces(
            caller, answer.response, script, outcome: fault.code, charged: 1...1000, dialect: dialect)
    }
}
