import GatewayTesting
import GatewayTypes
import Glibc
import JSON
import Testing

/// Instances that die, fall silent, or know each other no more while somebody reads by another one.
@Suite("Instances that fail each other", .oneOfFewThreads, .serialized)
struct HopFaultTests {
    @Test func `A holder that was killed is unreachable until its lease has run out, and gone from then on`() throws {
        let gateways = try HopGateways()
        let (home, away) = (gateways[0], gateways[1])
        let (caller, marker, key) = (Caller(), Caller.unique("killed"), [("Idempotency-Key", Caller.unique("key"))])
        _ = home.provider.script(marker, .stream(["kept"]))
        let ask = Ask(marker, task: "kept", stream: true)
        let question = try #require(try home.ask(ask, as: caller, headers: key).question)
        #expect(try away.follow(question, as: caller).text == "kept")
        home.process.child.signal(SIGKILL)
        _ = home.process.child.waitForExit(within: .seconds(15))
        for answer in [
            try away.follow(question, as: caller), try away.ask(ask, as: caller, headers: key),
        ] {
            #expect(answer.status == 503 && answer.code == "instance_unreachable")
            #expect(answer.response.header("retry-after") != nil)
        }
        #expect(try away.cancel(question, as: caller) == 503)
        #expect(away.hops("sent", "unreachable") == 3)
        try gateways.expireLease(of: question)
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 50) {
                (try? away.follow(question, as: caller).code) == "question_gone"
            })
        #expect(try away.cancel(question, as: caller) == 410)
        #expect(try away.ask(ask, as: caller, headers: key).code == "idempotency_finished")
        #expect(away.hops("sent", "gone") > 0 && away.provider.calls.isEmpty)
    }

    @Test func `A stream whose holder dies breaks off behind a whole event and without an end`() throws {
        let gateways = try HopGateways()
        let (caller, marker, key) = (Caller(), Caller.unique("dies"), [("Idempotency-Key", Caller.unique("key"))])
        _ = gateways[0].provider.script(marker, .gated(["one ", "two"], [Gate(), Gate()]))
        let body = TestGateway.chatBody(marker, model: "kept", more: #","stream":true"#)
        let own = try gateways[0].client()
        try own.request(
            "POST", "/v1/chat/completions",
            headers: [("Content-Type", "application/json"), caller.authorization] + key, body: Array(body.utf8))
        _ = try own.head()
        let chat = try gateways[1].client()
        try chat.request(
            "POST", "/v1/chat/completions",
            headers: [("Content-Type", "application/json"), caller.authorization] + key, body: Array(body.utf8))
        var repeated = Answer(response: try chat.head())
        let other = Ask(Caller.unique("dies"), task: "kept", stream: true)
        _ = gateways[0].provider.script(other.text, .gated(["one ", "two"], [Gate(), Gate()]))
        let reader = try gateways[0].client()
        var answer = try gateways[0].begin(other, as: caller, on: reader)
        try gateways[0].read(2, into: &answer, on: reader)
        let away = try gateways[1].client()
        var part = try gateways[1].beginFollowing(try #require(answer.question), as: caller, on: away)
        try gateways[1].read(2, into: &part, on: away)
        gateways[0].process.child.signal(SIGKILL)
        gateways[1].readEvents(of: &part, on: away)
        #expect(part.isCut && part.events.map(\.name) == ["start", "answer"])
        let back = try gateways[1].follow(try #require(answer.question), behind: part.last, as: caller)
        #expect(back.status == 503 && back.code == "instance_unreachable")
        // A chat completion can't be come back to, so its client is told.
        gateways[1].readEvents(of: &repeated, on: chat)
        #expect(repeated.isCut && repeated.events.last?.data?.contains("instance_unreachable") == true)
        #expect(!repeated.events.contains { $0.data == "[DONE]" })
        #expect(gateways[1].hops("sent", "broken") == 2)
    }

    @Test func `A holder that falls silent holds nobody up`() throws {
        let gateways = try HopGateways()
        let (caller, marker) = (Caller(), Caller.unique("silent"))
        let (question, _) = try gateways[0].askKept(marker, .stream(["kept"]), as: caller)
        gateways[0].process.child.signal(SIGSTOP)
        defer { gateways[0].process.child.signal(SIGCONT) }
        let watch = Stopwatch()
        let answer = try gateways[1].follow(question, as: caller)
        #expect(answer.status == 503 && answer.code == "instance_unreachable")
        #expect(watch.elapsed < .seconds(10))
    }

    @Test func `An instance without the listener is left alone, and asks nobody`() throws {
        let gateways = try HopGateways([
            { .hopping($0) }, { .hopping($0, listens: false) },
        ])
        let caller = Caller()
        for (home, away) in [(gateways[0], gateways[1]), (gateways[1], gateways[0])] {
            let (question, _) = try home.askKept(Caller.unique("apart"), .stream(["x"]), as: caller)
            #expect(try away.follow(question, as: caller).status == 404)
            #expect(try away.cancel(question, as: caller) == 404)
        }
        let (caller2, marker, key) = (Caller(), Caller.unique("key"), [("Idempotency-Key", Caller.unique("key"))])
        _ = gateways[0].provider.script(marker, .stream(["x"]))
        let ask = Ask(marker, task: "kept", stream: true)
        _ = try gateways[0].ask(ask, as: caller2, headers: key)
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 20) {
                (try? gateways[1].ask(ask, as: caller2, headers: key).code) == "idempotency_finished"
            })
        #expect(gateways[1].hops("sent", "answered") == 0)
    }

    @Test func `Without the store nobody is told that a question is gone`() throws {
        let gateways = try HopGateways()
        let caller = Caller()
        let (question, _) = try gateways[0].askKept(Caller.unique("store"), .stream(["x"]), as: caller)
        gateways.redis.kill()
        let answer = try gateways[1].follow(question, as: caller)
        #expect(answer.status == 503 && answer.code == "quota_store_unavailable")
    }

    @Test func `A phone that reads slowly slows the holder and its provider, and memory stays bounded`() throws {
        let gateways = try HopGateways()
        let (home, away) = (gateways[0], gateways[1])
        let (caller, marker) = (Caller(), Caller.unique("slow"))
        let gate = Gate()
        let word = String(repeating: "y", count: 1000)
        let event = OpenAIShapes.event(OpenAIShapes.delta(word))
        let count = 40_000
        let end = [OpenAIShapes.finish(), OpenAIShapes.usage(.init(10, 5)), "[DONE]"]
            .map { ProviderStep.send(OpenAIShapes.event($0)) }
        let begin = ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta("a")))
        let script = home.provider.script(marker, .events([begin, .wait(gate), .flood(event, times: count)] + end))
        let own = try home.client()
        var answer = try home.begin(Ask(marker, task: "ample", stream: true), as: caller, on: own)
        try home.read(2, into: &answer, on: own)
        let phone = try away.client(receiveBuffer: 8192)
        var part = try away.beginFollowing(try #require(answer.question), as: caller, on: phone)
        try away.read(2, into: &part, on: phone)
        own.close(reset: true)
        let before = gateways.all.map { $0.process.child.residentMemory }
        gate.open()
        let call = try #require(script.calls.first)
        var sent = -1
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 500) {
                defer { sent = call.bytesSent }
                return sent > 0 && call.bytesSent == sent
            }, "the provider is never held up")
        #expect(sent < 20_000_000)
        for (gateway, memory) in zip(gateways.all, before) {
            let now = gateway.process.child.residentMemory
            #expect(now < memory + 12_000_000, "\(memory) became \(now)")
        }
        var bytes = 0
        while let next = try phone.event() {
            if next.name == "answer" { bytes += next.json?["deltaText"]?.string?.utf8.count ?? 0 }
            part.events = [next]
        }
        #expect(bytes == count * 1000 && part.events.first?.name == "finish")
        #expect(try away.charged(to: caller) == 15)
    }

    @Test func `A stopping holder lets its readers elsewhere have all of a running answer`() throws {
        let gateways = try HopGateways()
        let (caller, marker) = (Caller(), Caller.unique("drain"))
        let gates = [Gate(), Gate()]
        _ = gateways[0].provider.script(marker, .gated(["one ", "two"], gates))
        let own = try gateways[0].client()
        var answer = try gateways[0].begin(Ask(marker, task: "kept", stream: true), as: caller, on: own)
        gates[0].open()
        try gateways[0].read(2, into: &answer, on: own)
        let away = try gateways[1].client()
        var part = try gateways[1].beginFollowing(try #require(answer.question), as: caller, on: away)
        try gateways[1].read(2, into: &part, on: away)
        gateways[0].process.child.signal(SIGTERM)
        #expect(Stopwatch.wait(upTo: .seconds(15)) { !gateways[0].process.isReady })
        // Even who comes now is served.
        #expect(try gateways[1].cancel(String(repeating: "1", count: 32), as: caller) == 410)
        gates[1].open()
        gateways[1].readEvents(of: &part, on: away)
        #expect(part.text == "one two" && part.isFinished && !part.isCut)
        #expect(gateways[0].process.child.waitForExit(within: .seconds(15)) == 0)
        // It has taken its leave, so that nobody waits for its lease.
        #expect(try gateways[1].follow(try #require(answer.question), as: caller).code == "question_gone")
    }
}

