import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Questions whose owner comes back by another instance than the one that was asked.
@Suite("Questions at another instance", .oneOfFewThreads, .gateways(3))
struct HopTests {
    @Test func `An answer is read elsewhere as it is at home, from anywhere`() throws {
        let gateways = try HopGateways.current
        let (home, away) = (gateways[0], gateways[1])
        let (caller, marker) = (Caller(), Caller.unique("whole"))
        let (question, first) = try home.askKept(marker, .stream(["a", "\n\u{1F30A}", "c"]), as: caller)
        for seen in 0..<first.events.count {
            let last = seen == 0 ? nil : first.events[seen - 1].id
            let here = try home.follow(question, behind: last, as: caller)
            let there = try away.follow(question, behind: last, as: caller)
            #expect(there.status == 200 && there.events.map(\.data) == here.events.map(\.data))
            #expect(there.events.map(\.id) == first.events[seen...].map(\.id))
            #expect(there.events.map(\.name) == here.events.map(\.name) && !there.isCut)
        }
        #expect(try away.follow(question, behind: first.last, as: caller).status == 204)
        let beyond = try away.follow(question, behind: "\(question)-99", as: caller)
        #expect(beyond.status == 400 && beyond.code == "invalid_request")
        #expect(beyond.requestID != nil && beyond.response.json?["requestId"]?.string == beyond.requestID)
        #expect(try away.charged(to: caller) == 15)
        #expect(try away.used("requests_per_minute", by: caller) == 1)
        #expect(!away.provider.wasAsked(marker))
    }

