import GatewayTesting
import GatewayTypes
import HTTPClient
import JSON
import Testing

@testable import Asking

/// Attempts of one ask over scripted providers, through the core.
@Suite("Attempts of an ask", .ownThread)
struct AttemptTests {
    private static let once = Provider.Retry(retries: 1, backoff: .milliseconds(1), longestPause: .seconds(2))
    private static let usual = ProviderReply.events([.send(OpenAIShapes.stream(["fine"]).joined())])
    private static let broken = ProviderReply.body("{}", status: 500)
    private static let word = OpenAIShapes.event(OpenAIShapes.delta("word "))

    /// Asks over providers in this order and hears the whole answer.
    private static func hear(_ bench: Bench, _ providers: [Provider], tenant: TenantID = "acme") async throws
        -> Heard
    {
        let test = try await bench.start(over: providers, tenant: tenant)
        #expect(test.ends())
        #expect(test.heard.ends.count == 1 && !test.heard.isOutOfOrder)
        return test.heard
    }

    @Test func `A call that failed is made again, and the answer is whole`() async throws {
        let provider = try FakeProvider { _, index in index == 0 ? Self.broken : Self.usual }
        try await withBench { bench in
            let heard = try await Self.hear(bench, [provider.named("p", retry: Self.once)])
            #expect(heard.isWhole && heard.text == "fine" && heard.end?.attempts == 2)
            #expect(provider.calls.count == 2)
        }
    }

    @Test func `The next route answers when the first fails, with its own model`() async throws {
        let first = try FakeProvider { _, _ in Self.broken }
        let second = try FakeProvider { _, _ in Self.usual }
        try await withBench { bench in
            let heard = try await Self.hear(bench, [first.named("a"), second.named("b")])
            #expect(heard.isWhole && heard.text == "fine")
            #expect(heard.end?.route?.provider == "b" && heard.end?.attempts == 2)
            #expect(second.calls.first?.json?["model"]?.string == "m-b")
        }
    }

    @Test func `Nobody else is asked once there was text`() async throws {
        let first = try FakeProvider { _, _ in .events([.send(Self.word), .reset]) }
        let second = try FakeProvider { _, _ in Self.usual }
        try await withBench { bench in
            let heard = try await Self.hear(bench, [first.named("a", retry: Self.once), second.named("b")])
            #expect(heard.end?.failure == .incomplete && heard.text == "word ")
            #expect(first.calls.count == 1 && second.calls.isEmpty)
        }
    }

