import GatewayTesting
import GatewayTypes
import HTTPClient
import Testing

@testable import Asking

@Suite("Deadlines of an ask", .ownThread)
struct DeadlineTests {
    private static let word = OpenAIShapes.event(OpenAIShapes.delta("word "))

    private static func deadlines(
        firstByte: TimeSpan = .seconds(30), idle: TimeSpan = .seconds(30), total: TimeSpan = .seconds(60)
    ) -> Provider.Deadlines {
        Provider.Deadlines(connect: .seconds(5), firstByte: firstByte, idle: idle, total: total)
    }

    /// Asks, and checks that the provider's connection is closed at the end.
    private func hear(
        _ reply: ProviderReply, _ deadlines: Provider.Deadlines, stream: Bool = true
    ) async throws -> Heard {
        let provider = try FakeProvider { _, _ in reply }
        var heard = Heard()
        try await withBench { bench in
            heard = try await bench.hear(provider.provider(deadlines), stream: stream)
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
        }
        return heard
    }

    @Test(arguments: [true, false])
    func `A stream that does not begin is given up`(hasHead: Bool) async throws {
        let reply: ProviderReply = hasHead ? .stall : .body("", delay: 60_000)
        let heard = try await self.hear(reply, Self.deadlines(firstByte: .milliseconds(700)))
        #expect(heard.end?.failure == .firstByteTimeout && heard.starts == 0)
    }

    @Test func `A stream that stalls is given up with what it said`() async throws {
        let reply = ProviderReply.events([.send(Self.word), .send(Self.word), .hold(milliseconds: 60_000)])
        let heard = try await self.hear(reply, Self.deadlines(idle: .milliseconds(700)))
        #expect(heard.end?.failure == .idleTimeout && heard.text == "word word ")
    }

    @Test func `Silence behind the reason is an end`() async throws {
        let reply = ProviderReply.events([
            .send(Self.word), .send(OpenAIShapes.event(OpenAIShapes.finish())), .hold(milliseconds: 60_000),
        ])
        let heard = try await self.hear(reply, Self.deadlines(idle: .milliseconds(700)))
        #expect(heard.isWhole && heard.text == "word " && heard.end?.finish == .stop)
    }

    @Test func `Short silences are none, however many`() async throws {
        let provider = try FakeProvider { _, _ in .stream(Array(repeating: "w", count: 12), gap: 80) }
        try await withBench { bench in
            let deadlines = Self.deadlines(firstByte: .seconds(10), idle: .milliseconds(600))
            let heard = try await bench.hear(provider.provider(deadlines))
            #expect(heard.isWhole)
        }
    }

    @Test func `A plain answer has the whole deadline and no other`() async throws {
        let provider = try FakeProvider { _, _ in .answer("late", delay: 200) }
        try await withBench { bench in
            let patient = Self.deadlines(firstByte: .milliseconds(50), idle: .milliseconds(50), total: .seconds(20))
            let late = try await bench.hear(provider.provider(patient), stream: false)
            #expect(late.text == "late")
        }
        let short = Self.deadlines(total: .seconds(2))
        let heard = try await self.hear(.answer("later", delay: 60_000), short, stream: false)
        #expect(heard.end?.failure == .totalTimeout)
    }

    @Test func `A stream that never ends is given up at the whole deadline`() async throws {
        let steps = (0..<2000).flatMap { _ in [ProviderStep.send(Self.word), .hold(milliseconds: 20)] }
        let heard = try await self.hear(.events(steps), Self.deadlines(total: .seconds(1)))
        #expect(heard.end?.failure == .totalTimeout && heard.text.hasPrefix("word "))
    }

    @Test func `Comments without end do not stretch the whole deadline`() async throws {
        let steps = (0..<2000).flatMap { _ in [ProviderStep.send(": alive\n\n"), .hold(milliseconds: 20)] }
        let heard = try await self.hear(.events(steps), Self.deadlines(total: .seconds(1)))
        #expect(heard.end?.failure == .totalTimeout && heard.starts == 0)
    }

    @Test func `Nobody listening is told as such`() async throws {
        let endpoint = UpstreamEndpoint(url: "http://127.0.0.1:\(try TestSocket.freePort())/", headers: [])
        try await withBench { bench in
            let dialect = Provider.Dialect.openAI(Endpoints(endpoint), Provider.CallOptions())
            let heard = try await bench.hear(Provider(name: "none", dialect: dialect))
            #expect(heard.end?.failure == .unreachable)
        }
    }
}
