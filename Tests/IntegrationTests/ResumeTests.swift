import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Answers that are read over more than one connection.
@Suite("Resumed answers", .oneOfFewThreads, .gateway(.resuming))
struct ResumeTests {
    @Test func `A phone that loses its network three times gets the whole text once, charged once`() throws {
        let gateway = try TestGateway.current
        let (caller, marker) = (Caller(), Caller.unique("phone"))
        let words = ["The ", "tide ", "rises ", "with ", "the moon."]
        let gates = words.map { _ in Gate() }
        let script = gateway.provider.script(marker, .gated(words, gates))
        var answer = try gateway.lose(Ask(marker, task: "kept", stream: true), after: 2, as: caller)
        let question = try #require(answer.question)
        for gate in gates[..<3] {
            let client = try gateway.client()
            var part = try gateway.beginFollowing(question, behind: answer.last, as: caller, on: client)
            #expect(part.status == 200 && part.isStream)
            gate.open()
            try gateway.read(1, into: &part, on: client)
            answer.events += part.events
            client.close(reset: true)
        }
        gates[3].open()
        gates[4].open()
        let rest = try gateway.follow(question, behind: answer.last, as: caller)
        answer.events += rest.events
        answer.checkStream()
        #expect(answer.text == words.joined() && answer.isFinished)
        #expect(answer.numbers == Array(0..<7))
        #expect(answer.totalTokens == 15)
        #expect(script.calls.count == 1)
        #expect(try gateway.charged(to: caller) == 15)
        #expect(try gateway.used("requests_per_minute", by: caller) == 1)
        #expect(gateway.process.record(of: question)?["outcome"]?.string == "answered")
    }

    @Test func `An answer that has ended can be read again from anywhere, and no further than its end`() throws {
        let gateway = try TestGateway.current
        let (caller, marker) = (Caller(), Caller.unique("ended"))
        _ = gateway.provider.script(marker, .stream(["a", "\n\u{1F30A}", "c"]))
        let first = try gateway.ask(Ask(marker, task: "kept", stream: true), as: caller)
        let question = try #require(first.question)
        for seen in 0..<first.events.count {
            let rest = try gateway.follow(question, behind: seen == 0 ? nil : first.events[seen - 1].id, as: caller)
            #expect(rest.events.map(\.data) == first.events[seen...].map(\.data))
            #expect(rest.events.map(\.id) == first.events[seen...].map(\.id))
        }
        // An EventSource asks again behind the end, and stops at an answer without content.
        #expect(try gateway.follow(question, behind: first.last, as: caller).status == 204)
        #expect(try gateway.follow(question, behind: "\(question)-99", as: caller).code == "invalid_request")
        #expect(try gateway.follow(question, behind: "\(question)-", as: caller).status == 400)
        let other = String(question.reversed())
        #expect(try gateway.follow(question, behind: "\(other)-1", as: caller).status == 400)
        #expect(try gateway.charged(to: caller) == 15)
    }

    @Test func `Nobody but its owner learns of a question`() throws {
        let gateway = try TestGateway.current
        let (caller, marker) = (Caller(), Caller.unique("owned"))
        _ = gateway.provider.script(marker, .stream(["mine"]))
        let question = try #require(try gateway.ask(Ask(marker, task: "kept", stream: true), as: caller).question)
        let twin = Caller(
            subject: caller.subject,
            token: Issuers.hmac.token(
                claims: TokenMint.claims(
                    issuer: Issuers.borealis, audience: Issuers.borealisAudience, subject: caller.subject,
                    now: Int64(Stopwatch.wallSeconds()), changes: [:]),
                header: Issuers.hmac.header(type: "JWT")))
        for stranger in [Caller(), twin] {
            let answer = try gateway.follow(question, as: stranger)
            #expect(answer.status == 404 && answer.code == "not_found")
            #expect(try gateway.cancel(question, as: stranger) == 404)
        }
        #expect(try gateway.follow(String(repeating: "0", count: 32), as: caller).status == 404)
        #expect(try gateway.follow("nothing", as: caller).status == 404)
        #expect(try gateway.follow(question, as: caller).text == "mine")
    }

