import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Operators and two instances beside one Redis.
@Suite("Operators steer every instance", .ownThread)
struct AdminSharedStoreTests {
    private func gateways(_ server: RedisServer) throws -> [TestGateway] {
        var settings = GatewaySettings()
        settings.store = "{kind: redis, address: '127.0.0.1:\(server.port)', timeout: 2s, instances: 2}"
        return try (0..<2).map { _ in try TestGateway(settings) }
    }

    @Test func `A change at one instance holds for the next ask at the other, also for who was refused there`() throws {
        let server = try RedisServer()
        let gateways = try self.gateways(server)
        let caller = Caller("rpm-1")
        let statuses = try gateways.map { try $0.ask(Ask("shared"), as: caller).status }
        #expect(statuses == [200, 429])
        try gateways[0].override("requests_per_minute", of: caller, to: 3)
        // The other instance remembers its refusal until it has heard of the change.
        let heard = try Stopwatch.wait(upTo: .seconds(15), every: 20) {
            try gateways[1].ask(Ask("shared"), as: caller).status == 200
        }
        #expect(heard)
        let seen = try gateways.map { try $0.steer("GET", $0.holder(caller) + "?plan=rpm-1") }
        for one in seen {
            #expect(one["limits"]?[0]?["used"]?.int == 2 && one["limits"]?[0]?["limit"]?.int == 3)
            #expect(one["version"]?.int == 1 && one["overrides"]?[0]?["quantity"]?.int == 3)
        }
        try gateways[1].steer("PUT", gateways[1].holder(caller) + "/block", #"{"reason":"r","expiresInSeconds":600}"#)
        #expect(try gateways[0].ask(Ask("shared"), as: caller).code == "subject_blocked")
        try gateways[0].steer("DELETE", gateways[0].holder(caller) + "/block?reason=fine")
        try gateways[0].steer("POST", gateways[0].holder(caller) + "/reset")
        // Nobody was refused by a limit since, so that this holds at once.
        #expect(try gateways[1].ask(Ask("shared"), as: caller).status == 200)
        let trail = try #require(
            try gateways[1].steer("GET", "/tenants/acme/audit?subject=\(caller.subject)")["entries"])
        #expect(trail.elements.map { $0["action"]?.string } == ["reset", "unblock", "block", "override"])
        #expect(trail.elements.map { $0["version"]?.int } == [4, 3, 2, 1])
    }

    @Test func `A store that is gone is told to operators, and the status says so`() throws {
        let server = try RedisServer()
        let gateway = try self.gateways(server)[0]
        let caller = Caller()
        #expect(try gateway.steer("GET", gateway.holder(caller))["version"]?.int == 0)
        server.kill()
        let refused = try gateway.steer(
            "PUT", gateway.holder(caller) + "/block", #"{"reason":"r"}"#, status: 503)
        #expect(refused["code"]?.string == "quota_store_unavailable")
        #expect(try gateway.ask(Ask("gone"), as: caller).status == 503)
        #expect(try gateway.steer("GET", "/status")["store"]?["kind"]?.string == "redis")
        // It takes three failures in a row, and the gateway itself asks the store every second.
        let isTold = try Stopwatch.wait(upTo: .seconds(10), every: 50) {
            try gateway.steer("GET", "/status")["store"]?["degraded"]?["reason"]?.string?.isEmpty == false
        }
        #expect(isTold)
    }
}
