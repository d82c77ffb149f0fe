import GatewayTesting
import GatewayTypes
import Testing

@testable import Asking

@Suite("The life of an ask", .ownThread)
struct FlowTests {
    private static let word = OpenAIShapes.event(OpenAIShapes.delta("word "))

    private static func slow() throws -> FakeProvider {
        try FakeProvider { _, _ in .events([.send(Self.word), .hold(milliseconds: 60_000)]) }
    }

    @Test func `Text is handed on as it comes, with a pause behind each piece`() async throws {
        let gate = Gate()
        let provider = try FakeProvider { _, _ in
            .events([.send(Self.word), .wait(gate), .send(Self.word + Self.word), .send(OpenAIShapes.event("[DONE]"))])
        }
        defer { gate.open() }
        try await withBench { bench in
            let ask = try await bench.start(provider.provider())
            #expect(Stopwatch.wait(upTo: .seconds(10)) { ask.heard.pauses == 1 })
            #expect(ask.heard.text == "word " && ask.heard.ends.isEmpty)
            gate.open()
            #expect(ask.ends() && ask.heard.isWhole && ask.heard.text == "word word word ")
        }
    }

    @Test func `The end comes with its mark, and the connection is used again`() async throws {
        let gates = [Gate(), Gate(), Gate()]
        let provider = try FakeProvider { _, index in
            .events([.send(OpenAIShapes.stream(["ok"]).joined()), .wait(gates[index % 3])])
        }
        try await withBench { bench in
            for number in 1...3 {
                let heard = try await bench.hear(provider.provider())
                #expect(heard.isWhole && heard.text == "ok")
                let call = try #require(provider.rest.waitForCall(number))
                #expect(call.end == nil)
                gates[number - 1].open()
                #expect(call.waitForEnd() == .sent)
                Stopwatch.sleep(milliseconds: 30)
            }
            #expect(provider.connectionsOpened == 1)
        }
    }

    @Test func `A provider that marks the end and goes on is let go`() async throws {
        for more in [[ProviderStep.hold(milliseconds: 60_000)], [.flood(": x\n\n", times: 20_000_000)]] {
            let provider = try FakeProvider { _, _ in
                .events([.send(OpenAIShapes.stream(["ok"]).joined())] + more)
            }
            try await withBench { bench in
                let heard = try await bench.hear(provider.provider())
                #expect(heard.isWhole)
                #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
            }
        }
    }

    @Test func `A cancelled ask ends at once, once, and closes its call`() async throws {
        let provider = try Self.slow()
        try await withBench { bench in
            let ask = try await bench.start(provider.provider())
            #expect(Stopwatch.wait(upTo: .seconds(10)) { ask.heard.count > 0 })
            try await bench.run { _ in
                ask.ask?.cancel()
                ask.ask?.cancel()
                ask.ask?.setPaused(true)
                ask.ask?.setPaused(false)
            }
            #expect(ask.heard.ends.count == 1 && ask.heard.end?.wasCancelled == true && ask.heard.end?.failure == nil)
            #expect(ask.heard.end?.hadOpenCall == true && ask.heard.text == "word ")
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
        }
    }

    @Test(arguments: [true, false])
    func `An ask may be cancelled from what it tells`(inText: Bool) async throws {
        let provider = try Self.slow()
        try await withBench { bench in
            let ask = try await bench.start(
                provider.provider(),
                prepare: { test in
                    if inText { test.onText = { $0.ask?.cancel() } } else { test.onPause = { $0.ask?.cancel() } }
                })
            #expect(ask.ends() && ask.heard.end?.wasCancelled == true)
            #expect(!ask.heard.isOutOfOrder)
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
        }
    }

    @Test func `An ask may be cancelled before anything came`() async throws {
        let provider = try FakeProvider()
        try await withBench { bench in
            for stream in [true, false] {
                let ask = try await bench.start(provider.provider(), stream: stream, then: { $0.ask?.cancel() })
                #expect(ask.heard.ends.count == 1 && ask.heard.end?.wasCancelled == true && ask.heard.starts == 0)
            }
            let heard = try await bench.hear(provider.provider())
            #expect(heard.isWhole)
        }
    }

    @Test func `Cancelling behind the end changes nothing`() async throws {
        let provider = try FakeProvider()
        try await withBench { bench in
            let ask = try await bench.start(provider.provider())
            #expect(ask.ends())
            try await bench.run { _ in ask.ask?.cancel() }
            #expect(ask.heard.isWhole)
        }
    }

    @Test func `A slow reader stops the provider, and its pause is nobody's silence`() async throws {
        let events = 300_000
        let provider = try FakeProvider { _, _ in
            .events([.flood(Self.word, times: events), .send(OpenAIShapes.event("[DONE]"))])
        }
        let deadlines = Provider.Deadlines(idle: .milliseconds(1500), total: .seconds(120))
        try await withBench { bench in
            let ask = try await bench.start(
                provider.provider(deadlines), keeps: false, prepare: { $0.onPause = { $0.ask?.setPaused(true) } })
            let call = try #require(provider.rest.waitForCall())
            for _ in 0..<8 {
                // Going on hands over what was held, which pauses again.
                try await bench.run { _ in ask.ask?.setPaused(false) }
                Stopwatch.sleep(milliseconds: 100)
            }
            Stopwatch.sleep(milliseconds: 1700)
            let sent = call.bytesSent
            Stopwatch.sleep(milliseconds: 100)
            #expect(call.bytesSent == sent && call.end == nil)
            #expect(ask.heard.ends.isEmpty && ask.heard.count < 2_000_000)
            try await bench.run { _ in
                ask.onPause = nil
                ask.ask?.setPaused(false)
            }
            #expect(ask.ends(within: .seconds(100)) && ask.heard.isWhole)
            #expect(ask.heard.count == events * 5)
        }
    }

    @Test func `A stall behind a pause is a stall`() async throws {
        let provider = try Self.slow()
        try await withBench { bench in
            let ask = try await bench.start(
                provider.provider(.init(idle: .milliseconds(200))),
                prepare: { $0.onPause = { $0.ask?.setPaused(true) } })
            #expect(Stopwatch.wait(upTo: .seconds(10)) { ask.heard.count > 0 })
            Stopwatch.sleep(milliseconds: 400)
            #expect(ask.heard.ends.isEmpty)
            try await bench.run { _ in ask.ask?.setPaused(false) }
            #expect(ask.ends() && ask.heard.end?.failure == .idleTimeout)
        }
    }

    @Test func `A call too many is told before it begins`() async throws {
        let provider = try Self.slow()
        try await withBench { bench in
            let few = provider.provider(most: 1)
            let first = try await bench.start(few)
            let second = try await bench.start(few)
            #expect(second.heard.end?.failure == .tooManyCalls)
            try await bench.run { _ in first.ask?.cancel() }
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
        }
    }
}
