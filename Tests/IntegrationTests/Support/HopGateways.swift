import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What instances of a test know each other by.
enum HopSecrets {
    static let usual = Array("secret-of-all-instances-of-32-bytes".utf8)
    static let next = Array("the-secret-that-comes-after-it-32bytes".utf8)
    static let strange = Array("a-secret-that-the-others-do-not-know".utf8)

    static let files = [("hop.secret", usual), ("next.secret", next), ("strange.secret", strange)]
}

extension GatewaySettings {
    /// With answers that outlive their connections, and a listener for other instances beside one Redis.
    ///
    /// - Parameter secrets: names of files, the one that signs first.
    static func hopping(_ redis: RedisServer, secrets: [String] = ["hop.secret"], listens: Bool = true) -> Self {
        var settings = Self.resuming
        settings.store = "{kind: redis, address: \"127.0.0.1:\(redis.port)\", timeout: 500ms}"
        settings.http = "{heartbeat: 1s, drain: {deadline: 20s}}"
        settings.tasks.append(
            "ample: {builtin: summarize, text: {min_characters: 1}, "
                + "resume: {keep: 30s, bytes: 128KiB, grace: 20s}, routes: [{provider: main, model: m-a}]}")
        guard listens else { return settings }
        let files = secrets.map { "{file: \($0)}" }.joined(separator: ", ")
        settings.hopListener = "{address: 127.0.0.1, port: 0, secret: [\(files)]}"
        return settings
    }
}

/// Some gateways beside one Redis, any of which may be asked for any question.
final class HopGateways: Sendable {
    @TaskLocal static var shared: HopGateways?
    /// Those of the running test's suite.
    static var current: HopGateways { get throws { try #require(self.shared, "the suite has no gateways") } }

    let redis: RedisServer
    let all: [TestGateway]

    init(_ settings: [(RedisServer) -> GatewaySettings]) throws {
        let redis = try RedisServer()
        self.redis = redis
        self.all = try settings.map { try TestGateway($0(redis)) }
        #expect(
            try Stopwatch.wait(upTo: .seconds(15), every: 20) { try self.registered().count == settings.count },
            "not every instance has said that it lives")
    }

    convenience init(count: Int = 2) throws {
        try self.init(Array(repeating: { GatewaySettings.hopping($0) }, count: count))
    }

    subscript(_ index: Int) -> TestGateway { self.all[index] }

    // MARK: In the store

    private func registered() throws -> [String] {
        guard case .list(let keys) = try RedisProbe(port: self.redis.port).call("KEYS", "ag1:{i}:*") else { return [] }
        return keys.compactMap(\.text)
    }

    /// The key under which the holder of a question is registered.
    func key(of question: String) throws -> String {
        let instance = try #require(UInt32(question.prefix(8), radix: 16))
        return "ag1:{i}:\(String(instance, radix: 16))"
    }

    /// The port of the holder's internal listener, as the others find it.
    func port(of question: String) throws -> UInt16 {
        let text = try RedisProbe(port: self.redis.port).call("GET", try self.key(of: question)).text
        let port = try #require(text?.split(separator: ":").last.flatMap { UInt16($0) }, "\(String(describing: text))")
        return port
    }

    /// Lets the lease of a question's holder run out, which no test waits for.
    func expireLease(of question: String) throws {
        let probe = try RedisProbe(port: self.redis.port)
        let left = try #require(try probe.call("PTTL", try self.key(of: question)).number)
        #expect((1...30_000).contains(left), "the lease is of thirty seconds")
        try probe.call("PEXPIRE", try self.key(of: question), "1")
    }
}

/// Starts gateways for a suite, lends them to its tests, and ends them behind them.
struct HopTrait: SuiteTrait, TestScoping {
    let count: Int

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let count = self.count
        let gateways = try await OwnThreadExecutor.run { try HopGateways(count: count) }
        try await HopGateways.$shared.withValue(gateways) { try await function() }
        for gateway in gateways.all { gateway.process.child.signal(9) }
    }
}

extension Trait where Self == HopTrait {
    static func gateways(_ count: Int) -> Self { Self(count: count) }
}

extension TestGateway {
    /// How many hops have ended so.
    func hops(_ side: String, _ outcome: String) -> Double {
        self.process.metrics.value("askgate_hops_total", ["side": side, "outcome": outcome])
    }

    /// Asks a task that keeps its answer; the question, and what came.
    func askKept(_ marker: String, _ reply: ProviderReply, as caller: Caller) throws -> (String, Answer) {
        _ = self.provider.script(marker, reply)
        let answer = try self.ask(Ask(marker, task: "kept", stream: true), as: caller)
        return (try #require(answer.question), answer)
    }
}

extension FakeProvider {
    func wasAsked(_ marker: String) -> Bool { self.calls.contains { $0.bodyText.contains(marker) } }
}