/// Hops that no instance has made.
@Suite("Forged hops", .oneOfFewThreads, .serialized, .gateways(2))
struct HopForgeryTests {
    /// A follow of a kept question as an instance would ask for it, and where to send it.
    private func hop(_ gateways: HopGateways, as caller: Caller = Caller()) throws -> (HopSigner, UInt16) {
        let (question, _) = try gateways[0].askKept(Caller.unique("forged"), .stream(["mine"]), as: caller)
        return (
            HopSigner(
                secret: HopSecrets.usual, target: "/hop/v1/questions/\(question)", tenant: "acme",
                subject: caller.subject, time: Stopwatch.wallSeconds()),
            try gateways.port(of: question)
        )
    }

    private func send(
        _ method: String = "GET", _ target: String, _ headers: [(name: String, value: String)], to port: UInt16
    ) throws -> HTTPResponse {
        let client = try RawClient(port: port)
        defer { client.close() }
        try client.request(method, target, headers: headers)
        return try #require(try client.response())
    }

    @Test func `A hop that was signed is taken once`() throws {
        let gateways = try HopGateways.current
        let (hop, port) = try self.hop(gateways)
        let replays = gateways[0].hops("served", "replayed")
        let first = try self.send(hop.target, hop: hop, to: port)
        #expect(first.status == 200 && first.text.contains("mine"))
        for _ in 0..<3 {
            let again = try self.send(hop.target, hop: hop, to: port)
            #expect(again.status == 401 && again.body.isEmpty)
        }
        #expect(gateways[0].hops("served", "replayed") == replays + 3)
    }

