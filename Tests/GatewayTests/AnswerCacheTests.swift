import Asking
import EventLoops
import GatewayTypes
import Synchronization
import Testing

@testable import Gateway

@Suite("Kept answers")
struct AnswerCacheTests {
    private func request(
        _ text: String = "text", task: TaskName = "summarize", model: ModelName = "m", cap: Int = 10,
        temperature: Double = 0.5, stop: [String] = [], history: [Turn] = []
    ) -> AskRequest {
        AskRequest(
            task: task, prompt: Prompt(system: [1], history: history, user: Array(text.utf8)), model: model,
            outputCap: cap, temperature: temperature, stop: stop.map { Array($0.utf8) }, streams: false)
    }

    private func bench(_ bounds: AnswerCache.Bounds = .init()) throws -> CacheBench {
        CacheBench(cache: try #require(AnswerCache(bounds)), loop: try EventLoop(index: 0))
    }

    @Test func `Every part of an ask tells keys apart, and the same ask has the same key`() throws {
        let cache = try #require(AnswerCache(.init()))
        let requests = [
            self.request(), self.request("text "), self.request(task: "titles"), self.request(model: "n"),
            self.request(cap: 11), self.request(temperature: 0.25), self.request(stop: ["a"]),
            self.request(stop: ["a", "b"]), self.request(stop: ["ab"]), self.request(history: [Turn(.user, [9])]),
            self.request(history: [Turn(.assistant, [9])]), self.request(history: [Turn(.user, [9]), Turn(.user, [])]),
        ]
        let keys = requests.map { cache.key($0, of: "acme", from: "main") }
        #expect(!keys.contains(nil))
        #expect(Set(keys).count == requests.count)
        #expect(requests.map { cache.key($0, of: "acme", from: "main") } == keys)
        #expect(cache.key(requests[0], of: "other", from: "main") != keys[0])
        #expect(cache.key(requests[0], of: "acme", from: "second") != keys[0])
        // Another secret: keys of one cache say nothing about another's.
        let another = try #require(AnswerCache(.init()))
        #expect(another.key(requests[0], of: "acme", from: "main") != keys[0])
    }

    @Test func `An answer is given again until its time is over`() throws {
        let bench = try self.bench()
        try bench.answer("one", "first", at: 0)
        #expect(bench.kept("one", at: 9) == "first")
        #expect(bench.kept("two", at: 9) == nil)
        #expect(bench.kept("one", at: 11) == nil)
        #expect(bench.cache.heldBytes == 0)
    }

    @Test func `The oldest goes when there is no room, and bytes stay below their bound`() throws {
        let bench = try self.bench(AnswerCache.Bounds(bytes: 10_000, answerBytes: 4000))
        for number in 0..<200 {
            try bench.answer("ask \(number)", String(repeating: "x", count: 3000), at: 0)
            #expect(bench.cache.heldBytes <= 10_000)
        }
        #expect(bench.kept("ask 199", at: 1) != nil && bench.kept("ask 197", at: 1) != nil)
        #expect(bench.kept("ask 196", at: 1) == nil && bench.kept("ask 0", at: 1) == nil)
    }

    @Test func `An answer that is too long is delivered whole and not kept`() throws {
        let bench = try self.bench(AnswerCache.Bounds(bytes: 10_000, answerBytes: 1000))
        let text = String(repeating: "x", count: 1001)
        #expect(try bench.answer("long", text, at: 0).text == text)
        #expect(bench.kept("long", at: 0) == nil)
        #expect(bench.cache.heldBytes == 0)
    }

    @Test(arguments: [
        AskEnd(failure: .incomplete, wasCancelled: false, finish: nil, usage: nil, attempts: 1),
        AskEnd(failure: nil, wasCancelled: true, finish: nil, usage: nil, attempts: 1),
        AskEnd(failure: nil, wasCancelled: false, finish: .contentFilter, usage: nil, attempts: 1),
        AskEnd(failure: nil, wasCancelled: false, finish: nil, usage: nil, attempts: 1),
    ])
    func `Only whole answers are kept`(end: AskEnd) throws {
        let bench = try self.bench()
        #expect(try bench.answer("ask", "some", end: end, at: 0).ends.count == 1)
        #expect(bench.kept("ask", at: 0) == nil)
    }

    @Test func `Asks that come while the same is on its way wait for it, and only the first pays`() throws {
        let bench = try self.bench()
        let (call, first) = try bench.begin("ask")
        bench.grow(call, "one ")
        let second = try bench.join("ask")
        bench.grow(call, "two")
        call.answerEnded(bench.whole)
        second.subscription.pull()
        for member in [first, second] {
            #expect(member.heard.text == "one two")
            #expect(member.heard.starts == 1 && member.heard.ends.count == 1)
        }
        #expect(first.heard.ends.first?.attempts == 1)
        #expect(second.heard.ends.first?.attempts == 0)
        #expect(bench.kept("ask", at: 0) == "one two")
    }

    @Test func `Who leaves takes nothing from the others, and the next one pays`() throws {
        let bench = try self.bench()
        let (call, first) = try bench.begin("ask")
        let second = try bench.join("ask")
        bench.grow(call, "one ")
        first.subscription.cancel()
        #expect(first.heard.ends.map(\.wasCancelled) == [true])
        #expect(first.heard.ends.map(\.attempts) == [0])
        bench.grow(call, "two")
        call.answerEnded(bench.whole)
        #expect(first.heard.text == "one " && second.heard.text == "one two")
        #expect(second.heard.ends.map(\.attempts) == [1])
    }

    @Test func `Who pays and leaves behind the end pays for the whole call`() throws {
        let bench = try self.bench()
        let (call, first) = try bench.begin("ask")
        let second = try bench.join("ask")
        first.subscription.setPaused(true)
        second.subscription.setPaused(true)
        bench.grow(call, "all of it")
        let usage = TokenUsage(input: 700, output: 300, source: .provider)
        call.answerEnded(AskEnd(failure: nil, wasCancelled: false, finish: .stop, usage: usage, attempts: 2))
        first.subscription.cancel()
        second.subscription.cancel()
        let ends = try [#require(first.heard.ends.first), #require(second.heard.ends.first)]
        #expect(ends.map(\.wasCancelled) == [true, true] && ends.map(\.attempts) == [2, 0])
        #expect(ends.map(\.usage) == [usage, nil] && ends[0].hadOpenCall)
    }

    @Test func `An ask that comes as the last one leaves is not given up with it`() throws {
        let bench = try self.bench()
        let (call, first) = try bench.begin("ask")
        let second = try bench.join("ask")
        first.subscription.cancel()
        // As when the news that the last has left are late.
        call.emptied()
        bench.grow(call, "text")
        #expect(try bench.join("ask").heard.ends.isEmpty && second.heard.ends.isEmpty)
        second.subscription.cancel()
    }

    @Test func `A call that waits for its slowest reader goes on when that leaves`() throws {
        let bench = try self.bench(AnswerCache.Bounds(bytes: 10_000, answerBytes: 1000))
        let (call, first) = try bench.begin("ask")
        let slow = try bench.join("ask")
        slow.subscription.setPaused(true)
        for _ in 0..<300 { bench.grow(call, String(repeating: "x", count: 1000)) }
        #expect(first.heard.bytes.count == 300_000 && call.state.withLock { $0.isPaused })
        slow.subscription.cancel()
        #expect(call.state.withLock { !$0.isPaused && $0.text.isEmpty })
        first.subscription.cancel()
    }

    @Test func `Answers that come and go behind one that stays leave no places behind`() throws {
        let bench = try self.bench()
        try bench.answer("stays", "long", lifetime: .seconds(100_000), at: 0)
        for second in 0..<5000 { try bench.answer("ask", "x", at: Int64(second * 20)) }
        #expect(bench.cache.heldPlaces < 400)
        #expect(bench.kept("stays", at: 99_990) == "long")
    }

    @Test func `When all have left nobody can join any more`() throws {
        let bench = try self.bench()
        let (_, first) = try bench.begin("ask")
        let second = try bench.join("ask")
        second.subscription.cancel()
        first.subscription.cancel()
        #expect(first.heard.ends.map(\.attempts) == [1], "somebody has to pay")
        _ = try bench.begin("ask")
    }

    @Test func `A slow client gets the whole answer at its own pace`() throws {
        let bench = try self.bench()
        let (call, first) = try bench.begin("ask")
        let slow = try bench.join("ask")
        slow.subscription.setPaused(true)
        for _ in 0..<100 { bench.grow(call, "word ") }
        #expect(slow.heard.text.isEmpty && first.heard.text.count == 500)
        call.answerEnded(bench.whole)
        #expect(slow.heard.ends.isEmpty && first.heard.ends.count == 1)
        slow.subscription.setPaused(false)
        #expect(slow.heard.text.count == 500 && slow.heard.ends.count == 1)
    }
}

/// A cache under test, with answers told by hand and a clock in seconds.
private final class CacheBench {
    final class Member {
        let subscription: Subscription
        let heard: HeardAnswer

        init(_ subscription: Subscription, _ heard: HeardAnswer) {
            self.subscription = subscription
            self.heard = heard
        }
    }

    let cache: AnswerCache
    let loop: EventLoop
    let whole = AskEnd(failure: nil, wasCancelled: false, finish: .stop, usage: nil, attempts: 1)
    private var now: MonotonicTime

    init(cache: AnswerCache, loop: EventLoop) {
        self.cache = cache
        self.loop = loop
        self.now = loop.clock.monotonicTime()
    }

    private func find(
        _ text: String, at seconds: Int64, lifetime: TimeSpan = .seconds(10), _ receiver: HeardAnswer
    ) throws -> AnswerCache.Found {
        let request = AskRequest(
            task: "t", prompt: Prompt(system: [], user: Array(text.utf8)), model: "m", outputCap: 1, temperature: 0,
            streams: true)
        let key = try #require(self.cache.key(request, of: "acme", from: "main"))
        return self.cache.find(
            key, streams: true, lifetime: lifetime, now: self.now + .seconds(seconds), on: self.loop,
            receiver: receiver)
    }

    func begin(
        _ text: String, lifetime: TimeSpan = .seconds(10), at seconds: Int64 = 0
    ) throws -> (SharedAnswer, Member) {
        let heard = HeardAnswer()
        guard case .mine(let call, let subscription) = try self.find(text, at: seconds, lifetime: lifetime, heard)
        else {
            throw Unexpected.found
        }
        return (call, Member(subscription, heard))
    }

    func join(_ text: String) throws -> Member {
        let heard = HeardAnswer()
        guard case .shared(let subscription) = try self.find(text, at: 0, heard) else { throw Unexpected.found }
        return Member(subscription, heard)
    }

    func grow(_ call: SharedAnswer, _ text: String) {
        call.answerStarted()
        let bytes = Array(text.utf8)
        bytes.withUnsafeBufferPointer { call.answerGrew($0) }
        call.answerPaused()
    }

    /// A whole ask that makes its own call.
    @discardableResult
    func answer(
        _ ask: String, _ text: String, lifetime: TimeSpan = .seconds(10), end: AskEnd? = nil, at seconds: Int64
    ) throws -> HeardAnswer {
        let (call, member) = try self.begin(ask, lifetime: lifetime, at: seconds)
        self.grow(call, text)
        call.answerEnded(end ?? self.whole)
        return member.heard
    }

    func kept(_ text: String, at seconds: Int64) -> String? {
        switch try? self.find(text, at: seconds, HeardAnswer()) {
        case .kept(let answer)?: return String(decoding: answer.text, as: UTF8.self)
        case .mine(let call, _)?:
            // A call that was begun ends, too.
            call.answerEnded(AskEnd(failure: .incomplete, wasCancelled: false, finish: nil, usage: nil, attempts: 1))
            return nil
        case .shared?, nil: return nil
        }
    }

    enum Unexpected: Error { case found }
}

/// What one ask is told.
private final class HeardAnswer: AnswerReceiver {
    var starts = 0
    var bytes: [UInt8] = []
    var ends: [AskEnd] = []
    var text: String { String(decoding: self.bytes, as: UTF8.self) }

    func answerStarted() { self.starts += 1 }
    func answerGrew(_ text: UnsafeBufferPointer<UInt8>) { self.bytes += text }
    func answerPaused() {}
    func answerEnded(_ end: AskEnd) { self.ends.append(end) }
}