    @Test(arguments: [
        (400, #"{"error":{"code":"invalid_value"}}"#, false), (422, "{}", false), (404, "{}", true), (413, "{}", true),
        (400, #"{"error":{"code":"context_length_exceeded"}}"#, true), (401, "{}", true), (503, "{}", true),
    ])
    func `A refusal of the words goes no further, but a short window or a missing model does`(
        status: Int, body: String, goesOn: Bool
    ) async throws {
        let first = try FakeProvider { _, _ in .body(body, status: status) }
        let second = try FakeProvider { _, _ in Self.usual }
        try await withBench { bench in
            let heard = try await Self.hear(bench, [first.named("a"), second.named("b")])
            #expect(heard.isWhole == goesOn)
            #expect(second.calls.count == (goesOn ? 1 : 0))
            if !goesOn { #expect(heard.end?.failure == .requestRefused) }
        }
    }

    @Test func `What a failed attempt reported is kept apart and told`() async throws {
        let first = try FakeProvider { _, _ in
            let usage = OpenAIShapes.Usage(7, 0).json
            return .events([.send(OpenAIShapes.event(OpenAIShapes.chunk(choices: "", usage: usage))), .cut])
        }
        let second = try FakeProvider { _, _ in Self.usual }
        try await withBench { bench in
            let heard = try await Self.hear(bench, [first.named("a"), second.named("b")])
            #expect(heard.isWhole && heard.end?.spent?.total == 7 && heard.end?.usage?.total == 15)
        }
    }

    @Test(arguments: [401, 403, 429])
    func `Another key takes over from one that is refused or over its limit`(status: Int) async throws {
        let provider = try FakeProvider { call, _ in
            call.header("authorization") == "Bearer good" ? Self.usual : .body("{}", status: status)
        }
        try await withBench { bench in
            let keyed = provider.named("p", keys: ["bad", "good"])
            for round in 0..<3 {
                let heard = try await Self.hear(bench, [keyed])
                #expect(heard.isWhole && heard.end?.attempts == (round == 0 ? 2 : 1))
            }
            #expect(provider.calls.filter { $0.header("authorization") == "Bearer bad" }.count == 1)
        }
    }

    @Test(arguments: [(401, ProviderFailure.credentialsRefused), (429, .rateLimited(retryAfterSeconds: 9))])
    func `With every key out the next ask is refused without a call`(status: Int, wanted: ProviderFailure) async throws
    {
        let provider = try FakeProvider { _, _ in .body("{}", status: status, headers: [("Retry-After", "9")]) }
        try await withBench { bench in
            let keyed = provider.named("p", keys: ["one", "two"])
            let heard = try await Self.hear(bench, [keyed])
            #expect(heard.end?.failure == wanted && heard.end?.attempts == 2)
            let next = try await Self.hear(bench, [keyed])
            #expect(next.end?.attempts == 0 && next.end?.route == nil && provider.calls.count == 2)
            #expect(next.end?.failure?.code == (status == 401 ? .providerFailed : .providerOverloaded))
            if status == 429 { #expect((next.end?.failure?.retryAfterSeconds ?? 0) >= 8) }
        }
    }

    @Test func `A wait longer than the longest pause is told, a short one is kept`() async throws {
        for (seconds, calls) in [("30", 1), ("0", 2)] {
            let provider = try FakeProvider { _, index in
                index == 0 ? .body("{}", status: 503, headers: [("Retry-After", seconds)]) : Self.usual
            }
            try await withBench { bench in
                let heard = try await Self.hear(bench, [provider.named("p", retry: Self.once)])
                #expect(provider.calls.count == calls && heard.isWhole == (calls == 2))
                if calls == 1 { #expect(heard.end?.failure == .overloaded(retryAfterSeconds: 30)) }
            }
        }
    }

    @Test func `A provider that keeps failing is left alone, then tried by one ask`() async throws {
        let gate = Gate()
        let provider = try FakeProvider { _, _ in gate.isPassable ? Self.usual : Self.broken }
        try await withBench { bench in
            let policy = Provider.BreakerPolicy(failures: 2, open: .milliseconds(300), longestOpen: .seconds(2))
            let fragile = provider.named("p", breaker: policy)
            for _ in 0..<2 { #expect(try await Self.hear(bench, [fragile]).end?.failure == .serverError) }
            let refused = try await Self.hear(bench, [fragile])
            #expect(refused.end?.failure == .breakerOpen(retryAfterSeconds: 1) && provider.calls.count == 2)
            gate.open()
            Stopwatch.sleep(milliseconds: 400)
            for _ in 0..<2 {
                let heard = try await Self.hear(bench, [fragile])
                #expect(heard.isWhole, "\(String(describing: heard.end))")
            }
        }
    }

    @Test func `An open breaker sends asks to the next route at once`() async throws {
        let first = try FakeProvider { _, _ in Self.broken }
        let second = try FakeProvider { _, _ in Self.usual }
        try await withBench { bench in
            let policy = Provider.BreakerPolicy(failures: 1, open: .seconds(60))
            let routes = [first.named("a", breaker: policy), second.named("b")]
            for _ in 0..<3 {
                let heard = try await Self.hear(bench, routes)
                #expect(heard.isWhole)
            }
            #expect(first.calls.count == 1 && second.calls.count == 3)
        }
    }

    @Test func `Asks wait for a place in turn by tenant, and no more are open than may be`() async throws {
        let gate = Gate()
        let provider = try FakeProvider { call, _ in
            .events([.wait(gate), .send(OpenAIShapes.stream(["ok"]).joined())])
        }
        defer { gate.open() }
        try await withBench { bench in
            let capped = provider.named("p", concurrency: Provider.Concurrency(calls: 1, queue: 3))
            let first = try await bench.start(over: [capped], tenant: "flood")
            #expect(provider.rest.waitForCall() != nil)
            let flood = try await bench.start(over: [capped], tenant: "flood", text: "flood 1")
            let last = try await bench.start(over: [capped], tenant: "flood", text: "flood 2")
            let other = try await bench.start(over: [capped], tenant: "quiet", text: "quiet 1")
            let late = try await bench.start(over: [capped], tenant: "flood", text: "flood 3")
            #expect(late.heard.end?.failure == .queueFull && late.heard.end?.attempts == 0)
            gate.open()
            for ask in [first, flood, last, other] {
                #expect(ask.ends() && ask.heard.isWhole, "\(String(describing: ask.heard.end))")
            }
            let order = provider.calls.compactMap(\.userText)
            #expect(order.dropFirst() == ["flood 1", "quiet 1", "flood 2"])
        }
    }

    @Test func `Nobody waits longer than they may, and who leaves gives no place away`() async throws {
        let gate = Gate()
        let provider = try FakeProvider { _, _ in .events([.wait(gate), .send(OpenAIShapes.stream(["ok"]).joined())]) }
        defer { gate.open() }
        try await withBench { bench in
            let cap = Provider.Concurrency(calls: 1, queue: 5, wait: .milliseconds(200))
            let capped = provider.named("p", concurrency: cap)
            let first = try await bench.start(over: [capped])
            let second = try await bench.start(over: [capped])
            #expect(second.ends() && second.heard.end?.failure == .queueTimeout && second.heard.end?.attempts == 0)
            let third = try await bench.start(over: [capped])
            try await bench.run { _ in third.ask?.cancel() }
            #expect(third.heard.end?.wasCancelled == true && third.heard.end?.attempts == 0)
            gate.open()
            #expect(first.ends() && first.heard.isWhole)
            #expect(try await Self.hear(bench, [capped]).isWhole && provider.calls.count == 2)
        }
    }

    @Test func `An ask that leaves while its place is on the way hands it on`() async throws {
        let gate = Gate()
        let provider = try FakeProvider { _, _ in .events([.wait(gate), .send(OpenAIShapes.stream(["ok"]).joined())]) }
        defer { gate.open() }
        try await withBench { bench in
            let capped = provider.named("p", concurrency: Provider.Concurrency(calls: 1))
            let first = try await bench.start(over: [capped])
            let second = try await bench.start(over: [capped])
            let third = try await bench.start(over: [capped])
            try await bench.run { _ in
                first.ask?.cancel()
                second.ask?.cancel()
            }
            gate.open()
            #expect(third.ends() && third.heard.isWhole)
        }
    }

    @Test func `No more calls are open than may be, whatever their keys and models`() async throws {
        let gate = Gate()
        let fake = try FakeProvider { _, _ in .events([.wait(gate), .send(OpenAIShapes.stream(["ok"]).joined())]) }
        defer { gate.open() }
        let cap = CallCap(2)
        // One address for each model and each key.
        let dialects = ["one", "two"].map { key in
            let endpoints = Endpoints(Endpoints.Addresses(fake.baseURL + "/{model}/" + key)) {
                UpstreamEndpoint(url: $0, headers: [], cap: cap)
            }
            return Provider.Dialect.openAI(endpoints, Provider.CallOptions())
        }
        let provider = Provider(name: "p", dialect: dialects[0], spares: [dialects[1]], breaker: .off)
        try await withBench { bench in
            let open = [try await bench.start(over: [provider]), try await bench.start(over: [provider])]
            let third = try await bench.start(over: [provider])
            #expect(third.heard.end?.failure == .tooManyCalls && third.heard.end?.attempts == 0)
            gate.open()
            for ask in open { #expect(ask.ends() && ask.heard.isWhole) }
            #expect(Set(fake.calls.map(\.target)).count == 2)
            #expect(try await Self.hear(bench, [provider]).isWhole)
        }
    }

    @Test func `An ask may leave in the pause before a retry`() async throws {
        let provider = try FakeProvider { _, _ in .body("{}", status: 503, headers: [("Retry-After", "2")]) }
        try await withBench { bench in
            let ask = try await bench.start(over: [provider.named("p", retry: Self.once)])
            #expect(provider.rest.waitForCall()?.waitForEnd() == .sent)
            Stopwatch.sleep(milliseconds: 100)
            try await bench.run { _ in ask.ask?.cancel() }
            #expect(ask.heard.end?.wasCancelled == true && ask.heard.end?.attempts == 1)
            #expect(ask.heard.end?.hadOpenCall == false, "nobody works on it")
            #expect(provider.calls.count == 1)
        }
    }

    @Test func `A route to nobody is our own fault, and another route mends it`() async throws {
        let provider = try FakeProvider { _, _ in Self.usual }
        try await withBench { bench in
            let ask = try await bench.start(over: [provider.named("p")], missing: ["gone"])
            #expect(ask.ends() && ask.heard.isWhole)
            let none = try await bench.start(over: [], missing: ["gone"])
            #expect(none.heard.end?.failure == .unusable)
        }
    }
}

extension FakeProvider {
    /// This provider under a name, with what happens when it fails.
    func named(
        _ name: ProviderName, keys: [String] = [""], retry: Provider.Retry = Provider.Retry(),
        breaker: Provider.BreakerPolicy = .off, concurrency: Provider.Concurrency? = nil
    ) -> Provider {
        let dialects = keys.map { key in
            let headers = [
                ("Content-Type", Secret("application/json")), ("Authorization", Secret("Bearer \(key)")),
            ]
            return Provider.Dialect.openAI(
                Endpoints(UpstreamEndpoint(url: self.baseURL + "/chat/completions", headers: headers)),
                Provider.CallOptions())
        }
        return Provider(
            name: name, dialect: dialects[0], spares: Array(dialects.dropFirst()), retry: retry, breaker: breaker,
            concurrency: concurrency)
    }
}
