import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// A gateway over two providers, `main` and `spare`, both played by one fake: the path tells whom it is.
@Suite("Providers that fail", .ownThread)
struct FailoverTests {
    private static let broken = ProviderReply.body(#"{"error":{"message":"inner words"}}"#, status: 500)

    /// - Parameter main: further keys of the provider `main`, one line each.
    private func gateway(
        main: [String], breaker: String = "off", tenantTask: String? = nil
    ) throws -> (TestGateway, FakeProvider) {
        let fake = try FakeProvider()
        var settings = GatewaySettings()
        settings.loops = 1
        settings.breaker = breaker
        settings.providerURL = fake.baseURL + "/main"
        let extra = main.map { "\n    \($0)" }.joined()
        settings.providerTimeouts =
            "{connect: 2s, first_byte: 2s, idle: 5s, total: 20s}\(extra)\n  spare:\n    dialect: openai\n"
            + "    base_url: \(fake.baseURL)/spare\n    key: {env: TEST_PROVIDER_KEY}"
        settings.tasks.append(
            tenantTask
                ?? "both: {builtin: summarize, routes: [{provider: main, model: m-main}, {provider: spare, model: m-spare}]}"
        )
        return (try TestGateway(settings), fake)
    }

    private static func isMain(_ call: ProviderCall) -> Bool { call.target.contains("/main/") }

    @Test(arguments: [true, false])
    func `The next provider answers, and the record and the metrics say so`(stream: Bool) throws {
        let (gateway, fake) = try self.gateway(main: [])
        defer { fake.stop() }
        let marker = Caller.unique("next")
        let script = fake.script(marker) { call, _ in Self.isMain(call) ? Self.broken : .usual(for: call) }
        let caller = Caller()
        let answer = try gateway.ask(Ask(marker, task: "both", stream: stream), as: caller)
        #expect(answer.status == 200 && answer.text == "ok" && script.calls.count == 2)
        let record = try #require(gateway.process.record(of: answer.requestID))
        #expect(record["attempts"]?.int == 2 && record["provider"]?.string == "spare")
        #expect(record["model"]?.string == "m-spare" && record["outcome"]?.string == "answered")
        let metrics = gateway.process.metrics
        let name = "askgate_provider_attempts_total"
        #expect(metrics.value(name, ["provider": "main", "outcome": "server_error"]) == 1)
        #expect(metrics.value(name, ["provider": "spare", "outcome": "answered"]) == 1)
        #expect(try gateway.charged(to: caller) == 15)
    }

    @Test func `Nobody is asked behind the first word, and the stream ends as broken`() throws {
        let (gateway, fake) = try self.gateway(main: ["retry: {retries: 2, backoff: 1ms}"])
        defer { fake.stop() }
        let marker = Caller.unique("word")
        let word = OpenAIShapes.event(OpenAIShapes.delta("word "))
        let script = fake.script(marker, .events([.send(word), .reset]))
        let answer = try gateway.ask(Ask(marker, task: "both", stream: true))
        answer.checkStream()
        #expect(answer.text == "word " && answer.code == "provider_failed" && script.calls.count == 1)
    }

    @Test func `Each provider has its retries, then the client gets one clean failure`() throws {
        let (gateway, fake) = try self.gateway(main: ["retry: {retries: 2, backoff: 1ms}"])
        defer { fake.stop() }
        let marker = Caller.unique("all")
        let script = fake.script(marker, Self.broken)
        let caller = Caller("conc-1")
        let answer = try gateway.ask(Ask(marker, task: "both"), as: caller)
        #expect(answer.status == 502 && answer.code == "provider_failed")
        #expect(script.calls.filter(Self.isMain).count == 3 && script.calls.count == 4)
        let body = answer.response.text
        for word in ["inner", "main", "spare", "m-", "127.0.0.1", TestGateway.providerKey] {
            #expect(!body.contains(word))
        }
        #expect(try gateway.charged(to: caller) == 0)
        #expect(try gateway.used("requests_per_minute", by: caller) == 1)
    }

    @Test func `What a failed attempt reported is charged with the rest`() throws {
        let (gateway, fake) = try self.gateway(main: [])
        defer { fake.stop() }
        let marker = Caller.unique("spent")
        let usage = OpenAIShapes.event(
            OpenAIShapes.chunk(choices: "", usage: OpenAIShapes.Usage(7, 0).json))
        _ = fake.script(marker) { call, _ in Self.isMain(call) ? .events([.send(usage), .cut]) : .usual(for: call) }
        let caller = Caller()
        let answer = try gateway.ask(Ask(marker, task: "both", stream: true), as: caller)
        #expect(answer.isFinished && answer.totalTokens == 22)
        #expect(try gateway.charged(to: caller) == 22)
    }

    @Test func `A provider that is left alone is refused at once and shown, and comes back`() throws {
        let only = "alone: {builtin: summarize, routes: [{provider: main, model: m-main}]}"
        let (gateway, fake) = try self.gateway(
            main: [], breaker: "{failures: 2, open: 500ms, max_open: 1s}", tenantTask: only)
        defer { fake.stop() }
        let marker = Caller.unique("breaker")
        let isWell = Gate()
        let script = fake.script(marker) { call, _ in isWell.isPassable ? .usual(for: call) : Self.broken }
        for _ in 0..<2 { #expect(try gateway.ask(Ask(marker, task: "alone")).status == 502) }
        let refused = try gateway.ask(Ask(marker, task: "alone"))
        #expect(refused.status == 503 && refused.code == "provider_overloaded")
        #expect(refused.response.header("retry-after") == "1" && script.calls.count == 2)
        #expect(gateway.process.metrics.value("askgate_provider_state", ["provider": "main"]) == 2)
        isWell.open()
        Stopwatch.sleep(milliseconds: 700)
        #expect(try gateway.ask(Ask(marker, task: "alone")).status == 200)
        #expect(gateway.process.metrics.value("askgate_provider_state", ["provider": "main"]) == 0)
    }

    /// What the gateway has said with a message, waited for.
    private func lines(_ gateway: TestGateway, _ message: String) -> [Substring] {
        let lines = { gateway.process.child.standardError.split(separator: "\n").filter { $0.contains(message) } }
        _ = Stopwatch.wait(upTo: .seconds(15)) { !lines().isEmpty }
        return lines()
    }

    @Test func `A refused key is told once until it works, and the record says what failed`() throws {
        let only = "alone: {builtin: summarize, routes: [{provider: main, model: m-main}]}"
        let (gateway, fake) = try self.gateway(main: [], tenantTask: only)
        defer { fake.stop() }
        let marker = Caller.unique("key")
        let refused = ProviderReply.body(#"{"error":{"message":"inner words"}}"#, status: 401)
        _ = fake.script(marker) { call, index in index == 2 ? .usual(for: call) : refused }
        let message = "a provider refuses its only key"
        for _ in 0..<2 {
            let answer = try gateway.ask(Ask(marker, task: "alone"))
            let record = try #require(gateway.process.record(of: answer.requestID))
            #expect(answer.status == 502 && record["provider_failure"]?.string == "credentials_refused")
        }
        let lines = self.lines(gateway, message)
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains(#""provider":"main","key":1"#) })
        let works = try gateway.ask(Ask(marker, task: "alone"))
        #expect(works.status == 200)
        #expect(gateway.process.record(of: works.requestID)?["provider_failure"]?.string == nil)
        #expect(try gateway.ask(Ask(marker, task: "alone")).status == 502)
        #expect(Stopwatch.wait(upTo: .seconds(15)) { self.lines(gateway, message).count == 2 })
        #expect(!gateway.process.everySink.contains(TestGateway.providerKey))
    }

    @Test(arguments: [(500, "server_error"), (0, "unreachable")])
    func `The line of a breaker names the reason`(status: Int, reason: String) throws {
        let only = "alone: {builtin: summarize, routes: [{provider: main, model: m-main}]}"
        let (gateway, fake) = try self.gateway(main: [], breaker: "{failures: 2, open: 60s}", tenantTask: only)
        defer { fake.stop() }
        let marker = Caller.unique("reason")
        if status == 0 { fake.stop() } else { _ = fake.script(marker, .body("{}", status: status)) }
        for _ in 0..<2 {
            let answer = try gateway.ask(Ask(marker, task: "alone"))
            #expect(gateway.process.record(of: answer.requestID)?["provider_failure"]?.string == reason)
        }
        let lines = self.lines(gateway, "a provider fails and is left alone for a while")
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains(#""reason":"\#(reason)""#) })
        let answer = try gateway.ask(Ask(marker, task: "alone"))
        #expect(answer.status == 503)
        #expect(gateway.process.record(of: answer.requestID)?["provider_failure"]?.string == "breaker_open")
    }

    @Test func `A wait that the provider asks for is the client's to keep`() throws {
        let only = "alone: {builtin: summarize, routes: [{provider: main, model: m-main}]}"
        let (gateway, fake) = try self.gateway(main: ["retry: {retries: 3}"], tenantTask: only)
        defer { fake.stop() }
        let marker = Caller.unique("wait")
        let script = fake.script(marker, .body("{}", status: 429, headers: [("Retry-After", "20")]))
        let answer = try gateway.ask(Ask(marker, task: "alone"))
        #expect(answer.status == 503 && answer.response.header("retry-after") == "20" && script.calls.count == 1)
    }

    @Test func `Asks wait for their place at a provider, and beyond the queue get a wait`() throws {
        let only = "alone: {builtin: summarize, routes: [{provider: main, model: m-main}]}"
        let (gateway, fake) = try self.gateway(main: ["concurrency: {calls: 1, queue: 1, wait: 10s}"], tenantTask: only)
        defer { fake.stop() }
        let marker = Caller.unique("place")
        let gate = Gate()
        let script = fake.script(marker) { _, _ in
            .events([.wait(gate), .send(OpenAIShapes.stream(["ok"]).joined())])
        }
        defer { gate.open() }
        let ask = Ask(marker, task: "alone", stream: true)
        let clients = try (0..<2).map { _ in try gateway.client() }
        try gateway.send(ask, as: Caller(), on: clients[0])
        #expect(script.waitForCall() != nil)
        let waiting = Caller("conc-1")
        try gateway.send(ask, as: waiting, on: clients[1])
        #expect(
            try Stopwatch.wait(upTo: .seconds(15)) {
                try gateway.used("concurrent_requests", by: waiting) == 1
            })
        let refused = try gateway.ask(ask)
        #expect(refused.status == 503 && refused.code == "provider_overloaded")
        #expect(refused.response.header("retry-after") != nil && script.calls.count == 1)
        gate.open()
        for client in clients {
            var answer = Answer(response: try client.head())
            gateway.readEvents(of: &answer, on: client)
            #expect(answer.isFinished && answer.text == "ok")
        }
    }

    @Test func `A client that leaves the queue pays nothing and holds nothing`() throws {
        let only = "alone: {builtin: summarize, routes: [{provider: main, model: m-main}]}"
        let (gateway, fake) = try self.gateway(main: ["concurrency: {calls: 1}"], tenantTask: only)
        defer { fake.stop() }
        let marker = Caller.unique("leave")
        let gate = Gate()
        let script = fake.script(marker) { _, _ in
            .events([.wait(gate), .send(OpenAIShapes.stream(["ok"]).joined())])
        }
        defer { gate.open() }
        let ask = Ask(marker, task: "alone", stream: true)
        let first = try gateway.client()
        try gateway.send(ask, as: Caller(), on: first)
        #expect(script.waitForCall() != nil)
        let caller = Caller("conc-1")
        do {
            let second = try gateway.client()
            try gateway.send(ask, as: caller, on: second)
            #expect(
                try Stopwatch.wait(upTo: .seconds(15)) {
                    try gateway.used("concurrent_requests", by: caller) == 1
                })
            second.close()
        }
        #expect(try gateway.charged(to: caller) == 0)
        gate.open()
        #expect(try gateway.ask(ask, as: caller).isFinished && script.calls.count == 2)
    }
}
