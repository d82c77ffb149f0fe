import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("Streaming", .oneOfFewThreads, .gateway())
struct StreamingTests {
    @Test func `A streamed answer starts, grows and finishes once`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("stream")
        _ = gateway.provider.script(marker, .stream(["One", " two", " three"], usage: .init(20, 3)))
        let answer = try gateway.ask(Ask(marker, stream: true))
        answer.checkStream()
        #expect(answer.text == "One two three")
        #expect(answer.isFinished)
        #expect(answer.totalTokens == 23)
        #expect(answer.events.first?.json?["questionId"]?.string == answer.requestID)
        #expect(answer.events.filter { $0.name == "answer" }.allSatisfy { $0.json?["isFinal"]?.bool != nil })
    }

    @Test func `The head of a stream keeps anybody between from holding it back`() throws {
        let gateway = try TestGateway.current
        for headers in [[], [("Accept-Encoding", "gzip, br, zstd")]] as [[(name: String, value: String)]] {
            let answer = try gateway.ask(Ask("head", stream: true), headers: headers)
            #expect(answer.response.header("content-type")?.hasPrefix("text/event-stream") == true)
            #expect(answer.response.header("content-length") == nil)
            #expect(answer.response.header("content-encoding") == nil)
            #expect(answer.response.header("x-accel-buffering") == "no")
            #expect(["no-store", "no-cache"].contains(answer.response.header("cache-control")))
            #expect(answer.response.header("x-request-id") != nil)
        }
    }

    @Test(arguments: [
        ("text/event-stream", true), ("application/json", false), ("text/event-stream;q=0.4, application/json", false),
        ("application/json;q=0.2, text/event-stream", true), ("*/*", false),
    ])
    func `Accept chooses the form when the body does not`(accept: String, stream: Bool) throws {
        let gateway = try TestGateway.current
        let answer = try gateway.ask(Ask("accept"), headers: [("Accept", accept)])
        #expect(answer.isStream == stream)
        #expect(answer.text == "ok")
    }

    @Test func `Each word reaches the client before the next is written`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("prompt")
        let gates = (0..<5).map { _ in Gate() }
        var steps: [ProviderStep] = []
        for (index, gate) in gates.enumerated() {
            steps += [.send(OpenAIShapes.event(OpenAIShapes.delta("w\(index) "))), .wait(gate)]
        }
        steps += OpenAIShapes.stream([]).map { .send($0) }
        _ = gateway.provider.script(marker, .events(steps))
        let client = try gateway.client(limit: .seconds(10))
        #expect(try gateway.begin(Ask(marker, stream: true), as: Caller(), on: client).status == 200)
        #expect(try client.event()?.name == "start")
        for (index, gate) in gates.enumerated() {
            #expect(try client.event()?.json?["deltaText"]?.string == "w\(index) ")
            gate.open()
        }
        #expect(try client.allEvents().last?.name == "finish")
    }

    @Test(arguments: [ProviderStep.reset, .cut, .finish])
    func `A provider that breaks off in the middle is an error, never a whole answer`(end: ProviderStep) throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("broken")
        let words = (0..<5).map { ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta("w\($0) "))) }
        let script = gateway.provider.script(marker, .events(words + [.hold(milliseconds: 100), end]))
        let answer = try gateway.ask(Ask(marker, stream: true), as: caller)
        answer.checkStream()
        #expect(answer.status == 200)
        #expect(answer.text == "w0 w1 w2 w3 w4 ")
        #expect(answer.code == "provider_failed")
        #expect(script.calls.count == 1)
        #expect(try gateway.charged(to: caller) >= 5)
        let record = try #require(gateway.process.record(of: answer.requestID))
        #expect(record["outcome"]?.string == "provider_failed")
        #expect(record["usage_source"]?.string == "estimated")
    }

    @Test(arguments: [ProviderStep.reset, .cut, .finish])
    func `A provider that breaks off before the first word is a plain 502`(end: ProviderStep) throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("none")
        _ = gateway.provider.script(marker, .events([.hold(milliseconds: 50), end]))
        for stream in [false, true] {
            let answer = try gateway.ask(Ask(marker, stream: stream), as: caller)
            #expect(answer.status == 502)
            #expect(answer.code?.hasPrefix("provider_") == true)
        }
        #expect(try gateway.charged(to: caller) == 0)
    }

    @Test func `A client that leaves pays for what it got and not for the rest`() throws {
        let gateway = try TestGateway.current
        let words = (0..<200).map { "word\($0) " }
        let (whole, cut) = (Caller(), Caller())
        let (first, second) = (Caller.unique("whole"), Caller.unique("part"))
        _ = gateway.provider.script(first, .stream(words, usage: nil))
        let script = gateway.provider.script(second, .stream(words, usage: .init(10, 400), gap: 20))
        #expect(try gateway.ask(Ask(first, stream: true), as: whole).text == words.joined())

        let client = try gateway.client()
        #expect(try gateway.begin(Ask(second, stream: true), as: cut, on: client).status == 200)
        var seen = 0
        while seen < 20 { if try client.event()?.name == "answer" { seen += 1 } }
        client.close()
        #expect(script.waitForCall()?.waitForEnd(within: .seconds(15)) == .peerClosed)
        let charged = try gateway.charged(to: cut)
        #expect(charged >= 20)
        #expect(charged < (try gateway.charged(to: whole)))
        #expect(try gateway.used("requests_per_minute", by: cut) == 1)
        #expect(
            Stopwatch.wait(upTo: .seconds(15)) {
                gateway.process.records.contains { $0["subject"]?.string == cut.subject }
            })
        let record = try #require(gateway.process.records.last { $0["subject"]?.string == cut.subject })
        #expect(record["outcome"]?.string == "client_gone")
        #expect(record["cancelled"]?.bool == true)
    }

    @Test(arguments: [false, true])
    func `The provider is hung up on when the client leaves`(reset: Bool) throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("leave")
        let script = gateway.provider.script(marker, .stream((0..<500).map { "x\($0)" }, gap: 40))
        let client = try gateway.client()
        #expect(try gateway.begin(Ask(marker, stream: true), as: Caller(), on: client).status == 200)
        _ = try client.event()
        client.close(reset: reset)
        #expect(script.waitForCall()?.waitForEnd(within: .seconds(15)) == .peerClosed)
    }

    @Test func `A long answer in one write arrives whole`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("long")
        let words = (0..<3000).map { "word number \($0), " }
        _ = gateway.provider.script(marker, .events([.send(OpenAIShapes.stream(words).joined())]))
        let answer = try gateway.ask(Ask(marker, stream: true))
        answer.checkStream()
        #expect(answer.text == words.joined())
    }
}

