import EventLoops
import GatewayTesting
import GatewayTypes
import Testing

@testable import HTTPClient

/// Who speaks with the provider in a test.
enum Transport {
    @TaskLocal static var usesLibcurl = false
}

/// Runs each test over both ways to speak with a provider.
struct OverBothTransports: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await function()
        try await Transport.$usesLibcurl.withValue(true) { try await function() }
    }
}

extension Trait where Self == OverBothTransports {
    static var overBothTransports: Self { Self() }
}

/// An endpoint of a test's transport.
func endpoint(
    _ url: String, headers: [(name: String, value: Secret)] = [], connectTimeout: TimeSpan = .seconds(2),
    most: Int = 1024
) -> UpstreamEndpoint {
    UpstreamEndpoint(
        url: url, headers: headers, connectTimeout: connectTimeout, cap: CallCap(most),
        usesLibcurl: Transport.usesLibcurl)
}

/// What a call told its receiver.
struct Told: Sendable {
    var heads: [UpstreamHead] = []
    var bytes: [UInt8] = []
    var count = 0
    var ends: [HTTPClientFailure?] = []
    var text: String { String(decoding: self.bytes, as: UTF8.self) }
    /// Ended once and whole.
    var isWhole: Bool { self.ends.count == 1 && self.ends[0] == nil }
}

/// One call of a test and its receiver. What it is told may be read from anywhere, the rest belongs to the loop.
final class TestCall: UpstreamReceiver, @unchecked Sendable {
    // Unchecked: the box guards what other threads read.
    private let box = Box(Told())
    private let keeps: Bool
    var call: (any UpstreamCall)?
    /// Called on the loop when the head came.
    var onHead: ((TestCall) -> Void)?
    /// Called on the loop for every piece; false gives the call up.
    var onBytes: ((TestCall) -> Bool)?
    /// Called on the loop when the call has ended.
    var onEnd: (() -> Void)?

    /// - Parameter keeps: whether the bytes are kept, or only counted.
    init(keeps: Bool = true) { self.keeps = keeps }

    var told: Told { self.box.now }

    func upstreamAnswered(_ head: UpstreamHead) {
        self.box.change { $0.heads.append(head) }
        self.onHead?(self)
    }

    func upstreamReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        self.box.change { told in
            told.count += bytes.count
            if self.keeps { told.bytes.append(contentsOf: bytes) }
        }
        return self.onBytes?(self) ?? true
    }

    func upstreamEnded(_ failure: HTTPClientFailure?) {
        self.box.change { $0.ends.append(failure) }
        self.call = nil
        self.onEnd?()
    }

    /// Waits for the end; false when it did not come.
    func ends(within limit: TimeSpan = .seconds(15)) -> Bool {
        Stopwatch.wait(upTo: limit) { !self.told.ends.isEmpty }
    }
}

/// A client on a loop, held while a test runs.
final class Upstream: @unchecked Sendable {
    // Unchecked: `client` is touched on the loop only.
    /// Of its own, since a flood on it holds up all else there.
    private let group: EventLoopGroup
    var loop: EventLoop { self.group.loops[0] }
    private var client: UpstreamClient?

    init() async throws {
        self.group = try EventLoopGroup(count: 1)
        try await self.run { upstream in
            upstream.client = UpstreamClient(loop: upstream.loop)
            try #require(upstream.client != nil)
        }
    }

    /// Runs the body on the loop.
    func run<Result: Sendable>(
        _ body: @escaping @concurrent @Sendable (Upstream) async throws -> Result
    ) async throws -> Result {
        try await withTaskExecutorPreference(self.loop) { try await body(self) }
    }

    /// Starts a call on the loop.
    /// - Parameters:
    ///   - prepare: given the call before it begins.
    ///   - then: given the call right after it began.
    func start(
        _ endpoint: UpstreamEndpoint, _ body: String = "{}", stream: Bool = true, keeps: Bool = true,
        deadline: TimeSpan = .seconds(20), prepare: @escaping @Sendable (TestCall) -> Void = { _ in },
        then: @escaping @Sendable (TestCall) -> Void = { _ in }
    ) async throws -> TestCall {
        let call = try await self.tryStart(
            endpoint, body, stream: stream, keeps: keeps, deadline: deadline, prepare: prepare, then: then)
        return try #require(call, "the endpoint takes no more calls")
    }

