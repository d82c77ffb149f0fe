import EventLoops
import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

@Suite("What is let go", .ownThread)
struct LifetimeTests {
    final class Owner: RedisConnectionOwner {
        var answers = 0
        var end: RedisFailure?
        var isReady = false
        /// Called for each answer.
        var onAnswer: () -> Void = {}

        func connectionIsReady(_ connection: RedisConnection) { self.isReady = true }
        func connection(_ connection: RedisConnection, answered call: RedisCall, _ reply: RedisReply) {
            self.answers += 1
            self.onAnswer()
        }
        func connection(_ connection: RedisConnection, pushed reply: RedisReply) {}
        func connectionEnded(_ connection: RedisConnection, _ failure: RedisFailure, unanswered: [RedisCall]) {
            self.end = failure
        }
    }

    /// What a test of the loop's own things holds; touched on the loop only.
    final class Scene: @unchecked Sendable {
        var owner: Owner? = Owner()
        var connection: RedisConnection?
        weak var connectionLater: RedisConnection?
    }

    static func onLoop<Value: Sendable>(_ loop: EventLoop, _ body: @escaping @Sendable () -> Value) async -> Value {
        await withUnsafeContinuation { continuation in loop.submit { continuation.resume(returning: body()) } }
    }

    static func open(_ scene: Scene, _ settings: RedisSettings, _ loop: EventLoop, to address: RedisAddress)
        async throws
    {
        await Self.onLoop(loop) {
            guard let owner = scene.owner else { return }
            let connection = RedisConnection(
                address, role: .data, settings: settings, credentials: nil, loop: loop, owner: owner)
            scene.connection = connection
            scene.connectionLater = connection
            connection.start()
        }
    }

    static func send(_ scene: Scene, _ count: Int, _ loop: EventLoop) async {
        await Self.onLoop(loop) {
            let deadline = loop.clock.monotonicTime() + .seconds(10)
            for _ in 0..<count {
                scene.connection?.send(
                    RedisCall(.command(["PING"]), slot: nil, deadline: deadline, isIdempotent: false) { _ in })
            }
        }
    }

    @Test func aConnectionThatNobodyHoldsIsGone() async throws {
        let server = try SingleServerTests.shared.get()
        let loop = try Loops.next()
        for closes in [true, false] {
            let scene = Scene()
            try await Self.open(scene, server.settings(), loop, to: server.address)
            try await eventually { await Self.onLoop(loop) { scene.owner?.isReady == true } }
            await Self.send(scene, 3, loop)
            try await eventually { await Self.onLoop(loop) { scene.owner?.answers == 3 } }
            await Self.onLoop(loop) {
                if closes { scene.connection?.close(.stopped) }
                scene.connection = nil
            }
            try await eventually { await Self.onLoop(loop) { scene.connectionLater == nil } }
            #expect(await Self.onLoop(loop) { scene.owner?.end } == (closes ? .stopped : nil))
        }
    }

    @Test func anOwnerMayLetGoWhileItIsTold() async throws {
        let server = try SingleServerTests.shared.get()
        let loop = try Loops.next()
        let scene = Scene()
        try await Self.open(scene, server.settings(), loop, to: server.address)
        try await eventually { await Self.onLoop(loop) { scene.owner?.isReady == true } }
        await Self.onLoop(loop) {
            // With the first of many answers both go.
            scene.owner?.onAnswer = {
                scene.connection?.close(.stopped)
                scene.connection = nil
                scene.owner = nil
            }
        }
        await Self.send(scene, 100, loop)
        try await eventually { await Self.onLoop(loop) { scene.owner == nil && scene.connectionLater == nil } }
    }

    @Test func aConnectionMayGoWhileItComesAbout() async throws {
        let server = try SingleServerTests.shared.get()
        let loop = try Loops.next()
        for wait in 0..<8 {
            let scene = Scene()
            try await Self.open(scene, server.settings(), loop, to: server.address)
            try await Task.sleep(for: .microseconds(wait * 200))
            await Self.onLoop(loop) {
                scene.connection = nil
                scene.owner = nil
            }
            try await eventually { await Self.onLoop(loop) { scene.connectionLater == nil } }
        }
    }

    /// Uses a client and lets it go; what is left of it.
    static func use(_ settings: RedisSettings, _ words: [String], key: String?) async throws -> Weak<Redis> {
        let client = try TestClient(settings)
        _ = await client.call(words, key: key)
        _ = await client.together([words, words], key: key, timeout: .milliseconds(1), idempotent: true)
        await client.close()
        return Weak(client.redis)
    }

    final class Weak<Value: AnyObject & Sendable>: @unchecked Sendable {
        // Unchecked: set once; the runtime guards the rest.
        weak var value: Value?
        init(_ value: Value) { self.value = value }
    }

    @Test func aClientThatHasEndedIsGone() async throws {
        let server = try SingleServerTests.shared.get()
        let nowhere = RedisAddress(host: "127.0.0.1", port: try TestSocket.freePort())
        let cluster = try ClusterTests.shared.get()
        let sentinels = try SentinelTests.shared.get()
        let all = [
            server.settings(), cluster.settings(), sentinels.settings(password: "watch"),
            sentinels.settings(name: "other", password: "watch"), RedisSettings(topology: .single(nowhere)),
            RedisSettings(topology: .cluster(seeds: [nowhere])),
            RedisSettings(topology: .sentinel(master: "main", sentinels: [nowhere], credentials: nil)),
        ]
        for settings in all {
            let left = try await Self.use(settings, ["GET", "a"], key: "a")
            try await eventually { left.value == nil }
        }
    }
}
