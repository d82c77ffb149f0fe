import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("Answers given again", .oneOfFewThreads, .gateway(.caching))
struct AnswerCacheTests {
    @Test(arguments: [false, true])
    func `The same ask is answered without a provider, and charged as its task says`(stream: Bool) throws {
        let gateway = try TestGateway.current
        for (task, charged) in [("kept-free", 0), ("kept-full", 23)] {
            let marker = Caller.unique("kept")
            let reply: ProviderReply =
                stream ? .stream(["One", " two"], usage: .init(20, 3)) : .answer("One two", usage: .init(20, 3))
            let script = gateway.provider.script(marker, reply)
            let (first, second) = (Caller(), Caller())
            let made = try gateway.ask(Ask(marker, task: task, stream: stream), as: first)
            let again = try gateway.ask(Ask(marker, task: task, stream: stream), as: second)
            let otherForm = try gateway.ask(Ask(marker, task: task, stream: !stream), as: second)
            for answer in [made, again, otherForm] { #expect(answer.status == 200 && answer.text == "One two") }
            if stream { again.checkStream() }
            #expect(script.calls.count == 1)
            #expect(try gateway.charged(to: first) == 23)
            #expect(try gateway.charged(to: second) == 2 * charged)
            #expect(again.totalTokens == charged)
            // Every caller is admitted, whoever pays.
            #expect(try gateway.used("requests_per_minute", by: second) == 2)
            #expect(made.requestID != again.requestID)
            let records = try [made, again, otherForm].map {
                try #require(gateway.process.record(of: $0.requestID))
            }
            #expect(records.map { $0["cache"]?.string } == ["miss", "hit", "hit"])
            #expect(records.map { $0["attempts"]?.int } == [1, 0, 0])
        }
    }

    @Test func `Tasks that do not say so keep nothing`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("fresh")
        let script = gateway.provider.script(marker)
        for _ in 0..<2 { #expect(try gateway.ask(Ask(marker, task: "tiny")).status == 200) }
        #expect(script.calls.count == 2)
    }

    @Test func `Another text, task, tone or parameter is another ask`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("differs")
        let script = gateway.provider.script(marker)
        var toned = Ask(marker, task: "kept-free")
        toned.more = #","tone":"friendly""#
        for ask in [Ask(marker, task: "kept-free"), Ask(marker + ".", task: "kept-free"), toned] {
            #expect(try gateway.ask(ask).status == 200)
        }
        #expect(try gateway.ask(Ask(marker, task: "kept-full")).status == 200)
        for more in ["", #","max_tokens":9"#, #","temperature":1"#, #","stop":"x""#] {
            _ = try gateway.chat(marker, model: "kept-free", more: more)
        }
        // The first of the chat completions is the first ask again.
        #expect(script.calls.count == 7)
    }

    @Test func `An answer's time ends, and a failure is never given again`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("short-lived")
        let script = gateway.provider.script(marker, .answer("one"), .answer("two"))
        #expect(try gateway.ask(Ask(marker, task: "kept-second")).text == "one")
        #expect(try gateway.ask(Ask(marker, task: "kept-second")).text == "one")
        Stopwatch.sleep(milliseconds: 1100)
        #expect(try gateway.ask(Ask(marker, task: "kept-second")).text == "two")
        #expect(script.calls.count == 2)
        let failing = Caller.unique("failing")
        _ = gateway.provider.script(failing, .body("{}", status: 500), .answer("well"))
        #expect(try gateway.ask(Ask(failing, task: "kept-free")).status == 502)
        #expect(try gateway.ask(Ask(failing, task: "kept-free")).text == "well")
    }

    @Test(arguments: [false, true])
    func `The same asks at once are one call, each caller admitted, one of them charged`(stream: Bool) throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("together")
        let gate = Gate()
        let words = OpenAIShapes.stream(["One", " two", " three"], usage: .init(20, 3)).map { ProviderStep.send($0) }
        let whole = ProviderReply.answer("One two three", usage: .init(20, 3), delay: 700)
        let reply = stream ? ProviderReply.events([words[0], .wait(gate)] + words.dropFirst()) : whole
        let script = gateway.provider.script(marker, reply)
        let before = gateway.process.metrics.value("askgate_answer_cache_total", ["result": "shared"])
        let callers = (0..<12).map { _ in Caller() }
        OwnThread.start {
            script.waitForCall()
            Stopwatch.sleep(milliseconds: 500)
            gate.open()
        }
        let answers = OwnThread.together(callers.count) { index in
            try? gateway.ask(Ask(marker, task: "kept-free", stream: stream), as: callers[index])
        }
        #expect(answers.allSatisfy { $0?.status == 200 && $0?.text == "One two three" })
        if stream { for answer in answers { answer?.checkStream() } }
        #expect(script.calls.count == 1)
        #expect(try callers.map { try gateway.charged(to: $0) }.sorted() == Array(repeating: 0, count: 11) + [23])
        #expect(gateway.process.metrics.value("askgate_answer_cache_total", ["result": "shared"]) > before)
    }

    @Test func `Who hangs up takes nothing from the others, and the last one ends the call`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("leavers")
        let words = (0..<3000).flatMap { _ in
            [ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta("word "))), .hold(milliseconds: 20)]
        }
        let script = gateway.provider.script(marker, .events(words))
        let callers = (0..<4).map { _ in Caller("conc-1") }
        let clients = try callers.map { caller in
            let client = try gateway.client()
            #expect(
                try gateway.begin(Ask(marker, task: "kept-free", stream: true), as: caller, on: client).status == 200)
            return client
        }
        for client in clients { for _ in 0..<3 { #expect(try client.event() != nil) } }
        #expect(script.calls.count == 1)
        for index in 0..<3 {
            clients[index].close()
            #expect(try gateway.isIdle(callers[index]))
            #expect(try clients[3].event()?.name == "answer")
        }
        #expect(script.calls.first?.end == nil)
        clients[3].close()
        #expect(script.calls.first?.waitForEnd(within: .seconds(15)) == .peerClosed)
        #expect(try gateway.isIdle(callers[3]))
        #expect(try callers.map { try gateway.charged(to: $0) }.reduce(0, +) > 0)
        #expect(try gateway.ask(Ask(marker + " more", task: "tiny"), as: callers[0]).status != 429)
    }
}

extension GatewaySettings {
    /// With tasks that keep their answers.
    static var caching: Self {
        var settings = Self()
        settings.tasks += [("free", "1h, charge: none"), ("full", "1h, charge: full"), ("second", "1s")].map {
            "kept-\($0.0): {builtin: summarize, text: {min_characters: 1}, cache: {ttl: \($0.1)}, "
                + "routes: [{provider: main, model: m-kept}]}"
        }
        return settings
    }
}
