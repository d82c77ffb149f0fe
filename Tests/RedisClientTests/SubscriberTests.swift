import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

/// A subscriber that runs until it is closed, and what it has said.
final class TestSubscriber: Sendable {
    private let box = Box([RedisSubscriber.Event]())
    private let task: Task<Void, Never>

    init(_ settings: RedisSettings, channels: [ByteString] = ["news"]) throws {
        let box = self.box
        let subscriber = RedisSubscriber(settings, channels: channels, loop: try Loops.next()) { event in
            box.change { $0.append(event) }
        }
        self.task = Task { await subscriber.run() }
    }

    /// What was heard, a word for each.
    var heard: [String] {
        self.box.now.map { event in
            switch event {
            case .established: "established"
            case .message(_, let payload): String(decoding: payload, as: UTF8.self)
            case .lost(let failure): "lost: \(failure.metricLabel)"
            }
        }
    }

    func hears(_ words: [String], within limit: TimeSpan = .seconds(20)) async throws {
        do { try await eventually(within: limit) { self.heard == words } } catch {
            Issue.record("heard \(self.heard)")
            throw error
        }
    }

    func close() async {
        self.task.cancel()
        await self.task.value
    }
}

@Suite("Listening to channels", .ownThread)
struct SubscriberTests {
    @Test func messagesComeInOrderOnceEstablished() async throws {
        let server = try RedisServer()
        let subscriber = try TestSubscriber(server.settings(), channels: ["news", "more"])
        try await subscriber.hears(["established"])
        for index in 0..<5 { try server.call("PUBLISH", index == 2 ? "more" : "news", "m\(index)") }
        try server.call("PUBLISH", "others", "not for us")
        try await subscriber.hears(["established", "m0", "m1", "m2", "m3", "m4"])
        await subscriber.close()
        #expect(subscriber.heard.last == "lost: stopped")
    }

    @Test func aLostConnectionIsToldAndReplaced() async throws {
        let server = try RedisServer()
        let subscriber = try TestSubscriber(server.settings())
        try await subscriber.hears(["established"])
        try server.call("CLIENT", "KILL", "TYPE", "pubsub")
        try await subscriber.hears(["established", "lost: connection_lost", "established"])
        server.kill()
        let before = ["established", "lost: connection_lost", "established", "lost: connection_lost"]
        try await subscriber.hears(before)
        // Of all the attempts in between nothing is told.
        try await Task.sleep(for: .milliseconds(500))
        try server.restart()
        try await subscriber.hears(before + ["established"])
        try server.call("PUBLISH", "news", "again")
        try await subscriber.hears(before + ["established", "again"])
        await subscriber.close()
    }

    @Test func aServerThatFallsSilentIsFoundOut() async throws {
        let server = try RedisServer()
        let subscriber = try TestSubscriber(server.settings())
        try await subscriber.hears(["established"])
        server.pause()
        try await subscriber.hears(["established", "lost: timed_out"])
        server.resume()
        try await subscriber.hears(["established", "lost: timed_out", "established"])
        await subscriber.close()
    }

    @Test func aServerWithoutNewsIsNotTakenForSilent() async throws {
        let server = try RedisServer()
        let subscriber = try TestSubscriber(server.settings())
        try await subscriber.hears(["established"])
        // Longer than the longest silence; the answers to pings keep it.
        try await Task.sleep(for: .milliseconds(3500))
        #expect(subscriber.heard == ["established"])
        await subscriber.close()
    }

    @Test func aChannelThatIsNotOursIsSaidToBeSo() async throws {
        let server = try RedisServer(["--user", "app", "on", ">apt", "~*", "&own:*", "+@all"])
        let credentials = RedisCredentials(user: "app", password: "apt")
        let subscriber = try TestSubscriber(server.settings(credentials: credentials))
        try await subscriber.hears(["lost: not_permitted"])
        await subscriber.close()
        let own = try TestSubscriber(server.settings(credentials: credentials), channels: ["own:1"])
        try await own.hears(["established"])
        await own.close()
    }

    @Test func nobodyAnswersAtFirst() async throws {
        let server = try RedisServer()
        server.kill()
        let subscriber = try TestSubscriber(server.settings())
        try await subscriber.hears(["lost: unreachable"])
        try server.restart()
        try await subscriber.hears(["lost: unreachable", "established"])
        await subscriber.close()
    }

    @Test func itEndsWhereverItIs() async throws {
        let port = try TestSocket.freePort()
        let nowhere = RedisAddress(host: "127.0.0.1", port: port)
        let topologies: [RedisTopology] = [
            .single(nowhere), .cluster(seeds: [nowhere]), .cluster(seeds: []),
            .sentinel(master: "main", sentinels: [nowhere], credentials: nil),
        ]
        for topology in topologies {
            for wait in [0, 1, 30] {
                let subscriber = try TestSubscriber(RedisSettings(topology: topology))
                try await Task.sleep(for: .milliseconds(wait))
                await subscriber.close()
            }
        }
    }

    @Test func aClusterCarriesMessagesFromAnyNode() async throws {
        let cluster = try ClusterTests.shared.get()
        let subscriber = try TestSubscriber(cluster.settings(seeds: [1]))
        try await subscriber.hears(["established"])
        try cluster.masters[2].call("PUBLISH", "news", "across")
        try await subscriber.hears(["established", "across"])
        await subscriber.close()
    }

    @Test func sentinelsLeadToTheMaster() async throws {
        let setup = try SentinelTests.shared.get()
        let subscriber = try TestSubscriber(setup.settings(password: "watch"))
        try await subscriber.hears(["established"])
        try setup.master.call("PUBLISH", "news", "found")
        try await subscriber.hears(["established", "found"])
        await subscriber.close()
    }

    /// Messages may not reach a replica, or come from a master that is none any more.
    @Test func aReplicaIsNotListenedTo() async throws {
        let setup = try SentinelTests.shared.get()
        let named = Box(setup.replica.port)
        let sentinel = try ScriptedServer.sentinel { named.now }
        defer { sentinel.stop() }
        // A channel of its own: another test publishes at the same master.
        let subscriber = try TestSubscriber(
            RedisSettings(topology: .sentinel(master: "main", sentinels: [sentinel.address], credentials: nil)),
            channels: ["own"])
        try await subscriber.hears(["lost: not_serving"])
        named.change { $0 = setup.master.port }
        try await subscriber.hears(["lost: not_serving", "established"])
        await subscriber.close()
    }

    @Test func aFailoverIsFollowed() async throws {
        let (old, new) = (try RedisServer(), try RedisServer())
        let named = Box(old.port)
        let sentinel = try ScriptedServer.sentinel { named.now }
        defer { sentinel.stop() }
        let subscriber = try TestSubscriber(
            RedisSettings(topology: .sentinel(master: "main", sentinels: [sentinel.address], credentials: nil)))
        try await subscriber.hears(["established"])
        named.change { $0 = new.port }
        old.kill()
        try await subscriber.hears(["established", "lost: connection_lost", "established"])
        try new.call("PUBLISH", "news", "from the new one")
        try await subscriber.hears(["established", "lost: connection_lost", "established", "from the new one"])
        await subscriber.close()
    }
}
