import EventLoops
import GatewayTesting
import GatewayTypes
import HTTPClient
import Synchronization
import Testing

@testable import Asking

/// What a receiver was told.
struct Heard: Sendable {
    var starts = 0
    var bytes: [UInt8] = []
    var count = 0
    var pauses = 0
    var ends: [AskEnd] = []
    /// Set when something came behind the end, or text before the start.
    var isOutOfOrder = false

    var text: String { String(decoding: self.bytes, as: UTF8.self) }
    var end: AskEnd? { self.ends.first }
    /// Ended once, whole.
    var isWhole: Bool { self.ends.count == 1 && self.ends[0].failure == nil && !self.ends[0].wasCancelled }
}

/// One ask of a test and its receiver. What it is told may be read from anywhere, the rest belongs to the loop.
final class TestAsk: AnswerReceiver, @unchecked Sendable {
    // Unchecked: the box guards what other threads read.
    private let box = Mutex(Heard())
    private let keeps: Bool
    var ask: Ask?
    /// Called on the loop behind every piece of text.
    var onText: ((TestAsk) -> Void)?
    /// Called on the loop when there is no more text at hand.
    var onPause: ((TestAsk) -> Void)?

    init(keeps: Bool = true) { self.keeps = keeps }

    var heard: Heard { self.box.withLock { $0 } }

    func answerStarted() {
        self.box.withLock { heard in
            heard.starts += 1
            if !heard.ends.isEmpty || heard.count > 0 { heard.isOutOfOrder = true }
        }
    }

    func answerGrew(_ text: UnsafeBufferPointer<UInt8>) {
        self.box.withLock { heard in
            if heard.starts != 1 || !heard.ends.isEmpty || text.isEmpty { heard.isOutOfOrder = true }
            heard.count += text.count
            if self.keeps { heard.bytes.append(contentsOf: text) }
        }
        self.onText?(self)
    }

    func answerPaused() {
        self.box.withLock { heard in
            heard.pauses += 1
            if !heard.ends.isEmpty { heard.isOutOfOrder = true }
        }
        self.onPause?(self)
    }

    func answerEnded(_ end: AskEnd) { self.box.withLock { $0.ends.append(end) } }

    /// Waits for the end; false when it did not come.
    func ends(within limit: TimeSpan = .seconds(15)) -> Bool {
        Stopwatch.wait(upTo: limit) { !self.heard.ends.isEmpty }
    }
}

/// A core on a loop, held while a test runs.
final class Bench: @unchecked Sendable {
    // Unchecked: `core` is touched on the loop only.
    /// Of its own, since a flood on it holds up all else there.
    private let group: EventLoopGroup
    var loop: EventLoop { self.group.loops[0] }
    fileprivate(set) var core: AskingCore?

    init() async throws {
        self.group = try EventLoopGroup(count: 1)
        try await self.run { bench in
            bench.core = AskingCore(loop: bench.loop)
            try #require(bench.core != nil)
        }
    }

    /// Runs the body on the loop.
    func run<Result: Sendable>(
        _ body: @escaping @concurrent @Sendable (Bench) async throws -> Result
    ) async throws -> Result {
        try await withTaskExecutorPreference(self.loop) { try await body(self) }
    }

    /// Starts an ask on the loop.
    /// - Parameters:
    ///   - prepare: given the ask's receiver before it begins.
    ///   - then: given it right after it began.
    func start(
        _ provider: Provider, stream: Bool = true, keeps: Bool = true, request: AskRequest? = nil,
        prepare: @escaping @Sendable (TestAsk) -> Void = { _ in },
        then: @escaping @Sendable (TestAsk) -> Void = { _ in }
    ) async throws -> TestAsk {
        try await self.run { bench in
            let test = TestAsk(keeps: keeps)
            prepare(test)
            test.ask = bench.core?.ask(request ?? .sample(stream: stream), of: provider, receiver: test)
            then(test)
            return test
        }
    }

    /// A whole ask; what was heard when it has ended.
    func hear(_ provider: Provider, stream: Bool = true, request: AskRequest? = nil) async throws -> Heard {
        let test = try await self.start(provider, stream: stream, request: request)
        let end = try await self.run { _ in await test.ask?.end() }
        let heard = test.heard
        #expect(end != nil && heard.ends.count == 1 && heard.starts <= 1 && !heard.isOutOfOrder)
        #expect(end?.failure == heard.end?.failure)
        return heard
    }

    /// Waits until no call is open, and gives the core back.
    func close() async throws {
        var open = 1
        let watch = Stopwatch()
        while open > 0, watch.elapsed < .seconds(10) {
            open = try await self.run { $0.core?.openCalls ?? 0 }
            if open > 0 { Stopwatch.sleep(milliseconds: 10) }
        }
        #expect(open == 0, "a call is left open")
        try await self.run { $0.core = nil }
        self.group.shutDown()
    }
}

/// Uses a core of its own and checks that nothing is left open.
func withBench(_ test: (Bench) async throws -> Void) async throws {
    let bench = try await Bench()
    try await test(bench)
    try await bench.close()
}

extension AskRequest {
    static func sample(
        _ text: String = "How do tides work?", task: TaskName = "improve", cap: Int = 100, stream: Bool = true
    ) -> AskRequest {
        AskRequest(
            task: task, prompt: Prompt(system: Array("Be brief.".utf8), user: Array(text.utf8)), model: "m-small",
            outputCap: cap, temperature: 0.5, streams: stream)
    }
}

extension FakeProvider {
    /// This provider as the core knows it.
    func provider(_ deadlines: Provider.Deadlines = .init(), most: Int = 1024, asksForUsage: Bool = true) -> Provider {
        let endpoint = UpstreamEndpoint(
            url: self.baseURL + "/chat/completions", headers: [("Content-Type", Secret("application/json"))],
            connectTimeout: deadlines.connect, cap: CallCap(most))
        return Provider(
            name: "fake",
            dialect: .openAI(Endpoints(endpoint), Provider.CallOptions(asksForUsage: asksForUsage)),
            deadlines: deadlines)
    }
}

/// What a provider sends, and what the core makes of it.
struct Shape: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reply: ProviderReply
    var text = ""
    var failure: ProviderFailure?
    /// The total charged; nil when no usable usage was reported.
    var total: Int?
    var finish: FinishReason?

    init(
        _ name: String, _ reply: ProviderReply, text: String = "", failure: ProviderFailure? = nil, total: Int? = nil,
        finish: FinishReason? = nil
    ) {
        self.testDescription = name
        self.reply = reply
        self.text = text
        self.failure = failure
        self.total = total
        self.finish = finish
    }

    func check(stream: Bool) async throws {
        let provider = try FakeProvider { _, _ in self.reply }
        try await withBench { bench in
            let heard = try await bench.hear(provider.provider(), stream: stream)
            #expect(heard.text == self.text)
            #expect(heard.bytes == Array(self.text.utf8))
            #expect(heard.starts == (self.text.isEmpty ? 0 : 1))
            #expect(heard.end?.failure == self.failure)
            #expect(heard.end?.usage?.total == self.total)
            #expect(heard.end?.finish == self.finish)
            #expect(heard.end?.wasCancelled == false && heard.end?.attempts == 1)
            #expect(provider.calls.count == 1)
        }
    }
}
