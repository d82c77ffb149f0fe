import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

/// What operators are told of a server that cannot be used; what they can mistake in a configuration is tested with the
/// whole gateway.
@Suite(.ownThread)
struct TroubleTests {
    private static func trouble(_ settings: RedisSettings, _ label: String) async throws {
        var settings = settings
        settings.connectTimeout = .milliseconds(300)
        try await withClient(settings) { client in
            _ = await client.call("SET", "other", "1")
            try await eventually { client.redis.state.trouble?.detail.metricLabel == label }
            #expect(client.redis.state.trouble?.address.host == "127.0.0.1")
        }
    }

    @Test func aServerThatHangsUp() async throws {
        let server = try ScriptedServer { _ = try $0.receive(within: .seconds(20)) }
        defer { server.stop() }
        try await Self.trouble(server.settings, "hung_up")
    }

    @Test func aServerWithoutAWord() async throws {
        let server = try ScriptedServer {
            _ = try $0.receive(most: 1, within: .seconds(20))
            Stopwatch.sleep(milliseconds: 3000)
        }
        defer { server.stop() }
        try await Self.trouble(server.settings, "no_greeting")
    }

    @Test func aServerOfAnotherKind() async throws {
        let server = try ScriptedServer { socket in
            _ = try socket.receive(within: .seconds(20))
            try socket.send("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        }
        defer { server.stop() }
        try await Self.trouble(server.settings, "not_redis")
    }

    @Test func whatTheServerSays() async throws {
        let server = try RedisServer(["--user", "app", "on", ">apt", "~mine*", "+get", "+set"])
        let narrow = server.settings(credentials: RedisCredentials(user: "app", password: "apt"))
        try await Self.trouble(narrow, "no_permission")
        try server.call("CONFIG", "SET", "maxmemory", "1")
        try await Self.trouble(server.settings(), "oom")
    }

    @Test func aConnectionThatComesAboutEndsIt() async throws {
        let server = try RedisServer()
        server.kill()
        try await withClient(server.settings()) { client in
            try await eventually { client.redis.state.trouble?.detail == .connectionRefused }
            try server.restart()
            try await eventually { client.redis.state.isConnected && client.redis.state.trouble == nil }
        }
    }
}
