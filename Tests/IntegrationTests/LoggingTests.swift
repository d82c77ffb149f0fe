import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("Records and metrics", .oneOfFewThreads, .gateway())
struct LoggingTests {
    private static let members: Set<String> = [
        "time", "request_id", "tenant", "subject", "plan", "task", "provider", "model", "route", "outcome", "refusal",
        "status",
        "total_ms", "overhead_ms", "first_token_ms", "text_length", "input_tokens", "output_tokens", "total_tokens",
        "usage_source", "attempts", "provider_failure", "stream", "cancelled", "cache", "trace_id",
    ]

    @Test(arguments: [false, true])
    func `An ask leaves one record with what operators need`(stream: Bool) throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-5")
        let answer = try gateway.ask(Ask(text: "سلام دنیا، این متن است.", stream: stream), as: caller)
        let record = try #require(gateway.process.record(of: answer.requestID))
        var names: Set<String> = []
        record.json.forEachMember { name, _ in names.insert(String(decoding: name, as: UTF8.self)) }
        #expect(names == Self.members)
        #expect(record["tenant"]?.string == "acme")
        #expect(record["subject"]?.string == caller.subject)
        #expect(record["plan"]?.string == "rpm-5")
        #expect(record["task"]?.string == "summarize")
        #expect(record["provider"]?.string == "main")
        #expect(record["model"]?.string == "m-summarize")
        #expect(record["route"]?.string == "/api/process")
        #expect(record["outcome"]?.string == "answered")
        #expect(record["status"]?.int == 200)
        #expect(record["text_length"]?.int == 23)
        #expect(record["input_tokens"]?.int == 10)
        #expect(record["output_tokens"]?.int == 5)
        #expect(record["attempts"]?.int == 1)
        #expect(record["stream"]?.bool == stream)
        #expect(record["cancelled"]?.bool == false)
        let total = try #require(record["total_ms"]?.number)
        let overhead = try #require(record["overhead_ms"]?.number)
        #expect(overhead >= 0 && overhead <= total)
        #expect(gateway.process.records.count { $0.requestID == answer.requestID } == 1)
    }

    @Test(arguments: [
        ("unknown_task", #"{"task":"no-such","text":"x"}"#, 400),
        ("text_too_short", #"{"task":"summarize","text":"x"}"#, 400),
        ("invalid_request", "{", 400), ("model_not_selectable", #"{"task":"summarize","text":"x","model":"m"}"#, 400),
    ])
    func `A refused ask leaves a record with its code`(code: String, body: String, status: Int) throws {
        let gateway = try TestGateway.current
        let response = try gateway.post(body, as: Caller())
        let record = try #require(gateway.process.record(of: response.header("x-request-id")))
        #expect(response.status == status)
        #expect(record["outcome"]?.string == code)
        #expect(record["status"]?.int == status)
        #expect(record["attempts"]?.int == 0)
        #expect(record["task"]?.string != "no-such")
    }

    @Test func `A subject is written escaped and on one line`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("open", subject: Caller.unique(#"quote" back\ tab "#) + "\u{2028}سلام")
        // The subject goes into the token as JSON.
        let token = Issuers.rsa.token(
            claims: Caller.claims("x", ["sub": OpenAIShapes.quoted(caller.subject), "plan": "\"open\""]))
        let answer = try gateway.ask(Ask("subject"), as: Caller(subject: caller.subject, token: token))
        #expect(answer.status == 200)
        #expect(gateway.process.record(of: answer.requestID)?["subject"]?.string == caller.subject)
    }

    @Test func `The client's trace is kept as its own`() throws {
        let gateway = try TestGateway.current
        let trace = "0af7651916cd43dd8448eb211c80319c"
        let answer = try gateway.ask(Ask("trace"), headers: [("traceparent", "00-\(trace)-b7ad6b7169203331-01")])
        #expect(gateway.process.record(of: answer.requestID)?["trace_id"]?.string == trace)
        for bad in [
            "00-\(trace)-0000000000000000-01", "ff-\(trace)-b7ad6b7169203331-01",
            "00-\(trace.uppercased())-b7ad6b7169203331-01", "x",
        ] {
            let answer = try gateway.ask(Ask("trace"), headers: [("traceparent", bad)])
            #expect(gateway.process.record(of: answer.requestID)?["trace_id"]?.string != trace)
        }
    }

    @Test func `Request ids are never the client's and never the same`() throws {
        let gateway = try TestGateway.current
        let ids = try (0..<50).map { _ in
            try #require(gateway.ask(Ask("id"), headers: [("X-Request-Id", "mine")]).requestID)
        }
        #expect(Set(ids).count == 50)
        #expect(ids.allSatisfy { $0.utf8.count == 32 && $0 != "mine" })
    }

    @Test func `All refused credentials look the same`() throws {
        let gateway = try TestGateway.current
        let subject = Caller.unique("same")
        let claims = Caller.claims(subject)
        let tokens = [
            Issuers.rsa.token(claims: Caller.claims(subject, ["exp": "1"])),
            Issuers.stranger.with(keyID: "acme-rsa").token(claims: claims), Issuers.stranger.token(claims: claims),
            Issuers.rsa.token(claims: Caller.claims(subject, ["aud": "\"other\""])), "MARK-garbage",
            "sk-MARK-1234567890",
            Issuers.rsa.token(claims: claims, signature: .flipped),
        ]
        var bodies: Set<[UInt8]> = []
        for token in tokens {
            let response = try gateway.post(Ask("same").json, as: Caller(subject: subject, token: token))
            #expect(response.status == 401)
            #expect(!response.everything.contains("MARK"))
            bodies.insert(response.body)
        }
        #expect(bodies.count == 1)
        Stopwatch.sleep(milliseconds: 300)
        let sinks = gateway.process.everySink
        #expect(!sinks.contains("MARK"))
        for token in tokens {
            for part in token.split(separator: ".").suffix(2) where part.utf8.count > 20 {
                #expect(!sinks.contains(part))
            }
        }
    }

    @Test func `Metrics are well-formed text`() throws {
        let gateway = try TestGateway.current
        _ = try gateway.ask(Ask("metrics", stream: true))
        let response = try #require(gateway.process.admin("/metrics"))
        #expect(response.status == 200)
        #expect(response.header("content-type")?.hasPrefix("text/plain") == true)
        let lines = response.text.split(separator: "\n")
        let types = lines.filter { $0.hasPrefix("# TYPE ") }
        #expect(types.count == Set(types).count)
        #expect(lines.filter { !$0.hasPrefix("#") }.count == MetricsPage(response.text).count)
        let page = MetricsPage(response.text)
        #expect(page.value("askgate_asks_total", ["task": "summarize", "outcome": "answered"]) >= 1)
        #expect(page.value("askgate_admissions_total", ["decision": "admitted"]) >= 1)
        #expect(page.value("gen_ai_client_token_usage_count") >= 1)
        #expect(page.value("askgate_http_requests_total", ["route": "/api/process"]) >= 1)
    }

    @Test func `Running asks are seen while they run`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("inflight")
        let gate = Gate()
        _ = gateway.provider.script(
            marker,
            .events([
                .send(OpenAIShapes.event(OpenAIShapes.delta("a"))), .wait(gate),
                .send(OpenAIShapes.stream([]).joined()),
            ]))
        let client = try gateway.client()
        #expect(try gateway.begin(Ask(marker, stream: true), as: Caller(), on: client).status == 200)
        #expect(gateway.process.metrics.value("askgate_in_flight_asks") >= 1)
        gate.open()
        #expect(try client.allEvents().last?.name == "finish")
    }
}

@Suite("Series", .oneOfFewThreads, .serialized, .gateway())
struct SeriesTests {
    @Test func `No word of a client makes a series`() throws {
        let gateway = try TestGateway.current
        _ = try gateway.ask(Ask("first"))
        _ = try gateway.ask(Ask("first", task: "nothing"))
        let before = gateway.process.metrics.count
        let client = try gateway.client()
        for number in 0..<300 {
            try client.request("GET", "/random-path-\(number)")
            #expect(try client.response()?.status == 404)
        }
        for number in 0..<60 {
            // An unknown method ends the connection.
            let client = try gateway.client()
            try client.request("METHOD\(number)", "/")
            _ = try? client.response()
        }
        for number in 0..<100 {
            _ = try gateway.ask(Ask("subject"), as: Caller("rpm-1"), on: client)
            _ = try gateway.ask(Ask("task", task: "task-\(number)"), on: client)
        }
        let page = gateway.process.metrics
        #expect(page.count - before < 50)
        for word in ["random-path", "METHOD5", "task-5", "user-"] { #expect(!page.text.contains(word)) }
    }
}
