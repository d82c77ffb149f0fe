import GatewayTesting
import GatewayTypes
import JSON
import Synchronization
import Testing

@Suite("Limits", .oneOfFewThreads, .gateway())
struct LimitTests {
    @Test(arguments: [0, 1, 2, 3, 5])
    func `Exactly as many asks as the plan says are admitted`(limit: Int) throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-\(limit)")
        let marker = Caller.unique("count")
        let script = gateway.provider.script(marker)
        let answers = try (0..<limit + 3).map { _ in try gateway.ask(Ask(marker), as: caller) }
        #expect(answers.map(\.status) == Array(repeating: 200, count: limit) + [429, 429, 429])
        #expect(answers.last?.code == "requests_per_minute_exceeded")
        #expect(script.calls.count == limit)
        #expect(try gateway.used("requests_per_minute", by: caller) == limit)
        #expect(try gateway.used("concurrent_requests", by: caller) == 0)
    }

    @Test func `Fifty at once pass no more than five`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-5")
        let marker = Caller.unique("burst")
        let script = gateway.provider.script(marker)
        let statuses = OwnThread.together(50) { _ in (try? gateway.ask(Ask(marker), as: caller))?.status ?? 0 }
        #expect(statuses.count { $0 == 200 } == 5)
        #expect(statuses.count { $0 == 429 } == 45)
        #expect(script.calls.count == 5)
        #expect(try gateway.used("requests_per_minute", by: caller) == 5)
    }

    @Test func `A limit is one subject's, not the plan's`() throws {
        let gateway = try TestGateway.current
        let (first, second) = (Caller("rpm-2"), Caller("rpm-2"))
        for _ in 0..<3 { _ = try gateway.ask(Ask("first"), as: first) }
        #expect(try gateway.ask(Ask("second"), as: second).status == 200)
        #expect(try gateway.used("requests_per_minute", by: first) == 2)
        #expect(try gateway.used("requests_per_minute", by: second) == 1)
    }

    @Test func `A refusal by the minute names the limit and a wait that helps`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-1")
        _ = try gateway.ask(Ask("one"), as: caller)
        let answer = try gateway.ask(Ask("two"), as: caller)
        let wait = try #require(answer.response.header("retry-after").flatMap { Int($0) })
        #expect((1...60).contains(wait))
        let limit = try #require(answer.response.json?["limit"])
        #expect(limit["name"]?.string == "requests_per_minute")
        #expect(limit["scope"]?.string == "subject")
        #expect(limit["limit"]?.int == 1)
        #expect(limit["remaining"]?.int == 0)
        #expect(limit["resetSeconds"]?.int == wait)
        #expect(answer.response.header("x-should-retry") != "false")
        #expect(answer.response.header("x-ratelimit-remaining-requests") == "0")
        #expect(answer.response.header("ratelimit")?.contains("r=0") == true)
    }

    @Test func `A refusal by the day waits for the day's end and asks not to retry`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("day-0")
        let answer = try gateway.ask(Ask("day"), as: caller)
        #expect(answer.status == 429)
        #expect(answer.code == "tokens_per_day_exceeded")
        let left = 86_400 - Stopwatch.wallSeconds() % 86_400
        let wait = try #require(answer.response.header("retry-after").flatMap { Int($0) })
        #expect((left - 5...left + 5).contains(wait))
        #expect(answer.response.header("x-should-retry") == "false")
        #expect(answer.response.json?["limit"]?["name"]?.string == "tokens_per_day")
        #expect(try gateway.used("requests_per_minute", by: caller) == 0)
    }

    @Test func `A refusal for running asks waits a few seconds`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("running")
        let gate = Gate()
        let script = gateway.provider.script(marker, .heldStream(gate))
        let client = try gateway.client()
        try gateway.send(Ask(marker, stream: true), as: caller, on: client)
        script.waitForCall()
        let refused = try gateway.ask(Ask("other"), as: caller)
        gate.open()
        #expect(refused.status == 429)
        #expect(refused.code == "concurrent_requests_exceeded")
        let wait = try #require(refused.response.header("retry-after").flatMap { Int($0) })
        #expect((1...5).contains(wait))
        #expect(try gateway.used("requests_per_minute", by: caller) == 1)
    }

    @Test func `Answers tell where the limits stand`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-3")
        let answer = try gateway.ask(Ask("headers"), as: caller)
        #expect(answer.response.header("x-ratelimit-limit-requests") == "3")
        #expect(answer.response.header("x-ratelimit-remaining-requests") == "2")
        #expect(answer.response.header("x-ratelimit-reset-requests") != nil)
        #expect(answer.response.header("x-ratelimit-limit-tokens") == "1000000000")
        #expect(answer.response.header("ratelimit-policy")?.contains("q=3;w=60") == true)
        #expect(answer.response.header("ratelimit")?.contains("r=2") == true)
        let unknown = try gateway.post(Ask("x").json, as: nil)
        #expect(unknown.header("ratelimit") == nil && unknown.header("x-ratelimit-limit-requests") == nil)
    }

    @Test func `Looking at the quota costs nothing`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-1")
        let before = try gateway.quota(caller)
        for _ in 0..<5 { #expect(try gateway.quota(caller) == before) }
        #expect(before["requests_per_minute"] == Standing(limit: 1, remaining: 1, reset: 0))
        #expect(try gateway.ask(Ask("still"), as: caller).status == 200)
        let client = try gateway.client()
        try client.request("GET", "/v1/quota")
        #expect(try client.response()?.status == 401)
    }

    @Test func `The quota names the plan`() throws {
        let gateway = try TestGateway.current
        let client = try gateway.client()
        try client.request("GET", "/v1/quota", headers: [Caller("rpm-5").authorization])
        #expect(try client.response()?.json?["plan"]?.string == "rpm-5")
    }

    @Test(arguments: [false, true])
    func `What the provider reports is charged, once`(stream: Bool) throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let marker = Caller.unique("charge")
        _ = gateway.provider.script(
            marker, stream ? .stream(usage: .init(321, 45)) : .answer(usage: .init(321, 45)))
        let answer = try gateway.ask(Ask(marker, stream: stream), as: caller)
        #expect(answer.usage?["inputTokens"]?.int == 321)
        #expect(answer.usage?["outputTokens"]?.int == 45)
        #expect(answer.totalTokens == 366)
        #expect(try gateway.charged(to: caller) == 366)
        let record = try #require(gateway.process.record(of: answer.requestID))
        #expect(record["total_tokens"]?.int == 366)
        #expect(record["usage_source"]?.string == "provider")
    }

    @Test(arguments: [false, true])
    func `A reported zero is a zero, and no report is an estimate`(stream: Bool) throws {
        let gateway = try TestGateway.current
        let (zero, none) = (Caller(), Caller())
        let (first, second) = (Caller.unique("zero"), Caller.unique("none"))
        _ = gateway.provider.script(
            first,
            stream ? .stream(["Hello", " there"], usage: .init(0, 0)) : .answer("Hello there", usage: .init(0, 0)))
        _ = gateway.provider.script(
            second, stream ? .stream(["Hello", " there"], usage: nil) : .answer("Hello there", usage: nil))
        #expect(try gateway.ask(Ask(first, stream: stream), as: zero).text == "Hello there")
        #expect(try gateway.charged(to: zero) == 0)
        let answer = try gateway.ask(Ask(second, stream: stream), as: none)
        #expect(answer.text == "Hello there")
        let charged = try gateway.charged(to: none)
        #expect((2...1000).contains(charged))
        let record = try #require(gateway.process.record(of: answer.requestID))
        #expect(record["usage_source"]?.string == "estimated")
        #expect(record["total_tokens"]?.int == charged)
    }

    @Test func `The day cannot be overrun by asks that run together`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("day-1000")
        let first = Caller.unique("first")
        _ = gateway.provider.script(first, .answer(usage: .init(90, 10)))
        #expect(try gateway.ask(Ask(first), as: caller).status == 200)

        let marker = Caller.unique("rush")
        let gate = Gate()
        let body = OpenAIShapes.completion("ok", usage: OpenAIShapes.Usage(10, 5).json)
        let script = gateway.provider.script(
            marker,
            .init(
                headers: [("Content-Type", "application/json")], framing: .chunked, steps: [.wait(gate), .send(body)]))
        let decided = Atomic<Int>(0)
        let statuses = OwnThread.together(20) { _ -> Int in
            guard let client = try? gateway.client(), (try? gateway.send(Ask(marker), as: caller, on: client)) != nil
            else {
                return 0
            }
            // A refusal comes at once; an admitted ask waits for the gate.
            let areAllDecided = { decided.load(ordering: .relaxed) + script.calls.count >= 20 }
            while !client.hasInput && !areAllDecided() { Stopwatch.sleep(milliseconds: 5) }
            if client.hasInput { decided.add(1, ordering: .relaxed) }
            if areAllDecided() { gate.open() }
            return ((try? client.response()) ?? nil)?.status ?? 0
        }
        let admitted = statuses.count { $0 == 200 }
        #expect(statuses.count { $0 == 429 } == 20 - admitted)
        // Each holds its prompt and an answer of up to 1,200 tokens: 900 tokens are not enough for many.
        #expect((1...4).contains(admitted))
        #expect(try gateway.charged(to: caller) == 100 + 15 * admitted)
    }

    @Test func `The provider is told no more than is left of the day`() throws {
        let gateway = try TestGateway.current
        let (rich, poor) = (Caller(), Caller("day-1000"))
        let marker = Caller.unique("cap")
        let script = gateway.provider.script(marker)
        #expect(try gateway.ask(Ask(marker), as: rich).status == 200)
        #expect(try gateway.ask(Ask(marker), as: poor).status == 200)
        let caps = script.calls.map { ($0.json?["max_tokens"] ?? $0.json?["max_completion_tokens"])?.int ?? 0 }
        #expect(caps[0] == 1200)
        #expect((1..<1000).contains(caps[1]))
    }

    @Test(arguments: [
        "//api/process", "/api//process", "/api/process/", "/API/PROCESS", "/api%2Fprocess", "/api/./process",
        "/api/x/../process", "/api/process;x", "/api/process%00", "/v1/process", "/api", "/process",
    ])
    func `Another spelling of the path reaches no provider`(path: String) throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-1")
        let marker = Caller.unique("path")
        let script = gateway.provider.script(marker)
        let response = try gateway.post(Ask(marker).json, as: caller, path: path)
        #expect([400, 404, 405].contains(response.status))
        #expect(script.calls.isEmpty)
        #expect(try gateway.used("requests_per_minute", by: caller) == 0)
    }

    @Test(arguments: [
        #""model":"gpt-4o""#, #""model":null"#, #""model":{"a":1}"#,
    ])
    func `A model is never the client's to choose`(member: String) throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        var ask = Ask("model")
        ask.more = "," + member
        let answer = try gateway.ask(ask, as: caller)
        #expect(answer.status == 400)
        #expect(answer.code == "model_not_selectable")
        #expect(try gateway.counters(caller).values.allSatisfy { $0 == 0 })
    }

    @Test func `Other members change neither the price nor the call`() throws {
        let gateway = try TestGateway.current
        let (listener, port) = try TestSocket.listen()
        let caller = Caller()
        let marker = Caller.unique("members")
        let script = gateway.provider.script(marker)
        #expect(try gateway.ask(Ask(marker), as: caller).status == 200)
        var ask = Ask(marker)
        ask.more =
            #","api_base":"http://127.0.0.1:\#(port)/v1","base_url":"http://127.0.0.1:\#(port)","api_key":"sk-client","#
            + #""extra_headers":{"x-evil":"1"},"extra_body":{"model":"huge"},"provider":"evil","user":"someone-else","#
            + #""max_tokens":-5,"max_completion_tokens":1000000,"n":50,"temperature":2,"messages":[],"tools":[{}],"#
            + #""mock_response":"x","metadata":{"task":"titles"},"price":0"#
        let headers = [
            ("X-Evil", "1"), ("OpenAI-Organization", "o"), ("X-Forwarded-For", "1.2.3.4"), ("Cookie", "session=c"),
            ("Accept-Encoding", "gzip, br"), ("Connection", "x-evil, keep-alive"), ("api-key", "sk-client"),
        ]
        #expect(try gateway.ask(ask, as: caller, headers: headers).status == 200)
        let calls = script.calls
        #expect(calls.count == 2)
        #expect(calls[0].body == calls[1].body)
        let names = calls.map { Set($0.headers.map { $0.name.lowercased() }) }
        #expect(names[0] == names[1])
        for (name, value) in calls[1].headers {
            #expect(
                !value.contains("sk-client") && !value.contains(caller.token) && !value.contains("session"), "\(name)")
        }
        #expect(calls[1].header("authorization") == "Bearer \(TestGateway.providerKey)")
        #expect(calls[1].target == "/v1/chat/completions")
        #expect(listener.accept(within: .milliseconds(100)) == nil)
        #expect(try gateway.charged(to: caller) == 30)
    }

    @Test func `A header cannot make somebody else of a caller`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-2")
        for address in 1...6 {
            let headers = ["X-Forwarded-For", "Forwarded", "X-Real-IP", "True-Client-IP", "X-User-Id", "X-Tenant"].map {
                (name: $0, value: "10.0.0.\(address)")
            }
            let status = try gateway.ask(Ask("forwarded"), as: caller, headers: headers).status
            #expect(status == (address <= 2 ? 200 : 429))
        }
    }
}