    func tryStart(
        _ endpoint: UpstreamEndpoint, _ body: String = "{}", stream: Bool = true, keeps: Bool = true,
        deadline: TimeSpan = .seconds(20), prepare: @escaping @Sendable (TestCall) -> Void = { _ in },
        then: @escaping @Sendable (TestCall) -> Void = { _ in }
    ) async throws -> TestCall? {
        try await self.run { upstream in
            let test = TestCall(keeps: keeps)
            prepare(test)
            test.call = upstream.client?.start(
                endpoint, body: Array(body.utf8), expectsStream: stream, deadline: deadline, receiver: test)
            then(test)
            return test.call == nil ? nil : test
        }
    }

    /// A whole call; the receiver when it has ended.
    func perform(
        _ endpoint: UpstreamEndpoint, _ body: String = "{}", stream: Bool = false, deadline: TimeSpan = .seconds(20)
    ) async throws -> Told {
        let call = try await self.start(endpoint, body, stream: stream, deadline: deadline)
        #expect(call.ends(), "the call has no end")
        return call.told
    }

    /// Two streamed calls, the second of which begins as soon as the first has ended, before the loop looks at its
    /// sockets again.
    func performTwice(_ endpoint: UpstreamEndpoint) async throws -> [Told] {
        let second = TestCall()
        let first = try await self.start(
            endpoint,
            prepare: { first in
                first.onEnd = {
                    second.call = self.client?.start(
                        endpoint, body: [], expectsStream: true, deadline: .seconds(20), receiver: second)
                }
            })
        #expect(first.ends() && second.ends(), "the calls have no end")
        return [first.told, second.told]
    }

    func openCalls() async throws -> Int { try await self.run { $0.client?.openCalls ?? -1 } }

    /// Lets the client go, whatever is open.
    func dropClient() async throws { try await self.run { $0.client = nil } }

    /// Gives the client back; every call has to be over.
    func close() async throws {
        let open = try await self.openCalls()
        #expect(open == 0)
        try await self.run { $0.client = nil }
        self.group.shutDown()
    }
}

/// Uses a client of its own and checks that it ends with nothing open.
func withUpstream(_ test: (Upstream) async throws -> Void) async throws {
    let upstream = try await Upstream()
    try await test(upstream)
    try await upstream.close()
}

extension FakeProvider {
    /// Calls of this provider's one path, found by its address.
    func endpoint(
        headers: [(name: String, value: Secret)] = [], connectTimeout: TimeSpan = .seconds(5), most: Int = 1024,
        host: String = "127.0.0.1", scheme: String = "http"
    ) -> UpstreamEndpoint {
        HTTPClientTests.endpoint(
            "\(scheme)://\(host):\(self.port)/v1/chat/completions", headers: headers,
            connectTimeout: connectTimeout, most: most)
    }
}

/// Answers every connection with the same bytes as soon as a request has come, then closes.
final class RawProvider: Sendable {
    let port: UInt16
    private let listener: TestSocket
    private let isOver = Gate()

    init(_ bytes: [UInt8]) throws {
        (self.listener, self.port) = try TestSocket.listen()
        OwnThread.start { [listener, isOver] in
            while !isOver.isPassable {
                guard let socket = listener.accept(within: .milliseconds(50)) else { continue }
                _ = try? socket.receive(within: .seconds(5))
                try? socket.send(bytes)
                socket.close()
            }
            listener.close()
        }
    }

    convenience init(_ text: String) throws { try self.init(Array(text.utf8)) }

    deinit { self.isOver.open() }

    var endpoint: UpstreamEndpoint { HTTPClientTests.endpoint("http://127.0.0.1:\(self.port)/") }
}
