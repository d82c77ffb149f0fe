import GatewayTesting
import GatewayTypes
import TLS
import Testing

@testable import RedisClient

@Suite("Redis over TLS", .ownThread)
struct RedisTLSTests {
    static let certificates = Result { try RedisCertificates() }
    static let open = Result {
        try RedisServer(["--tls-auth-clients", "no"], certificate: try Self.certificates.get().good)
    }

    static func settings(
        _ server: RedisServer, host: String = "localhost", _ tls: TLSClientSettings
    ) throws -> RedisSettings {
        RedisSettings(
            topology: .single(RedisAddress(host: host, port: server.tlsPort)), tls: try TLSClientContext(tls),
            connectTimeout: .seconds(30), commandTimeout: .seconds(30))
    }

    static func trusting() throws -> TLSClientSettings {
        TLSClientSettings(authorityFile: try Self.certificates.get().authority)
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func aTrustedServerIsTalkedTo(host: String) async throws {
        let server = try Self.open.get()
        try await withClient(Self.settings(server, host: host, Self.trusting())) { client in
            let long = String(repeating: "0123456789", count: 100_000)
            #expect(await client.call("SET", "long", long).text == "OK")
            #expect(await client.call("GET", "long").text == long)
            let answers = await client.together((0..<2000).map { ["ECHO", "\($0)"] })
            #expect(answers.map(\.text) == (0..<2000).map { "\($0)" })
            #expect(client.redis.state.connections == 1)
        }
    }

    @Test func aNameOfOurChoiceIsLookedFor() async throws {
        let server = try RedisServer(["--tls-auth-clients", "no"], certificate: Self.certificates.get().wrongHost)
        var tls = try Self.trusting()
        tls.serverName = "elsewhere.example"
        try await withClient(Self.settings(server, tls)) { #expect(await $0.call("PING").text == "PONG") }
    }

    enum Untrusted: CaseIterable {
        case expired, wrongHost, stranger

        func pair(_ all: RedisCertificates) -> RedisCertificates.Pair {
            switch self {
            case .expired: all.expired
            case .wrongHost: all.wrongHost
            case .stranger: all.stranger
            }
        }

        var failure: TLSFailure {
            switch self {
            case .expired: .expiredCertificate
            case .wrongHost: .wrongHost
            case .stranger: .unknownAuthority
            }
        }
    }

    @Test(arguments: Untrusted.allCases)
    func aServerThatIsNotToBeTrustedIsNotTalkedTo(kind: Untrusted) async throws {
        let failure = kind.failure
        let pair = kind.pair(try Self.certificates.get())
        let server = try RedisServer(["--tls-auth-clients", "no"], certificate: pair)
        for host in ["localhost", "127.0.0.1"] {
            try await withClient(Self.settings(server, host: host, Self.trusting())) { client in
                #expect(await client.call("SET", "a", "1").failure == .tls(failure))
                #expect(client.redis.state.connections == 0)
                #expect(client.redis.state.lastFailure == .tls(failure))
            }
        }
        #expect(try server.call("DBSIZE").number == 0)
    }

    @Test func aServerMayWantACertificateOfOurs() async throws {
        let certificates = try Self.certificates.get()
        let server = try RedisServer(certificate: certificates.good)
        try await withClient(Self.settings(server, Self.trusting())) { client in
            // The server's alert and its end of the connection race each other.
            let failure = await client.call("PING").failure
            #expect(failure == .tls(.handshakeFailed) || failure == .unreachable)
        }
        var tls = try Self.trusting()
        tls.certificateFile = certificates.client.certificate
        tls.keyFile = certificates.client.key
        try await withClient(Self.settings(server, tls)) { #expect(await $0.call("PING").text == "PONG") }
    }

    @Test func plainAndEncryptedDoNotMix() async throws {
        let server = try Self.open.get()
        var settings = try Self.settings(server, Self.trusting())
        settings.topology = .single(server.address)
        try await withClient(settings) { client in
            let failure = await client.call("PING").failure
            #expect(failure == .tls(.handshakeFailed) || failure == .unreachable)
        }
        let plain = RedisSettings(
            topology: .single(RedisAddress(host: "127.0.0.1", port: server.tlsPort)), commandTimeout: .seconds(30))
        try await withClient(plain) { client in
            let failure = await client.call("PING").failure
            #expect(failure == .unreachable || failure == .connectionLost)
        }
    }

    @Test func aSubscriberListensOverTLS() async throws {
        let server = try Self.open.get()
        let subscriber = try TestSubscriber(Self.settings(server, Self.trusting()))
        try await subscriber.hears(["established"])
        try server.call("PUBLISH", "news", "secret")
        try await subscriber.hears(["established", "secret"])
        await subscriber.close()
    }

    @Test func aConnectionThatIsCutIsReplaced() async throws {
        let server = try RedisServer(["--tls-auth-clients", "no"], certificate: Self.certificates.get().good)
        try await withClient(Self.settings(server, Self.trusting())) { client in
            #expect(await client.call("PING").isSuccess)
            for _ in 0..<3 {
                try server.call("CLIENT", "KILL", "TYPE", "normal")
                #expect(await client.until(["PING"]) { $0.isSuccess }.isSuccess)
            }
        }
    }
}
