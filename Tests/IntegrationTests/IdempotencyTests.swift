import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Asks that carry an `Idempotency-Key`.
@Suite("Repeated asks", .oneOfFewThreads, .gateway(.resuming))
struct IdempotencyTests {
    private func key(_ value: String = Caller.unique("key")) -> [(name: String, value: String)] {
        [("Idempotency-Key", value)]
    }

    @Test func `A repeat while it runs joins, streamed or plain, asked and charged once`() throws {
        let gateway = try TestGateway.current
        let (caller, marker, key) = (Caller(), Caller.unique("join"), self.key())
        let gates = [Gate(), Gate()]
        let script = gateway.provider.script(marker, .gated(["one ", "two"], gates))
        let ask = Ask(marker, task: "kept")
        let stream = [("Accept", "text/event-stream")]
        let client = try gateway.client()
        var first = try gateway.begin(ask, as: caller, headers: key + stream, on: client)
        try gateway.read(2, into: &first, on: client)
        let (joined, plain) = (try gateway.client(), try gateway.client())
        var second = try gateway.begin(ask, as: caller, headers: key + stream, on: joined)
        #expect(second.response.header("idempotency-replayed") == "true")
        #expect(first.response.header("idempotency-replayed") == nil)
        try gateway.send(ask, as: caller, headers: key, on: plain)
        for gate in gates { gate.open() }
        gateway.readEvents(of: &first, on: client)
        gateway.readEvents(of: &second, on: joined)
        let third = try #require(try plain.response())
        #expect(first.events.map(\.data) == second.events.map(\.data) && first.text == "one two")
        #expect(third.json?["result"]?.string == "one two" && third.header("idempotency-replayed") == "true")
        #expect(third.json?["requestId"]?.string == first.question)
        #expect(script.calls.count == 1)
        #expect(try gateway.charged(to: caller) == 15)
        #expect(try gateway.used("requests_per_minute", by: caller) == 1)
    }

