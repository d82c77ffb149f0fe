import EventLoops
import GatewayTesting
import GatewayTypes
import Synchronization
import TLS
import Testing

@testable import RedisClient

struct NeverHappened: Error {}

/// Asks again until the condition holds, and lets other tasks of the thread go on meanwhile.
func eventually(within limit: TimeSpan = .seconds(60), _ condition: () async throws -> Bool) async throws {
    let watch = Stopwatch()
    while try await !condition() {
        if watch.elapsed > limit { throw NeverHappened() }
        try await Task.sleep(for: .milliseconds(5))
    }
}

typealias Answer = Result<RedisReply, RedisFailure>

/// Loops for all tests of this target.
enum Loops {
    private static let group = try? EventLoopGroup(count: 2)
    private static let counter = Atomic(0)

    static func next() throws -> EventLoop {
        let group = try #require(self.group)
        let (count, _) = self.counter.add(1, ordering: .relaxed)
        return group.loops[count % group.loops.count]
    }
}

/// A client that runs until it is closed.
final class TestClient: Sendable {
    let redis: Redis
    private let task: Task<Void, Never>

    init(_ settings: RedisSettings) throws {
        let redis = Redis(settings, loop: try Loops.next())
        self.redis = redis
        self.task = Task { await redis.run() }
    }

    func call(
        _ words: String..., key: String? = nil, timeout: TimeSpan? = nil, idempotent: Bool = false
    ) async -> Answer {
        await self.call(words, key: key, timeout: timeout, idempotent: idempotent)
    }

    func call(
        _ words: [String], key: String? = nil, timeout: TimeSpan? = nil, idempotent: Bool = false
    ) async -> Answer {
        do throws(RedisFailure) {
            return .success(
                try await self.redis.call(
                    words.map { ByteString($0) }, key: key.map { ByteString($0) }, timeout: timeout,
                    idempotent: idempotent))
        } catch {
            return .failure(error)
        }
    }

    /// Sends several commands in one turn of the loop; the answers in the order of the commands.
    func together(
        _ commands: [[String]], key: String? = nil, timeout: TimeSpan? = nil, idempotent: Bool = false
    ) async -> [Answer] {
        guard !commands.isEmpty else { return [] }
        return await withUnsafeContinuation { continuation in
            self.redis.loop.submit {
                let answers = Box([Answer?](repeating: nil, count: commands.count))
                let missing = Box(commands.count)
                for (index, words) in commands.enumerated() {
                    self.redis.call(
                        words.map { ByteString($0) }, key: key.map { ByteString($0) }, timeout: timeout,
                        idempotent: idempotent
                    ) { answer in
                        answers.change {
                            if $0[index] != nil { Issue.record("answered twice") }
                            $0[index] = answer
                        }
                        missing.change { $0 -= 1 }
                        if missing.now == 0 { continuation.resume(returning: answers.now.compactMap { $0 }) }
                    }
                }
            }
        }
    }

    func evaluate(
        _ script: RedisScript, keys: [String] = [], arguments: [String] = [], timeout: TimeSpan? = nil,
        idempotent: Bool = false
    ) async -> Answer {
        await withUnsafeContinuation { continuation in
            self.redis.loop.submit {
                self.redis.evaluate(
                    script, keys: RedisWords(keys.map { ByteString($0) }), tag: ByteString(keys.first ?? ""),
                    arguments: RedisWords(arguments.map { ByteString($0) }),
                    timeout: timeout, idempotent: idempotent
                ) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Asks again until the answer is as wanted; the last one.
    func until(
        within limit: TimeSpan = .seconds(60), _ words: [String], key: String? = nil, _ isWanted: (Answer) -> Bool
    ) async -> Answer {
        let watch = Stopwatch()
        while true {
            let answer = await self.call(words, key: key, timeout: .milliseconds(500))
            if isWanted(answer) || watch.elapsed > limit { return answer }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    func close() async {
        self.redis.stop()
        await self.task.value
    }
}

/// Uses a client and checks that it ends with nothing open.
func withClient<Value>(_ settings: RedisSettings, _ body: (TestClient) async throws -> Value) async throws -> Value {
    let client = try TestClient(settings)
    let result: Result<Value, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    await client.close()
    #expect(client.redis.state.openCalls == 0)
    #expect(!client.redis.state.isConnected)
    return try result.get()
}

extension RedisServer {
    var address: RedisAddress { RedisAddress(host: "127.0.0.1", port: self.port) }

    /// A client of this one server. Tests wait long, so that a busy machine breaks none.
    func settings(
        credentials: RedisCredentials? = nil, database: Int = 0, timeout: TimeSpan = .seconds(30), most: Int = 16384
    ) -> RedisSettings {
        RedisSettings(
            topology: .single(self.address), credentials: credentials, database: database,
            connectTimeout: .seconds(30), commandTimeout: timeout, mostCalls: most)
    }

    /// How often a command was run.
    func count(of command: String) throws -> Int {
        guard let text = try self.call("INFO", "commandstats").text else { return -1 }
        let line = text.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_\(command):calls=") }
        let number = line?.split(separator: "=").dropFirst().first?.split(separator: ",").first
        return number.flatMap { Int($0) } ?? 0
    }
}

extension Answer {
    var reply: RedisReply? { try? self.get() }
    var text: String? { self.reply?.text }
    var failure: RedisFailure? { if case .failure(let failure) = self { failure } else { nil } }
    var isSuccess: Bool { self.reply != nil }
}
