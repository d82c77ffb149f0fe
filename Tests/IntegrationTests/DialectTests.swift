import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("Dialects", .oneOfFewThreads, .dialects)
struct DialectTests {
    /// What one ask came to, for the client, the account and the operator.
    private struct Result {
        var answer: Answer
        var charged: Int
        var record: RecordLine
        var script: ProviderScript
    }

    private func ask(_ task: String, _ reply: ProviderReply, stream: Bool) throws -> Result {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("dialect")
        let script = gateway.provider.script(marker, reply)
        let answer = try gateway.ask(Ask(marker, task: task, stream: stream), as: caller)
        if answer.isStream { answer.checkStream() }
        let charged = try gateway.charged(to: caller)
        let record = try #require(gateway.process.record(of: answer.requestID))
        let shown = answer.response.text + answer.events.compactMap(\.data).joined()
        for hidden in ["secret words", TestGateway.providerKey, "127.0.0.1"] { #expect(!shown.contains(hidden)) }
        return Result(answer: answer, charged: charged, record: record, script: script)
    }

    private func json(_ body: String, status: Int = 200) -> ProviderReply { .body(body, status: status) }

    // MARK: Calls

    @Test(
        arguments: [
            ("openai", "/v1/chat/completions", "/v1/chat/completions", "authorization"),
            ("anthropic", "/v1/messages", "/v1/messages", "x-api-key"),
            (
                "gemini", "/v1beta/models/m-gemini:generateContent",
                "/v1beta/models/m-gemini:streamGenerateContent?alt=sse", "x-goog-api-key"
            ),
            (
                "azure", "/openai/deployments/m-azure/chat/completions?api-version=2024-10-21",
                "/openai/deployments/m-azure/chat/completions?api-version=2024-10-21", "api-key"
            ),
            (
                "proxied", "/proxy/v1beta/models/m-proxied:generateContent?key=\(TestGateway.providerKey)",
                "/proxy/v1beta/models/m-proxied:streamGenerateContent?alt=sse&key=\(TestGateway.providerKey)", nil
            ),
        ] as [(String, String, String, String?)])
    func `A call goes where the dialect wants it, with the key in its place alone`(
        task: String, whole: String, stream: String, header: String?
    ) throws {
        let dialect = TestDialect(rawValue: task) ?? (task == "azure" ? .openai : .gemini)
        for (streams, target) in [(false, whole), (true, stream)] {
            let reply = streams ? .events([.send(dialect.stream(["ok"]).joined())]) : self.json(dialect.whole("ok"))
            let result = try self.ask(task, reply, stream: streams)
            #expect(result.answer.text == "ok" && result.charged == 15)
            let call = try #require(result.script.calls.first)
            #expect(call.method == "POST" && call.target == target)
            #expect(call.header("content-type") == "application/json" && call.header("via") == "1.1 askgate")
            let carrying = call.headers.filter { $0.value.contains(TestGateway.providerKey) }
            #expect(carrying.map { $0.name.lowercased() } == (header.map { [$0] } ?? []))
            #expect(!call.bodyText.contains(TestGateway.providerKey))
            #expect(call.header("anthropic-version") == (task == "anthropic" ? "2023-06-01" : nil))
            #expect(call.header("x-team") == (task == "azure" ? "mobile" : nil))
        }
    }

    @Test func `A body holds what the server decided, in the words of its dialect`() throws {
        let anthropic = try self.ask("anthropic", self.json(TestDialect.anthropic.whole("ok")), stream: false)
        let message = try #require(anthropic.script.calls.first?.json)
        #expect(message["model"]?.string == "m-anthropic" && message["max_tokens"]?.int == 1200)
        #expect(message["system"]?.string?.isEmpty == false && message["messages"]?.count == 1)
        #expect(message["messages"]?[0]?["role"]?.string == "user" && message["stream"] == nil)

        let gemini = try self.ask("gemini", self.json(TestDialect.gemini.whole("ok")), stream: false)
        let content = try #require(gemini.script.calls.first?.json)
        #expect(content["generationConfig"]?["maxOutputTokens"]?.int == 1200)
        #expect(content["systemInstruction"]?["parts"]?[0]?["text"]?.string?.isEmpty == false)
        #expect(content["contents"]?.count == 1 && content["model"] == nil)

        let azure = try self.ask("azure", self.json(TestDialect.openai.whole("ok")), stream: false)
        let completion = try #require(azure.script.calls.first?.json)
        #expect(completion["max_completion_tokens"]?.int == 1200)
        #expect(completion["max_tokens"] == nil && completion["temperature"] == nil)
    }

    // MARK: Good answers

    @Test(arguments: TestDialect.allCases, [1, 3, 17])
    func `Bytes that come one by one make the same answer`(dialect: TestDialect, every: Int) throws {
        let words = ["سلام، ", "café ", "👩‍👩‍👧"]
        let wire = dialect.stream(words).joined()
        let streamed = try self.ask(dialect.rawValue, .events([.split(wire, every: every)]), stream: true)
        let whole = ProviderReply(
            headers: [("Content-Type", "application/json")], framing: .chunked,
            steps: [.split(dialect.whole(words.joined()), every: every)])
        for result in [streamed, try self.ask(dialect.rawValue, whole, stream: false)] {
            #expect(result.answer.status == 200 && result.answer.text == words.joined())
            #expect(result.charged == 15 && result.answer.usage?["inputTokens"]?.int == 10)
            #expect(result.record["outcome"]?.string == "answered")
            #expect(result.record["provider"]?.string == dialect.rawValue)
            #expect(result.record["model"]?.string == "m-\(dialect.rawValue)")
            #expect(result.record["usage_source"]?.string == "provider")
        }
        #expect(streamed.answer.isFinished)
    }

    @Test(
        arguments: [
            (.openai, OpenAIShapes.completion("", finish: "content_filter"), 15),
            (.anthropic, AnthropicShapes.message("", stop: "refusal"), 15),
            (
                .gemini,
                #"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":1200,"#
                    + #""totalTokenCount":1200}}"#, 1200
            ),
        ] as [(TestDialect, String, Int)])
    func `What a provider withholds is an answer without words, and charged`(
        dialect: TestDialect, body: String, tokens: Int
    ) throws {
        let result = try self.ask(dialect.rawValue, self.json(body), stream: false)
        #expect(result.answer.status == 200 && result.answer.text.isEmpty)
        #expect(result.charged == tokens && result.script.calls.count == 1)
    }

    // MARK: Faults

    /// A stream that goes wrong behind its first words, and the code that the client is told.
    private static let faults: [(name: String, code: String, steps: @Sendable (TestDialect) -> [ProviderStep])] = [
        ("stall", "provider_timeout", { _ in [.hold(milliseconds: 60_000)] }),
        ("reset", "provider_failed", { _ in [.hold(milliseconds: 50), .reset] }),
        ("cut", "provider_failed", { _ in [.cut] }), ("no end mark", "provider_failed", { _ in [.finish] }),
        ("garbage", "provider_failed", { _ in [.send("data: {\"\u{1}garbage\n\n"), .hold(milliseconds: 60_000)] }),
        ("overload", "provider_overloaded", { dialect in [.send(dialect.overload), .hold(milliseconds: 60_000)] }),
    ]

    @Test(arguments: TestDialect.allCases, faults.map(\.name))
    func `A stream that goes wrong behind its first words ends as an error, charged for what came`(
        dialect: TestDialect, name: String
    ) throws {
        let fault = try #require(Self.faults.first { $0.name == name })
        let words = ["One ", "two ", "three "]
        let steps = dialect.start(words).map { ProviderStep.send($0) } + fault.steps(dialect)
        let result = try self.ask(dialect.rawValue, .events(steps), stream: true)
        #expect(result.answer.status == 200 && result.answer.text == words.joined())
        #expect(!result.answer.isFinished && result.answer.code == fault.code)
        #expect(result.charged > 0 && result.charged < 1000)
        #expect(result.record["outcome"]?.string == fault.code)
        #expect(result.record["provider"]?.string == dialect.rawValue)
        #expect(result.script.calls.count == 1, "no second call behind the first byte")
        #expect(result.script.calls.first?.waitForEnd() != nil, "the provider's call is left open")
    }

    @Test(arguments: TestDialect.allCases, faults.map(\.name))
    func `A stream that goes wrong before its first word is a plain error, and costs nothing`(
        dialect: TestDialect, name: String
    ) throws {
        let fault = try #require(Self.faults.first { $0.name == name })
        let result = try self.ask(dialect.rawValue, .events(fault.steps(dialect)), stream: true)
        #expect(result.answer.status == (["provider_timeout": 504, "provider_overloaded": 503][fault.code] ?? 502))
        #expect(!result.answer.isStream && result.answer.code == fault.code)
        #expect(result.charged == 0)
        #expect(result.record["outcome"]?.string == fault.code)
    }

    @Test(arguments: TestDialect.allCases)
    func `An answer in one piece that breaks is no answer`(dialect: TestDialect) throws {
        let half = Array(dialect.whole("never shown").utf8.dropLast(9))
        let type = [(name: "Content-Type", value: "application/json")]
        let replies: [(ProviderReply, Int)] = [
            (ProviderReply(headers: type, framing: .chunked, steps: [.send(half), .cut]), 502),
            (ProviderReply(headers: type, framing: .chunked, steps: [.send(half), .reset]), 502),
            (.body(String(decoding: half, as: UTF8.self)), 502), (.body("garbage"), 502), (.body(""), 502),
            (.body("<html>secret words</html>", type: "text/html"), 502), (.body("{}"), 502),
        ]
        for (reply, status) in replies {
            let result = try self.ask(dialect.rawValue, reply, stream: false)
            #expect(result.answer.status == status && result.answer.text.isEmpty)
            #expect(result.charged == 0 && result.record["status"]?.int == status)
            #expect(result.record["outcome"]?.string == result.answer.code)
        }
    }

    @Test(
        arguments: TestDialect.allCases,
        [
            (401, 502), (402, 502), (403, 502), (400, 502), (404, 502), (429, 503), (500, 502), (503, 503),
            (529, 503), (504, 504),
        ])
    func `A status that refuses the call is never the caller's`(
        dialect: TestDialect, status: (provider: Int, client: Int)
    ) throws {
        for stream in [false, true] {
            let body = #"{"type":"error","error":{"type":"x","message":"secret words","code":"x"}}"#
            let result = try self.ask(dialect.rawValue, self.json(body, status: status.provider), stream: stream)
            #expect(result.answer.status == status.client && !result.answer.isStream)
            #expect(result.charged == 0 && result.record["status"]?.int == status.client)
            let wait = result.answer.response.header("retry-after").flatMap { Int($0) }
            #expect(status.client != 503 || (1...30).contains(wait ?? 0))
        }
    }

    @Test func `A vendor's wait is told on, wherever it stands`() throws {
        let body = #"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"17.2s"}]}}"#
        let result = try self.ask("gemini", self.json(body, status: 429), stream: true)
        #expect(result.answer.response.header("retry-after") == "18")
        let headed = ProviderReply.body("{}", status: 429, headers: [("Retry-After", "9")])
        #expect(try self.ask("anthropic", headed, stream: true).answer.response.header("retry-after") == "9")
    }
}