    @Test(arguments: ["/api/process", "/v1/questions", "/v1/chat/completions"])
    func `A finished ask is answered again by every route, as it was`(path: String) throws {
        let gateway = try TestGateway.current
        let (caller, marker, key) = (Caller(), Caller.unique("again"), self.key())
        let script = gateway.provider.script(marker, .answer("By the moon.", usage: .init(11, 4)))
        let bodies = [
            "/api/process": Ask(marker, task: "kept").json,
            "/v1/questions": #"{"question":"Why? \#(marker)","agent":"kept"}"#,
            "/v1/chat/completions": TestGateway.chatBody(marker, model: "kept"),
        ]
        let body = try #require(bodies[path])
        let first = try gateway.post(body, as: caller, path: path, headers: key)
        let again = try gateway.post(body, as: caller, path: path, headers: key)
        #expect(first.status == 200 && again.status == 200 && first.text == again.text)
        #expect(
            again.header("idempotency-replayed") == "true"
                && again.header("x-request-id") != first.header("x-request-id"))
        #expect(script.calls.count == 1)
        #expect(try gateway.charged(to: caller) == 15)
        let other = try gateway.post(body + " ", as: caller, path: path, headers: key)
        #expect(other.status == 422)
        #expect((other.json?["code"] ?? other.json?["error"]?["code"])?.string == "idempotency_mismatch")
        // Another subject's key of the same name is its own.
        #expect(try gateway.post(body, as: Caller(), path: path, headers: key).header("idempotency-replayed") == nil)
    }

    @Test func `Without a kept answer a repeat is told to wait, and then that it is over`() throws {
        let gateway = try TestGateway.current
        let (caller, marker, key) = (Caller(), Caller.unique("unkept"), self.key())
        let gate = Gate()
        let script = gateway.provider.script(marker, .gated(["x"], [gate]))
        let client = try gateway.client()
        var first = try gateway.begin(Ask(marker, task: "tiny", stream: true), as: caller, headers: key, on: client)
        try gateway.read(2, into: &first, on: client)
        let early = try gateway.ask(Ask(marker, task: "tiny", stream: true), as: caller, headers: key)
        #expect(early.status == 409 && early.code == "idempotency_in_progress")
        #expect(early.response.header("retry-after") != nil)
        gate.open()
        gateway.readEvents(of: &first, on: client)
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 20) {
                let late = try? gateway.ask(Ask(marker, task: "tiny", stream: true), as: caller, headers: key)
                return late?.status == 410 && late?.code == "idempotency_finished"
            })
        #expect(script.calls.count == 1)
        #expect(try gateway.charged(to: caller) == 15)
    }

    @Test func `An ask that failed and cost nothing may be asked again with its key`() throws {
        let gateway = try TestGateway.current
        for task in ["kept", "tiny"] {
            let (caller, marker, key) = (Caller(), Caller.unique("fails"), self.key())
            let script = gateway.provider.script(marker, .body("{}", status: 500), .answer("well"))
            #expect(try gateway.ask(Ask(marker, task: task), as: caller, headers: key).code == "provider_failed")
            let second = try gateway.ask(Ask(marker, task: task), as: caller, headers: key)
            #expect(second.status == 200 && second.response.header("idempotency-replayed") == nil)
            #expect(script.calls.count == 2)
        }
        let (limited, key) = (Caller("rpm-1"), self.key())
        #expect(try gateway.ask(Ask("first"), as: limited).status == 200)
        for _ in 0..<2 {
            let refused = try gateway.ask(Ask("second"), as: limited, headers: key)
            #expect(refused.status == 429 && refused.code == "requests_per_minute_exceeded")
        }
    }

    @Test(arguments: ["", "has space", String(repeating: "k", count: 256), "tab\there"])
    func `A key that is none is refused`(key: String) throws {
        let gateway = try TestGateway.current
        let answer = try gateway.ask(Ask("bad key"), headers: self.key(key))
        #expect(answer.status == 400 && answer.code == "invalid_request")
    }

    @Test func `The longest key is taken, and two are not`() throws {
        let gateway = try TestGateway.current
        let longest = self.key(String(repeating: "k", count: 255))
        #expect(try gateway.ask(Ask("long key"), headers: longest).status == 200)
        #expect(try gateway.ask(Ask("two keys"), headers: longest + self.key()).status == 400)
    }
}

/// Keys over several gateways beside one Redis.
@Suite("Repeated asks over instances", .oneOfFewThreads, .serialized)
struct SharedKeyTests {
    private func gateway(_ redis: RedisServer) throws -> TestGateway {
        var settings = GatewaySettings.resuming
        settings.loops = 1
        settings.store = "{kind: redis, address: \"127.0.0.1:\(redis.port)\", timeout: 500ms}"
        settings.outage = "allow"
        return try TestGateway(settings)
    }

    @Test func `A key holds over two gateways, and no stance lets it pass without the store`() throws {
        let redis = try RedisServer()
        let (one, other) = (try self.gateway(redis), try self.gateway(redis))
        let (caller, key) = (Caller(), [("Idempotency-Key", Caller.unique("key"))])
        let ask = Ask(Caller.unique("once"), task: "kept")
        #expect(try one.ask(ask, as: caller, headers: key).status == 200)
        #expect(try one.ask(ask, as: caller, headers: key).response.header("idempotency-replayed") == "true")
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 20) {
                (try? other.ask(ask, as: caller, headers: key).code) == "idempotency_finished"
            })
        var changed = ask
        changed.text += "!"
        #expect(try other.ask(changed, as: caller, headers: key).status == 422)
        #expect(other.provider.calls.isEmpty && one.provider.calls.count == 1)
        redis.kill()
        #expect(try other.ask(Ask("no key"), as: caller).status == 200)
        let refused = try other.ask(Ask("a key"), as: caller, headers: [("Idempotency-Key", "another")])
        #expect(refused.status == 503 && refused.code == "quota_store_unavailable")
    }
}