    private func send(_ target: String, hop: HopSigner, to port: UInt16) throws -> HTTPResponse {
        try self.send(hop.method, target, hop.headers, to: port)
    }

    @Test func `Nothing of a hop can be changed`() throws {
        let gateways = try HopGateways.current
        let owner = Caller()
        let (hop, port) = try self.hop(gateways, as: owner)
        let (foreign, _) = try self.hop(gateways)
        let signature = HopSigner.encoded(hop.signature)
        let before = gateways[0].hops("served", "bad_signature")
        func changed(_ change: (inout HopSigner) -> Void) -> HopSigner {
            var other = hop
            change(&other)
            return other
        }
        let forged = [
            changed { $0.method = "DELETE" }, changed { $0.target = foreign.target },
            changed { $0.tenant = "borealis" },
            changed { $0.subject = foreign.subject },
            changed {
                $0.tenant = "acm"; $0.subject = "e" + $0.subject
            },
            changed { $0.lastEvent = "\($0.target.dropFirst(18))-1" }, changed { $0.language = "fa" },
            changed { $0.time += 1 }, changed { $0.nonce = HopSigner.freshNonce() },
        ]
        for other in forged {
            let headers = other.headers.map { $0.name == "askgate-signature" ? ($0.name, signature) : $0 }
            let answer = try self.send(other.method, other.target, headers, to: port)
            #expect(answer.status == 401 && answer.body.isEmpty, "\(other)")
        }
        let cut = hop.headers.map { $0.name == "askgate-signature" ? ($0.name, String(signature.dropLast(3))) : $0 }
        #expect(try self.send("GET", hop.target, cut, to: port).status == 401)
        #expect(gateways[0].hops("served", "bad_signature") == before + Double(forged.count) + 1)
        // Nothing of that used the nonce up.
        #expect(try self.send(hop.target, hop: hop, to: port).status == 200)
    }

    @Test func `A hop is good for half a minute before and behind its time`() throws {
        let gateways = try HopGateways.current
        let (hop, port) = try self.hop(gateways)
        let before = gateways[0].hops("served", "stale")
        for (seconds, status) in [(-3600, 401), (-32, 401), (-28, 200), (28, 200), (33, 401), (3600, 401)] {
            var other = hop
            other.time = Stopwatch.wallSeconds() + seconds
            other.nonce = HopSigner.freshNonce()
            #expect(try self.send(hop.target, hop: other, to: port).status == status, "\(seconds)")
        }
        #expect(gateways[0].hops("served", "stale") == before + 4)
    }

