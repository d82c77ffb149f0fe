import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Gateways beside one real Redis: one set of counters, and what each limit does without it.
@Suite("A store that is shared", .oneOfFewThreads, .serialized)
struct SharedStoreTests {
    private func gateway(_ redis: RedisServer, outage: String? = nil) throws -> TestGateway {
        var settings = GatewaySettings(loops: 1)
        settings.store = "{kind: redis, address: \"127.0.0.1:\(redis.port)\", timeout: 500ms}"
        settings.outage = outage
        return try TestGateway(settings)
    }

    @Test func `A limit holds over two gateways, and both say the same of it`() throws {
        let redis = try RedisServer()
        let (one, other) = (try self.gateway(redis), try self.gateway(redis))
        let caller = Caller("rpm-5")
        let statuses = try (0..<8).map { try ($0 % 2 == 0 ? one : other).ask(Ask("shared"), as: caller).status }
        #expect(statuses == [200, 200, 200, 200, 200, 429, 429, 429])
        for gateway in [one, other] {
            #expect(try gateway.quota(caller)["requests_per_minute"]?.used == 5)
            #expect(try gateway.quota(caller)["concurrent_requests"]?.used == 0)
        }
        let used = try #require(try one.quota(caller)["tokens_per_day"]?.used)
        let usedThere = try other.quota(caller)["tokens_per_day"]?.used
        #expect(used > 0 && used == usedThere)
    }

    @Test func `A place that a stream holds here is taken there, and free when its client hangs up`() throws {
        let redis = try RedisServer()
        let (one, other) = (try self.gateway(redis), try self.gateway(redis))
        let caller = Caller("conc-1")
        let marker = Caller.unique("held")
        _ = one.provider.script(
            marker, .events([.send(OpenAIShapes.event(OpenAIShapes.delta("a"))), .hold(milliseconds: 30_000)]))
        var client: RawClient? = try one.client()
        #expect(try one.begin(Ask(marker, stream: true), as: caller, on: try #require(client)).status == 200)
        #expect(try other.ask(Ask("free"), as: caller).code == "concurrent_requests_exceeded")
        client = nil
        #expect(Stopwatch.wait(upTo: .seconds(10)) { (try? other.ask(Ask("free"), as: caller).status) == 200 })
    }

    @Test func `Without the store each limit's own stance decides, and it is back by itself`() throws {
        let redis = try RedisServer()
        let (denies, allows) = (try self.gateway(redis), try self.gateway(redis, outage: "allow"))
        let caller = Caller("rpm-5")
        #expect(try denies.ask(Ask("before"), as: caller).status == 200)
        #expect(try allows.ask(Ask("before"), as: caller).status == 200)
        redis.kill()
        let refused = try denies.ask(Ask("without"), as: caller)
        #expect(refused.status == 503 && refused.code == "quota_store_unavailable")
        #expect(refused.response.header("retry-after") != nil)
        for _ in 0..<8 { #expect(try allows.ask(Ask("without"), as: caller).status == 200) }
        // Three failures in a row make it known.
        for _ in 0..<3 { #expect(try denies.ask(Ask("without"), as: caller).status == 503) }
        let readiness = try #require(denies.process.admin("/readyz"))
        #expect(readiness.status == 200 && readiness.json?["store"]?["degraded"]?.string == "unreachable")
        #expect(denies.process.metrics.value("askgate_store_degraded") == 1)
        #expect(allows.process.metrics.value("askgate_admitted_without_store_total") >= 8)
        try redis.restart()
        for gateway in [denies, allows] {
            #expect(
                Stopwatch.wait(upTo: .seconds(15), every: 50) {
                    (try? gateway.ask(Ask("after"), as: Caller("open")).status) == 200
                        && gateway.process.metrics.value("askgate_store_degraded") == 0
                })
            #expect(gateway.process.admin("/readyz")?.json?["store"] == nil)
        }
    }
}