@Suite(
    "Silent providers", .oneOfFewThreads,
    .gateway(
        .with {
            $0.providerTimeouts = "{connect: 1s, first_byte: 2s, idle: 3s, total: 6s}"
            $0.http = "{heartbeat: 1s}"
        }))
struct SilentProviderTests {
    @Test(arguments: [(ProviderReply.answer(delay: 60_000), false), (.stall, true), (.answer(delay: 60_000), true)])
    func `A provider that never answers is a timeout`(reply: ProviderReply, stream: Bool) throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("mute")
        let script = gateway.provider.script(marker, reply)
        let watch = Stopwatch()
        let answer = try gateway.ask(Ask(marker, stream: stream), as: caller)
        #expect(answer.code == "provider_timeout")
        // A stream's head went out with the first sign of life; a plain answer may take as long as an ask may.
        if !stream { #expect(answer.status == 504) }
        #expect(watch.milliseconds < (stream ? 5000 : 9000))
        #expect(script.waitForCall()?.waitForEnd(within: .seconds(15)) == .peerClosed)
        #expect(try gateway.isIdle(caller))
    }

    @Test func `A provider that falls silent in a stream is an error event`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("idle")
        let words = (0..<3).map { ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta("w\($0) "))) }
        let script = gateway.provider.script(marker, .events(words + [.hold(milliseconds: 60_000)]))
        let answer = try gateway.ask(Ask(marker, stream: true), as: caller)
        answer.checkStream()
        #expect(answer.text == "w0 w1 w2 ")
        #expect(answer.code == "provider_timeout")
        #expect(script.waitForCall()?.waitForEnd(within: .seconds(15)) == .peerClosed)
        #expect(try gateway.isIdle(caller))
    }

    @Test func `An ask as a whole has a limit`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("whole")
        _ = gateway.provider.script(marker, .stream((0..<200).map { "w\($0)" }, gap: 300))
        let watch = Stopwatch()
        let answer = try gateway.ask(Ask(marker, stream: true))
        answer.checkStream()
        #expect(answer.code == "provider_timeout")
        #expect((5000..<10_000).contains(watch.milliseconds))
    }

    @Test func `Comments show that a silent stream lives`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("beat")
        _ = gateway.provider.script(
            marker,
            .events(
                [.send(OpenAIShapes.event(OpenAIShapes.delta("a"))), .hold(milliseconds: 2500)]
                    + OpenAIShapes.stream(["b"]).map { ProviderStep.send($0) }))
        let client = try gateway.client()
        #expect(try gateway.begin(Ask(marker, stream: true), as: Caller(), on: client).status == 200)
        let events = try client.allEvents()
        #expect((1...3).contains(events.count(where: \.isComment)))
        #expect(events.last?.name == "finish")
    }
}

