import GatewayTesting
import GatewayTypes
import JSON
import Synchronization
import Testing

@Suite("Running asks", .oneOfFewThreads, .gateway())
struct ConcurrencyTests {
    private static let word = OpenAIShapes.event(OpenAIShapes.delta("word "))

    /// A stream of a word every 20 ms for a minute.
    private static let endless = ProviderReply.events(
        (0..<3000).flatMap { _ in [ProviderStep.send(word), .hold(milliseconds: 20)] })

    @Test(arguments: [false, true])
    func `A stream that is cut gives its place back each time`(reset: Bool) throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("cut")
        let script = gateway.provider.script(marker, Self.endless)
        for round in 1...6 {
            let client = try gateway.client()
            #expect(try gateway.begin(Ask(marker, stream: true), as: caller, on: client).status == 200)
            for _ in 0..<3 { _ = try client.event() }
            client.close(reset: reset)
            #expect(try gateway.isIdle(caller))
            #expect(script.waitForCall(round)?.waitForEnd(within: .seconds(15)) == .peerClosed)
            #expect(try gateway.ask(Ask("between"), as: caller).status == 200)
        }
        #expect(try gateway.used("concurrent_requests", by: caller) == 0)
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func `A client that leaves before the first byte frees its place`(stream: Bool, reset: Bool) throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("early")
        let script = gateway.provider.script(marker, stream ? .stall : .answer(delay: 60_000))
        let client = try gateway.client()
        try gateway.send(Ask(marker, stream: stream), as: caller, on: client)
        let call = try #require(script.waitForCall())
        #expect(try gateway.used("concurrent_requests", by: caller) == 1)
        client.close(reset: reset)
        #expect(call.waitForEnd(within: .seconds(15)) == .peerClosed)
        #expect(try gateway.isIdle(caller))
        #expect(try gateway.ask(Ask("next"), as: caller).status == 200)
        // The ask was admitted, and its prompt went to the provider.
        #expect(try gateway.used("requests_per_minute", by: caller) == 2)
        #expect(try gateway.charged(to: caller) > 15)
    }

    @Test func `A task may be finished for a client that left`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("finish")
        let gate = Gate()
        let events = OpenAIShapes.stream(["a", "b"], usage: .init(50, 7))
        let script = gateway.provider.script(
            marker, .events([.send(events[0]), .wait(gate)] + events.dropFirst().map { ProviderStep.send($0) }))
        let client = try gateway.client()
        #expect(try gateway.begin(Ask(marker, task: "late", stream: true), as: caller, on: client).status == 200)
        client.close()
        let call = try #require(script.waitForCall())
        Stopwatch.sleep(milliseconds: 300)
        #expect(call.end == nil)
        gate.open()
        #expect(call.waitForEnd() == .sent)
        #expect(try gateway.charged(to: caller) == 57)
    }

    @Test func `An ask that fails gives its place back`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let failing: [(String, ProviderReply)] = [
            ("status", .body(#"{"error":{"message":"no"}}"#, status: 500)),
            ("refusal", .body(#"{"error":{"message":"no"}}"#, status: 400)), ("empty", .answer("")),
            ("nonsense", .body("<html>")), ("cut", .init(framing: .chunked, steps: [.send("{"), .reset])),
        ]
        for (name, reply) in failing {
            for stream in [false, true] {
                let marker = Caller.unique(name)
                _ = gateway.provider.script(marker, reply)
                let answer = try gateway.ask(Ask(marker, stream: stream), as: caller)
                #expect([502, 503].contains(answer.status), "\(name)")
                #expect(try gateway.ask(Ask("good"), as: caller).status == 200, "\(name)")
            }
        }
        for body in [#"{"task":"no-such-task","text":"hi"}"#, #"{"task":"summarize"}"#, #"{"text":{"a":1}}"#, "{"] {
            #expect(try gateway.post(body, as: caller).status == 400)
            #expect(try gateway.ask(Ask("good"), as: caller).status == 200)
        }
        #expect(try gateway.isIdle(caller, within: .seconds(0)))
    }

    @Test func `Streams over the limit are refused at once, and nobody else notices`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-2")
        let marker = Caller.unique("many")
        let gate = Gate()
        let script = gateway.provider.script(
            marker, .events([.send(Self.word), .wait(gate)] + OpenAIShapes.stream([]).map { ProviderStep.send($0) }))
        let decided = Atomic<Int>(0)
        let heads = OwnThread.together(10) { _ -> (status: Int, wait: Int?) in
            guard let client = try? gateway.client(),
                var answer = try? gateway.begin(Ask(marker, stream: true), as: caller, on: client)
            else { return (0, nil) }
            // Refused or not, all are decided while the two streams run.
            if decided.add(1, ordering: .relaxed).newValue == 10 { gate.open() }
            if answer.status == 200 { gateway.readEvents(of: &answer, on: client) }
            return (answer.status, answer.response.header("retry-after").flatMap { Int($0) })
        }
        #expect(heads.count { $0.status == 200 } == 2)
        let refused = heads.filter { $0.status == 429 }
        #expect(refused.count == 8)
        #expect(refused.allSatisfy { (1...5).contains($0.wait ?? 0) })
        #expect(script.calls.count == 2)
        #expect(try gateway.used("requests_per_minute", by: caller) == 2)
        #expect(try gateway.ask(Ask("other")).status == 200)
        #expect(try gateway.isIdle(caller))
    }

    @Test func `A next request on the same connection finds the place free`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let client = try gateway.client()
        for number in 0..<20 {
            let answer = try gateway.ask(Ask("again", stream: number % 2 == 1), as: caller, on: client)
            #expect(answer.status == 200)
        }
    }

    @Test func `Many streams at once each get their own words`() throws {
        let gateway = try TestGateway.current
        let texts = OwnThread.together(40) { index -> Bool in
            let marker = Caller.unique("own")
            let words = (0..<30).map { "\(marker).\($0) " }
            _ = gateway.provider.script(marker, .stream(words, usage: .init(index, 1), gap: 2))
            guard let answer = try? gateway.ask(Ask(marker, stream: true)) else { return false }
            return answer.text == words.joined() && answer.totalTokens == index + 1 && answer.isFinished
        }
        #expect(texts.allSatisfy { $0 })
    }
}
