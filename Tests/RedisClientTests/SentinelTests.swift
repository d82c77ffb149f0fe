import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

extension RedisSentinels {
    func settings(name: String = RedisSentinels.masterName, password: String? = nil) -> RedisSettings {
        RedisSettings(
            topology: .sentinel(
                master: ByteString(name), sentinels: self.sentinels.map(\.address),
                credentials: password.map { RedisCredentials(password: ByteString($0)) }),
            connectTimeout: .seconds(30), commandTimeout: .seconds(30))
    }
}

@Suite("Sentinels", .ownThread, .serialized)
struct SentinelTests {
    /// For tests that leave it as they found it.
    static let shared = Result { try RedisSentinels(password: "watch") }

    @Test func theMasterIsFoundThroughAnySentinel() async throws {
        let setup = try Self.shared.get()
        var settings = setup.settings(password: "watch")
        try await withClient(settings) { client in
            #expect(await client.call("SET", "a", "1").text == "OK")
            let stored = try setup.master.call("GET", "a")
            #expect(stored.text == "1")
        }
        let nowhere = RedisAddress(host: "127.0.0.1", port: try TestSocket.freePort())
        settings.topology = .sentinel(
            master: ByteString(RedisSentinels.masterName), sentinels: [nowhere, setup.sentinels[2].address],
            credentials: RedisCredentials(password: "watch"))
        try await withClient(settings) { #expect(await $0.call("GET", "a").text == "1") }
    }

    @Test func anUnknownMasterIsToldFromSilence() async throws {
        let setup = try Self.shared.get()
        try await withClient(setup.settings(name: "other", password: "watch")) { client in
            #expect(await client.call("PING").failure == .unknownMaster)
            #expect(await client.call("PING").failure == .unknownMaster)
            #expect(client.redis.state.lastFailure == .unknownMaster)
        }
        let ports = try (0..<2).map { _ in try TestSocket.freePort() }
        let silence = RedisSettings(
            topology: .sentinel(
                master: "main", sentinels: ports.map { RedisAddress(host: "127.0.0.1", port: $0) }, credentials: nil),
            commandTimeout: .seconds(30))
        try await withClient(silence) { #expect(await $0.call("PING").failure == .noSentinel) }
    }

    @Test(arguments: [nil, "guess"] as [String?])
    func sentinelsThatWantAnotherPasswordSaySo(password: String?) async throws {
        let setup = try Self.shared.get()
        try await withClient(setup.settings(password: password)) { client in
            #expect(await client.call("PING").failure == .notPermitted)
        }
    }

    @Test func aSentinelThatNamesAReplicaIsNotBelieved() async throws {
        let setup = try Self.shared.get()
        let named = Box(setup.replica.port)
        let sentinel = try ScriptedServer.sentinel { named.now }
        defer { sentinel.stop() }
        let settings = RedisSettings(
            topology: .sentinel(master: "main", sentinels: [sentinel.address], credentials: nil),
            commandTimeout: .seconds(30))
        try await withClient(settings) { client in
            #expect(await client.call("SET", "b", "1").failure == .notServing)
            named.change { $0 = setup.master.port }
            #expect(await client.until(["SET", "b", "1"]) { $0.isSuccess }.text == "OK")
        }
    }
}

@Suite("A failover that sentinels decide", .ownThread)
struct SentinelFailoverTests {
    @Test func theClientFollowsToTheNewMasterAndNeverBack() async throws {
        let setup = try RedisSentinels()
        try await withClient(setup.settings()) { client in
            #expect(await client.call("SET", "a", "1").text == "OK")
            try await eventually { try setup.replica.call("GET", "a").text == "1" }
            setup.master.kill()
            #expect(await client.until(["SET", "a", "2"]) { !$0.isSuccess }.isSuccess == false)
            let again = await client.until(within: .seconds(30), ["SET", "a", "3"]) { $0.isSuccess }
            #expect(again.text == "OK")
            let stored = try setup.replica.call("GET", "a")
            #expect(stored.text == "3")
            // The old master comes back as one, until the sentinels have told it otherwise.
            try setup.master.restart()
            for _ in 0..<50 {
                #expect(await client.call("INCR", "n").isSuccess)
                try await Task.sleep(for: .milliseconds(5))
            }
            let counted = try setup.replica.call("GET", "n")
            #expect(counted.text == "50")
        }
    }
}