    @Test func `Another secret, a user's token or no word at all open nothing`() throws {
        let gateways = try HopGateways.current
        let caller = Caller()
        let (hop, port) = try self.hop(gateways, as: caller)
        for secret in [HopSecrets.strange, Array("\(TestGateway.providerKey)".utf8), HopSecrets.next] {
            var other = hop
            other.secret = secret
            #expect(try self.send(hop.target, hop: other, to: port).status == 401)
        }
        let question = String(hop.target.dropFirst("/hop/v1/questions/".count))
        for target in [
            hop.target, "/v1/questions/\(question)", "/api/health", "/metrics", "/", "/hop/v1/repeats/\(question)/ps",
        ] {
            #expect(try self.send("GET", target, [caller.authorization], to: port).status == 401)
            #expect(try self.send("GET", target + "?x", hop.headers, to: port).status == 401)
        }
        for missing in hop.headers.map(\.name) where missing != "accept-language" {
            let headers = hop.headers.filter { $0.name != missing }
            #expect(try self.send("GET", hop.target, headers, to: port).status == 401, "without \(missing)")
        }
    }

    @Test func `A question of a third instance is not passed on`() throws {
        let gateways = try HopGateways.current
        let caller = Caller()
        var (hop, port) = try self.hop(gateways, as: caller)
        let (third, _) = try gateways[1].askKept(Caller.unique("third"), .stream(["theirs"]), as: caller)
        hop.target = "/hop/v1/questions/\(third)"
        let sent = gateways[0].hops("sent", "answered")
        let answer = try self.send(hop.target, hop: hop, to: port)
        #expect(answer.status == 421 && answer.body.isEmpty)
        #expect(gateways[0].hops("served", "not_here") > 0 && gateways[0].hops("sent", "answered") == sent)
    }

    @Test func `A well signed hop of somebody else learns nothing`() throws {
        let gateways = try HopGateways.current
        let (hop, port) = try self.hop(gateways)
        var other = hop
        other.subject = "somebody-else"
        let answer = try self.send(hop.target, hop: other, to: port)
        #expect(answer.status == 404 && answer.body.isEmpty && answer.header("askgate-code") == "not_found")
    }
}

/// What the instances know each other by.
@Suite("Secrets of hops", .oneOfFewThreads, .serialized)
struct HopSecretTests {
    @Test func `An instance with another secret is refused, and says so nowhere but in its numbers`() throws {
        let gateways = try HopGateways([
            { .hopping($0) }, { .hopping($0, secrets: ["strange.secret"]) },
        ])
        let caller = Caller()
        let (question, _) = try gateways[0].askKept(Caller.unique("strange"), .stream(["x"]), as: caller)
        let answer = try gateways[1].follow(question, as: caller)
        #expect(answer.status == 503 && answer.code == "instance_unreachable")
        #expect(try gateways[1].cancel(question, as: caller) == 503)
        #expect(gateways[1].hops("sent", "refused") == 2 && gateways[0].hops("served", "bad_signature") == 2)
        for gateway in gateways.all {
            for (_, secret) in HopSecrets.files {
                #expect(!gateway.process.everySink.contains(String(decoding: secret, as: UTF8.self)))
            }
        }
    }

    @Test func `The secret is changed by reloads, one instance after the other, and no hop is refused`() throws {
        let gateways = try HopGateways()
        let caller = Caller()
        let questions = try gateways.all.map { try $0.askKept(Caller.unique("turn"), .stream(["x"]), as: caller).0 }
        func check() throws {
            for (home, question) in questions.enumerated() {
                #expect(try gateways[1 - home].follow(question, as: caller).text == "x")
            }
        }
        try check()
        for secrets in [["hop.secret", "next.secret"], ["next.secret", "hop.secret"], ["next.secret"]] {
            for gateway in gateways.all {
                try gateway.reload(.hopping(gateways.redis, secrets: secrets))
                try check()
            }
        }
        for gateway in gateways.all {
            #expect(gateway.hops("sent", "refused") == 0)
            #expect(!gateway.process.child.standardError.contains("restart"))
        }
        // What was put away opens nothing any more.
        try gateways[1].reload(.hopping(gateways.redis, secrets: ["hop.secret"]))
        #expect(try gateways[1].follow(questions[0], as: caller).status == 503)
    }
}
