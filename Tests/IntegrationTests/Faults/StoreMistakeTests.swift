import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What the log and readiness say of a store that was configured wrongly.
@Suite("A store that was configured wrongly", .oneOfFewThreads)
struct StoreMistakeTests {
    private static func gateway(_ store: String, outage: String? = nil) throws -> TestGateway {
        var settings = GatewaySettings(loops: 1)
        settings.store = store
        settings.outage = outage
        return try TestGateway(settings, waitsFor: "/livez")
    }

    /// The first line about the store that names a detail.
    private static func line(_ gateway: TestGateway) -> Substring? {
        var found: Substring?
        _ = Stopwatch.wait(upTo: .seconds(15), every: 20) {
            found = gateway.process.child.standardError.split(separator: "\n").first {
                $0.contains("store does not answer") && $0.contains("\"detail\"")
            }
            return found != nil
        }
        return found
    }

    private static func check(
        _ store: String, _ reason: String, _ details: [String], _ address: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let gateway = try Self.gateway(store)
        let line = String(try #require(Self.line(gateway), "\(gateway.process.child.standardError)"))
        #expect(line.contains(#""reason":"\#(reason)""#), "\(line)", sourceLocation: location)
        #expect(
            details.contains { line.contains(#""detail":"\#($0)""#) }, "\(line)", sourceLocation: location)
        #expect(line.contains(#""address":"\#(address)""#), "\(line)", sourceLocation: location)
        let readiness = try #require(gateway.process.admin("/readyz"))
        #expect(readiness.status == 503, sourceLocation: location)
        #expect(readiness.json?["reason"]?.string == "waiting for the store", sourceLocation: location)
        #expect(!gateway.process.everySink.contains("TEST-WORD"), sourceLocation: location)
    }

    @Test func `Address and name`() throws {
        let port = try TestSocket.freePort()
        try Self.check(
            "{kind: redis, address: \"127.0.0.1:\(port)\"}", "unreachable", ["connection_refused"],
            "127.0.0.1:\(port)")
        // Where no resolver answers in time the name was not found either.
        try Self.check(
            "{kind: redis, address: \"no-such-store.invalid:6379\"}", "unreachable", ["name_not_found"],
            "no-such-store.invalid:6379")
    }

    @Test func `A server of another kind`() throws {
        let redis = try RedisServer()
        let address = "127.0.0.1:\(redis.port)"
        try Self.check(
            "{kind: redis, address: \"\(address)\", tls: true}", "unreachable", ["tls_handshake_failed", "hung_up"],
            address)
        try Self.check("{kind: redis, cluster: [\"\(address)\"]}", "malformed_answer", ["not_a_cluster"], address)
    }

    @Test func `The name of a master`() throws {
        let sentinels = try RedisSentinels()
        let port = try #require(sentinels.sentinels.first?.port)
        try Self.check(
            "{kind: redis, sentinel: {master: mian, addresses: [\"127.0.0.1:\(port)\"]}}", "not_serving",
            ["no_such_master"], "127.0.0.1:\(port)")
    }

    @Test(arguments: [nil, "allow"])
    func `A password`(outage: String?) throws {
        let redis = try RedisServer(["--requirepass", "right"])
        let folder = try TemporaryFolder()
        let path = try folder.write("wrong.secret", "TEST-WORD")
        let store = "{kind: redis, address: \"127.0.0.1:\(redis.port)\", password: {file: \"\(path)\"}}"
        try Self.check(store, "not_permitted", ["wrong_password"], "127.0.0.1:\(redis.port)")
        try Self.check(
            "{kind: redis, address: \"127.0.0.1:\(redis.port)\"}", "not_permitted", ["password_missing"],
            "127.0.0.1:\(redis.port)")
        // Mended at the server: ready, and it stays so when the store goes away.
        let gateway = try Self.gateway(store, outage: outage)
        #expect(Stopwatch.wait(upTo: .seconds(15)) { Self.line(gateway) != nil } && !gateway.process.isReady)
        try redis.change(password: "right", to: "TEST-WORD")
        #expect(Stopwatch.wait(upTo: .seconds(15), every: 50) { gateway.process.isReady })
        redis.kill()
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 50) {
                _ = try? gateway.ask(Ask("away"))
                return gateway.process.metrics.value("askgate_store_degraded") == 1
            })
        #expect(gateway.process.isReady)
    }
}