    @Test func `A follow elsewhere leaves a record and is counted on both sides`() throws {
        let gateways = try HopGateways.current
        let (home, away) = (gateways[1], gateways[2])
        let (caller, marker) = (Caller(), Caller.unique("records"))
        let (question, _) = try home.askKept(marker, .stream(["seen"]), as: caller)
        let (sent, served) = (away.hops("sent", "answered"), home.hops("served", "answered"))
        let answer = try away.follow(question, as: caller)
        let here = try home.follow(question, as: caller)
        let record = try #require(away.process.record(of: answer.requestID))
        #expect(record["kind"]?.string == "follow" && record["elsewhere"]?.bool == true)
        #expect(record["question_id"]?.string == question && record["subject"]?.string == caller.subject)
        #expect(record["outcome"]?.string == "answered" && record["status"]?.int == 200)
        #expect(home.process.record(of: here.requestID)?["elsewhere"]?.bool == false)
        #expect(Stopwatch.wait(upTo: .seconds(15)) { away.hops("sent", "answered") > sent })
        #expect(Stopwatch.wait(upTo: .seconds(15)) { home.hops("served", "answered") > served })
        #expect(home.process.record(of: question)?["kind"] == nil, "the record of an ask has no kind")
        for gateway in gateways.all { #expect(!gateway.process.everySink.contains(marker)) }
    }

    @Test func `Node's EventSource comes back by itself at whatever instance it is led to`() throws {
        let gateways = try HopGateways.current
        try EventSourceStory.check(asked: gateways[0], followed: [gateways[1], gateways[2], gateways[0]])
    }

    @Test func `A phone that changes the instance three times gets the whole text once, charged once`() throws {
        let gateways = try HopGateways.current
        let (caller, marker) = (Caller(), Caller.unique("phone"))
        let words = ["The ", "tide ", "rises ", "with ", "the moon."]
        let gates = words.map { _ in Gate() }
        let script = gateways[0].provider.script(marker, .gated(words, gates))
        var answer = try gateways[0].lose(Ask(marker, task: "kept", stream: true), after: 2, as: caller)
        let question = try #require(answer.question)
        for (gate, next) in zip(gates, [1, 2, 1]) {
            let client = try gateways[next].client()
            var part = try gateways[next].beginFollowing(question, behind: answer.last, as: caller, on: client)
            #expect(part.status == 200 && part.isStream)
            gate.open()
            try gateways[next].read(1, into: &part, on: client)
            answer.events += part.events
            client.close(reset: true)
        }
        gates[3].open()
        gates[4].open()
        answer.events += try gateways[2].follow(question, behind: answer.last, as: caller).events
        answer.checkStream()
        #expect(answer.text == words.joined() && answer.isFinished)
        #expect(answer.numbers == Array(0..<7))
        #expect(script.calls.count == 1 && !gateways[1].provider.wasAsked(marker))
        for gateway in gateways.all { #expect(try gateway.charged(to: caller) == 15) }
        #expect(try gateways[1].used("requests_per_minute", by: caller) == 1)
    }

    @Test func `A phone that leaves the hop leaves the question too, whose grace then counts`() throws {
        let gateways = try HopGateways.current
        let (caller, marker) = (Caller(), Caller.unique("leaves"))
        let gate = Gate()
        let script = gateways[0].provider.script(marker, .gated(["some ", "more"], [gate, Gate()]))
        let own = try gateways[0].client()
        var answer = try gateways[0].begin(Ask(marker, task: "brief", stream: true), as: caller, on: own)
        try gateways[0].read(1, into: &answer, on: own)
        let away = try gateways[1].client()
        var part = try gateways[1].beginFollowing(try #require(answer.question), as: caller, on: away)
        try gateways[1].read(1, into: &part, on: away)
        // The task has no grace: the ask lives as long as the phone is there.
        own.close(reset: true)
        gate.open()
        try gateways[1].read(1, into: &part, on: away)
        #expect(part.text == "some ")
        let call = try #require(script.calls.first)
        #expect(call.end == nil)
        away.close()
        #expect(Stopwatch.wait(upTo: .seconds(15)) { call.end == .peerClosed })
    }

    @Test func `A cancel elsewhere ends the provider's call within a second, kept or not`() throws {
        let gateways = try HopGateways.current
        for task in ["kept", "tiny"] {
            let (caller, marker) = (Caller(), Caller.unique("cancel"))
            let script = gateways[0].provider.script(marker, .gated(["some ", "more"], [Gate(), Gate()]))
            let client = try gateways[0].client()
            var answer = try gateways[0].begin(Ask(marker, task: task, stream: true), as: caller, on: client)
            try gateways[0].read(2, into: &answer, on: client)
            let question = try #require(answer.question)
            #expect(try gateways[1].cancel(question, as: Caller()) == 404)
            #expect(script.calls.first?.end == nil)
            #expect(try gateways[1].cancel(question, as: caller) == 204)
            // A second, and what a busy machine adds.
            #expect(script.calls.first?.waitForEnd(within: .seconds(3)) != nil)
            for gateway in gateways.all { #expect(try gateway.cancel(question, as: caller) == 204) }
            gateways[0].readEvents(of: &answer, on: client)
            answer.checkStream()
            #expect(answer.code == "question_cancelled")
            #expect(try gateways[1].charged(to: caller) > 0)
        }
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 20) {
                gateways[1].process.records.contains {
                    $0["kind"]?.string == "cancel" && $0["elsewhere"]?.bool == true && $0["status"]?.int == 204
                }
            })
    }

    @Test func `Nobody but its owner learns of a question by any instance`() throws {
        let gateways = try HopGateways.current
        let caller = Caller()
        let (question, _) = try gateways[0].askKept(Caller.unique("owned"), .stream(["mine"]), as: caller)
        let twin = Caller(
            subject: caller.subject,
            token: Issuers.hmac.token(
                claims: TokenMint.claims(
                    issuer: Issuers.borealis, audience: Issuers.borealisAudience, subject: caller.subject,
                    now: Int64(Stopwatch.wallSeconds()), changes: [:]),
                header: Issuers.hmac.header(type: "JWT")))
        for stranger in [Caller(), twin] {
            let answer = try gateways[1].follow(question, as: stranger)
            #expect(answer.status == 404 && answer.code == "not_found")
            #expect(try gateways[1].cancel(question, as: stranger) == 404)
        }
        let unknown = String(question.dropLast(4)) + (question.hasSuffix("0000") ? "1111" : "0000")
        let refused = try gateways[1].follow(unknown, as: caller)
        #expect(refused.status == 404)
        #expect(gateways[1].process.record(of: refused.requestID)?["elsewhere"]?.bool == true)
        let home = try gateways[0].follow(unknown, as: caller)
        #expect(gateways[0].process.record(of: home.requestID)?["elsewhere"]?.bool == false)
        #expect(try gateways[1].follow(question, as: caller).text == "mine")
    }

    @Test func `A question of an instance that never was is gone, and of a task that keeps nothing as well`() throws {
        let gateways = try HopGateways.current
        let (caller, marker) = (Caller(), Caller.unique("plain"))
        #expect(try gateways[1].follow(String(repeating: "7", count: 32), as: caller).code == "question_gone")
        let gate = Gate()
        _ = gateways[0].provider.script(marker, .gated(["x"], [gate]))
        let client = try gateways[0].client()
        var answer = try gateways[0].begin(Ask(marker, task: "tiny", stream: true), as: caller, on: client)
        try gateways[0].read(2, into: &answer, on: client)
        let refused = try gateways[1].follow(try #require(answer.question), as: caller)
        #expect(refused.status == 410 && refused.code == "question_gone")
        gate.open()
        gateways[0].readEvents(of: &answer, on: client)
    }

    @Test func `Kept answers show in the metrics of the instance that keeps them`() throws {
        let gateway = try HopGateways.current[2]
        let before = gateway.process.metrics
        _ = try gateway.askKept(Caller.unique("gauge"), .stream([String(repeating: "x", count: 20_000)]), as: Caller())
        let after = gateway.process.metrics
        #expect(after.value("askgate_questions") >= before.value("askgate_questions") + 1)
        #expect(after.value("askgate_questions_bytes") >= before.value("askgate_questions_bytes") + 20_000)
    }
}

/// Repeats whose first ask is at another instance.
@Suite("Repeats at another instance", .oneOfFewThreads, .gateways(2))
struct HopRepeatTests {
    private func key() -> [(name: String, value: String)] { [("Idempotency-Key", Caller.unique("key"))] }

    @Test func `A repeat elsewhere joins, streamed or plain, asked and charged once`() throws {
        let gateways = try HopGateways.current
        let (caller, marker, key) = (Caller(), Caller.unique("join"), self.key())
        let gates = [Gate(), Gate()]
        let script = gateways[0].provider.script(marker, .gated(["one ", "two"], gates))
        let ask = Ask(marker, task: "kept")
        let stream = [("Accept", "text/event-stream")]
        let client = try gateways[0].client()
        var first = try gateways[0].begin(ask, as: caller, headers: key + stream, on: client)
        try gateways[0].read(2, into: &first, on: client)
        let (joined, plain) = (try gateways[1].client(), try gateways[1].client())
        try gateways[1].send(ask, as: caller, headers: key, on: plain)
        var second = try gateways[1].begin(ask, as: caller, headers: key + stream, on: joined)
        #expect(second.response.header("idempotency-replayed") == "true")
        #expect(!plain.hasInput)
        for gate in gates { gate.open() }
        gateways[0].readEvents(of: &first, on: client)
        gateways[1].readEvents(of: &second, on: joined)
        let third = try #require(try plain.response())
        #expect(first.events.map(\.data) == second.events.map(\.data) && first.text == "one two")
        #expect(first.events.map(\.id) == second.events.map(\.id))
        #expect(third.json?["result"]?.string == "one two" && third.header("idempotency-replayed") == "true")
        #expect(third.json?["requestId"]?.string == first.question)
        #expect(script.calls.count == 1 && !gateways[1].provider.wasAsked(marker))
        #expect(try gateways[1].charged(to: caller) == 15)
        #expect(try gateways[1].used("requests_per_minute", by: caller) == 1)
    }

    @Test(arguments: ["/api/process", "/v1/questions", "/v1/chat/completions"])
    func `A finished ask is answered again by every route, as it was`(path: String) throws {
        let gateways = try HopGateways.current
        let (caller, marker, key) = (Caller(), Caller.unique("again"), self.key())
        _ = gateways[0].provider.script(marker, .answer("By the \u{1F319}.", usage: .init(11, 4)))
        let bodies = [
            "/api/process": Ask(marker, task: "kept").json,
            "/v1/questions": #"{"question":"Why? \#(marker)","agent":"kept"}"#,
            "/v1/chat/completions": TestGateway.chatBody(marker, model: "kept"),
        ]
        let body = try #require(bodies[path])
        let first = try gateways[0].post(body, as: caller, path: path, headers: key)
        let again = try gateways[1].post(body, as: caller, path: path, headers: key)
        #expect(first.status == 200 && again.status == 200 && first.text == again.text)
        #expect(again.header("idempotency-replayed") == "true" && again.header("content-type") == "application/json")
        #expect(again.header("x-request-id") != first.header("x-request-id"))
        #expect(try gateways[1].post(body + " ", as: caller, path: path, headers: key).status == 422)
        #expect(try gateways[1].charged(to: caller) == 15)
        let record = gateways[1].process.record(of: again.header("x-request-id"))
        #expect(record?["outcome"]?.string == "answered" && record?["kind"] == nil)
    }

    @Test func `A streamed chat completion is repeated with its chunks, usage and end`() throws {
        let gateways = try HopGateways.current
        let (caller, marker, key) = (Caller(), Caller.unique("chat"), self.key())
        _ = gateways[0].provider.script(marker, .stream(["one ", "two"]))
        let more = #","stream":true,"stream_options":{"include_usage":true}"#
        let body = TestGateway.chatBody(marker, model: "kept", more: more)
        let first = try gateways[0].post(body, as: caller, path: "/v1/chat/completions", headers: key)
        let again = try gateways[1].post(body, as: caller, path: "/v1/chat/completions", headers: key)
        #expect(again.status == 200 && first.text == again.text && again.text.hasSuffix("data: [DONE]\n\n"))
        #expect(again.text.contains(#""total_tokens":15"#) && again.text.contains(#""model":"kept""#))
    }

    @Test func `An ask that failed and cost something fails again as it did, in the client's language`() throws {
        let gateways = try HopGateways.current
        for isStream in [false, true] {
            let (caller, marker, key) = (Caller(), Caller.unique("fails"), self.key())
            _ = gateways[0].provider.script(
                marker, .events([.send(OpenAIShapes.event(OpenAIShapes.delta("half "))), .reset]))
            let ask = Ask(marker, task: "kept", stream: true)
            let first = try gateways[0].ask(ask, as: caller, headers: key)
            #expect(first.code == "provider_failed")
            var repeated = key + [("Accept-Language", "fa")]
            if !isStream { repeated.append(("Accept", "application/json")) }
            let again = try gateways[1].ask(ask, as: caller, headers: repeated)
            again.checkStream()
            #expect(again.code == "provider_failed" && again.text == "half ")
            #expect(again.event("error")?.json?["message"]?.string?.contains("سرویس") == true)
            #expect(try gateways[1].charged(to: caller) > 0)
        }
    }

    @Test func `A plain ask that failed and cost something fails again with its status`() throws {
        let gateways = try HopGateways.current
        let (caller, marker, key) = (Caller(), Caller.unique("plain"), self.key())
        _ = gateways[0].provider.script(marker, .answer(""), .answer(""))
        let ask = Ask(marker, task: "kept")
        let first = try gateways[0].ask(ask, as: caller, headers: key)
        try #require(first.status == 502)
        let here = try gateways[0].ask(ask, as: caller, headers: key)
        let there = try gateways[1].ask(ask, as: caller, headers: key)
        #expect(there.status == here.status && there.code == here.code)
        #expect(there.response.header("idempotency-replayed") == here.response.header("idempotency-replayed"))
    }

    @Test func `Without a kept answer a repeat elsewhere is told to wait, and then that it is over`() throws {
        let gateways = try HopGateways.current
        let (caller, marker, key) = (Caller(), Caller.unique("unkept"), self.key())
        let gate = Gate()
        _ = gateways[0].provider.script(marker, .gated(["x"], [gate]))
        let client = try gateways[0].client()
        var first = try gateways[0].begin(Ask(marker, task: "tiny", stream: true), as: caller, headers: key, on: client)
        try gateways[0].read(2, into: &first, on: client)
        let early = try gateways[1].ask(Ask(marker, task: "tiny", stream: true), as: caller, headers: key)
        #expect(early.status == 409 && early.code == "idempotency_in_progress")
        gate.open()
        gateways[0].readEvents(of: &first, on: client)
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 20) {
                (try? gateways[1].ask(Ask(marker, task: "tiny", stream: true), as: caller, headers: key).code)
                    == "idempotency_finished"
            })
        #expect(!gateways[1].provider.wasAsked(marker))
    }
}