    @Test func `Two readers of one answer get the same events at their own pace`() throws {
        let gateway = try TestGateway.current
        let (caller, marker) = (Caller(), Caller.unique("two"))
        let gates = [Gate(), Gate()]
        _ = gateway.provider.script(marker, .gated(["one", "two"], gates))
        let (own, other) = (try gateway.client(), try gateway.client())
        var first = try gateway.begin(Ask(marker, task: "kept", stream: true), as: caller, on: own)
        try gateway.read(2, into: &first, on: own)
        var second = try gateway.beginFollowing(try #require(first.question), as: caller, on: other)
        try gateway.read(2, into: &second, on: other)
        for gate in gates { gate.open() }
        gateway.readEvents(of: &second, on: other)
        gateway.readEvents(of: &first, on: own)
        second.checkStream()
        #expect(first.events.map(\.data) == second.events.map(\.data) && first.text == "onetwo")
        #expect(try gateway.charged(to: caller) == 15)
    }

    @Test func `Nobody who comes back in time lets the task's policy decide`() throws {
        let gateway = try TestGateway.current
        for (task, isWhole) in [("brief", false), ("patient", true)] {
            let (caller, marker) = (Caller(), Caller.unique(task))
            let gate = Gate()
            let script = gateway.provider.script(marker, .gated(["some ", "more"], [gate, Gate()].map { _ in gate }))
            let answer = try gateway.lose(Ask(marker, task: task, stream: true), after: 2, as: caller)
            let call = try #require(script.calls.first)
            if isWhole {
                Stopwatch.sleep(milliseconds: 300)
                gate.open()
                let rest = try gateway.follow(try #require(answer.question), as: caller)
                #expect(rest.text == "some more" && rest.isFinished)
            } else {
                #expect(call.waitForEnd(within: .seconds(15)) != nil)
                #expect(try gateway.isIdle(caller))
                let rest = try gateway.follow(try #require(answer.question), as: caller)
                #expect(rest.code == "question_cancelled" && rest.text == "some ")
                #expect(try gateway.charged(to: caller) > 0)
            }
        }
    }

    @Test func `An answer is forgotten after its time, and one too long to keep is streamed all the same`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let question = try #require(try gateway.ask(Ask("brief", task: "brief", stream: true), as: caller).question)
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 100) {
                (try? gateway.follow(question, as: caller).status) == 404
            })
        let marker = Caller.unique("long")
        let words = (0..<300).map { "word\($0) " }
        _ = gateway.provider.script(marker, .stream(words))
        let long = try gateway.ask(Ask(marker, task: "narrow", stream: true), as: caller)
        long.checkStream()
        #expect(long.text == words.joined())
        #expect(try gateway.follow(try #require(long.question), as: caller).status == 404)
    }

    @Test func `Answers that are shared are read on as well, and numbered for each ask`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("shared")
        let script = gateway.provider.script(marker, .stream(["a", "b"]))
        for _ in 0..<2 {
            let caller = Caller()
            let answer = try gateway.lose(Ask(marker, task: "both", stream: true), after: 2, as: caller)
            let rest = try gateway.follow(try #require(answer.question), behind: answer.last, as: caller)
            #expect(answer.text + rest.text == "ab" && rest.isFinished)
        }
        #expect(script.calls.count == 1)
    }