@Suite(
    "Slow readers", .oneOfFewThreads, .serialized, .tags(.memory),
    .gateway(.with { $0.http = "{heartbeat: 15s, timeouts: {write_stall: 3s}}" }))
struct SlowReaderTests {
    @Test func `A client that does not read holds the provider back, then loses its place`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("stalled")
        let event = OpenAIShapes.event(OpenAIShapes.delta(String(repeating: "x", count: 900)))
        let script = gateway.provider.script(marker, .events([.flood(event, times: 200_000)]))
        _ = try gateway.ask(Ask("warm", stream: true), as: caller)
        let before = gateway.process.child.residentMemory
        let client = try gateway.client(receiveBuffer: 16_384)
        #expect(try gateway.begin(Ask(marker, stream: true), as: caller, on: client).status == 200)
        let call = try #require(script.waitForCall())
        // The kernel's buffers fill for a while after the gateway has stopped reading.
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 1) {
                let sent = call.bytesSent
                Stopwatch.sleep(milliseconds: 300)
                return sent == call.bytesSent
            }, "the provider is still being read")
        #expect(call.bytesSent < 64 << 20)
        #expect(gateway.process.child.residentMemory - before < 20 << 20)
        #expect(call.waitForEnd(within: .seconds(10)) == .peerClosed)
        #expect(try gateway.isIdle(caller))
        #expect(gateway.isAlive)
    }

    @Test func `A client that reads slowly but steadily gets everything`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("slow")
        let words = (0..<4000).map { "\($0) " + String(repeating: "y", count: 500) }
        _ = gateway.provider.script(marker, .stream(words))
        let client = try gateway.client(receiveBuffer: 8192)
        var answer = try gateway.begin(Ask(marker, stream: true), as: Caller(), on: client)
        while let event = try client.event() {
            answer.events.append(event)
            if answer.events.count % 100 == 0 { Stopwatch.sleep(milliseconds: 20) }
        }
        answer.checkStream()
        #expect(answer.text == words.joined())
    }
}

extension GatewaySettings {
    /// The usual settings with some changed.
    static func with(_ change: (inout GatewaySettings) -> Void) -> GatewaySettings {
        var settings = GatewaySettings()
        change(&settings)
        return settings
    }
}