    @Test func `Its owner cancels an ask that runs, kept or not, as often as it likes`() throws {
        let gateway = try TestGateway.current
        for task in ["kept", "tiny"] {
            let (caller, marker) = (Caller(), Caller.unique("cancel"))
            let script = gateway.provider.script(marker, .gated(["some ", "more"], [Gate(), Gate()]))
            let client = try gateway.client()
            var answer = try gateway.begin(Ask(marker, task: task, stream: true), as: caller, on: client)
            try gateway.read(2, into: &answer, on: client)
            let question = try #require(answer.question)
            #expect(try gateway.cancel(question, as: Caller()) == 404)
            for _ in 0..<3 { #expect(try gateway.cancel(question, as: caller) == 204) }
            gateway.readEvents(of: &answer, on: client)
            answer.checkStream()
            #expect(answer.code == "question_cancelled")
            #expect(script.calls.first?.waitForEnd(within: .seconds(15)) != nil)
            #expect(try gateway.charged(to: caller) > 0)
        }
        let client = try gateway.client()
        try client.request("PUT", "/v1/questions/x", headers: [Caller().authorization])
        let refused = try #require(try client.response())
        #expect(refused.status == 405 && refused.header("allow") == "GET, DELETE")
    }

    @Test func `A task that keeps nothing numbers nothing and can't be come back to`() throws {
        let gateway = try TestGateway.current
        let (caller, marker) = (Caller(), Caller.unique("plain"))
        let gate = Gate()
        _ = gateway.provider.script(marker, .gated(["x"], [gate]))
        let client = try gateway.client()
        var answer = try gateway.begin(Ask(marker, task: "tiny", stream: true), as: caller, on: client)
        try gateway.read(2, into: &answer, on: client)
        let refused = try gateway.follow(try #require(answer.question), as: caller)
        #expect(refused.status == 410 && refused.code == "question_gone")
        gate.open()
        gateway.readEvents(of: &answer, on: client)
        #expect(answer.isFinished && answer.events.allSatisfy { $0.id == nil })
    }

    @Test func `Node's EventSource comes back by itself and hears every event once`() throws {
        let gateway = try TestGateway.current
        try EventSourceStory.check(asked: gateway, followed: [gateway])
    }
}

/// Bounds of what is kept.
@Suite("Kept answers in bounds", .oneOfFewThreads, .serialized)
struct ResumeBoundTests {
    @Test func `A full buffer lets the oldest go, and memory stays flat over many asks`() throws {
        var settings = GatewaySettings.resuming
        settings.questions = "{bytes: 512KiB, tenant_bytes: 256KiB, tenant_keys: 100}"
        let gateway = try TestGateway(settings)
        let marker = Caller.unique("many")
        _ = gateway.provider.script(marker, .stream((0..<50).map { "word \($0) and more " }))
        let caller = Caller()
        let client = try gateway.client()
        func ask(_ number: Int) throws -> Answer {
            try gateway.ask(
                Ask(marker, task: "kept", stream: true), as: caller, headers: [("Idempotency-Key", "k\(number)")],
                on: client)
        }
        let first = try ask(-1)
        for number in 0..<600 { _ = try ask(number) }
        let before = gateway.process.child.residentMemory
        var last = first
        for number in 600..<2000 { last = try ask(number) }
        let after = gateway.process.child.residentMemory
        #expect(after < before + 8_388_608, "\(before) became \(after)")
        #expect(try gateway.follow(try #require(first.question), as: caller).status == 404)
        #expect(try gateway.follow(try #require(last.question), as: caller).text == last.text)
    }

    @Test func `Asks beyond the room there is are answered, and can't be come back to`() throws {
        var settings = GatewaySettings.resuming
        settings.questions = "{bytes: 64KiB, tenant_bytes: 64KiB}"
        let gateway = try TestGateway(settings)
        let (caller, marker) = (Caller(), Caller.unique("full"))
        let gate = Gate()
        _ = gateway.provider.script(marker, .gated(["x"], [gate]))
        var running: [(Answer, RawClient)] = []
        for _ in 0..<20 {
            let client = try gateway.client()
            var answer = try gateway.begin(Ask(marker, task: "kept", stream: true), as: caller, on: client)
            try gateway.read(2, into: &answer, on: client)
            running.append((answer, client))
        }
        let numbered = running.filter { $0.0.last != nil }.count
        #expect(numbered == 16)
        gate.open()
        for (answer, client) in running {
            var answer = answer
            gateway.readEvents(of: &answer, on: client)
            answer.checkStream()
            #expect(answer.isFinished)
        }
        #expect(try gateway.charged(to: caller) == 300)
    }
}
