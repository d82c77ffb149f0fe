import GatewayTesting
import GatewayTypes
import Glibc
import JSON
import Testing

/// Faults that an ask lives through, and what becomes of its tokens and its place.
@Suite("An ask that outlives its store, and a store that outlives its gateway", .oneOfFewThreads)
struct StoreRecoveryTests {
    private static func settings(_ redis: RedisServer, more: String = "") -> GatewaySettings {
        var settings = GatewaySettings(loops: 1)
        settings.store = "{kind: redis, address: \"127.0.0.1:\(redis.port)\", timeout: 500ms\(more)}"
        return settings
    }

    /// A stream that waits behind its first word until the gate is opened.
    private func hold(_ marker: String, at gateway: TestGateway, until gate: Gate) {
        let word = OpenAIShapes.event(OpenAIShapes.delta("word "))
        _ = gateway.provider.script(
            marker, .events([.send(word), .wait(gate), .send(OpenAIShapes.stream(["end"]).joined())]))
    }

    private func open(_ marker: String, at gateway: TestGateway, as caller: Caller) throws -> (RawClient, Answer) {
        let client = try gateway.client(limit: .seconds(60))
        let answer = try gateway.begin(Ask(marker, stream: true), as: caller, on: client)
        try #require(answer.status == 200, "\(answer.status)")
        return (client, answer)
    }

    @Test func `Scripts that the store forgets are sent again, and nobody notices`() throws {
        let redis = try RedisServer()
        let gateway = try TestGateway(Self.settings(redis))
        let caller = Caller("rpm-5")
        let marker = Caller.unique("flush")
        let gate = Gate()
        self.hold(marker, at: gateway, until: gate)
        #expect(try gateway.ask(Ask("first"), as: caller).status == 200)
        let (client, begun) = try self.open(marker, at: gateway, as: caller)
        var answer = begun
        // Between the admission and the settlement, and before an admission.
        try redis.call("SCRIPT", "FLUSH")
        gate.open()
        gateway.readEvents(of: &answer, on: client)
        #expect(answer.isFinished)
        try redis.call("SCRIPT", "FLUSH")
        #expect(try gateway.ask(Ask("third"), as: caller).status == 200)
        #expect(try gateway.charged(to: caller) == 45)
        #expect(try gateway.used("requests_per_minute", by: caller) == 3)
        client.close()
        let metrics = gateway.process.metrics
        #expect(metrics.value("askgate_store_errors_total") == 0 && metrics.value("askgate_store_degraded") == 0)
        #expect(metrics.value("askgate_store_settlements_waiting") == 0)
    }

    @Test func `A store that comes back empty charges what ran all the while, and knows the rest no more`() throws {
        let redis = try RedisServer()
        let gateway = try TestGateway(Self.settings(redis))
        let caller = Caller("conc-2")
        let marker = Caller.unique("empty")
        let gate = Gate()
        self.hold(marker, at: gateway, until: gate)
        #expect(try gateway.ask(Ask("forgotten"), as: caller).status == 200)
        #expect(try gateway.charged(to: caller) == 15)
        let (client, begun) = try self.open(marker, at: gateway, as: caller)
        var answer = begun
        redis.kill()
        try redis.restart()
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 50) {
                (try? gateway.ask(Ask("back"), as: Caller()).status) == 200
            })
        #expect(try gateway.used("tokens_per_day", by: caller) == 0)
        gate.open()
        gateway.readEvents(of: &answer, on: client)
        #expect(answer.isFinished)
        #expect(try gateway.charged(to: caller) == 15)
        let record = try #require(gateway.process.record(of: answer.requestID))
        #expect(record["outcome"]?.string == "answered")
        client.close()
    }

    @Test func `An ask that ends while the store is away is charged once when it is back`() throws {
        let redis = try RedisServer()
        let gateway = try TestGateway(Self.settings(redis))
        let caller = Caller("conc-2")
        let marker = Caller.unique("away")
        let gate = Gate()
        self.hold(marker, at: gateway, until: gate)
        let (client, begun) = try self.open(marker, at: gateway, as: caller)
        var answer = begun
        redis.pause()
        gate.open()
        let watch = Stopwatch()
        gateway.readEvents(of: &answer, on: client)
        // No client waits for a settlement.
        #expect(answer.isFinished && watch.elapsed < .seconds(5))
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 20) {
                gateway.process.metrics.value("askgate_store_settlements_waiting") == 1
            })
        redis.resume()
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 50) {
                gateway.process.metrics.value("askgate_store_settlements_waiting") == 0
            })
        #expect(try gateway.charged(to: caller) == 15)
        client.close()
    }

    @Test func `A key that was claimed while nobody heard the store is free again soon`() throws {
        let redis = try RedisServer()
        let road = try SlowRoad(to: redis.port)
        defer { road.close() }
        var settings = GatewaySettings(loops: 1)
        settings.store = "{kind: redis, address: \"127.0.0.1:\(road.port)\", timeout: 200ms}"
        let gateway = try TestGateway(settings)
        let (caller, key) = (Caller(), [("Idempotency-Key", Caller.unique("key"))])
        // The store knows the script from now on.
        let other = [("Idempotency-Key", Caller.unique("other"))]
        #expect(try gateway.ask(Ask("before"), as: caller, headers: other).status == 200)
        road.delay(by: 400)
        let lost = try gateway.ask(Ask("keyed"), as: caller, headers: key)
        #expect(lost.status == 503 && lost.code == "quota_store_unavailable")
        // What was sent arrives, and the key is taken.
        Stopwatch.sleep(milliseconds: 600)
        road.delay(by: 0)
        #expect(
            Stopwatch.wait(upTo: .seconds(40), every: 200) {
                (try? gateway.ask(Ask("keyed"), as: caller, headers: key).status) == 200
            })
    }

    @Test func `A password that changes is taken by a reload, without a restart`() throws {
        let redis = try RedisServer(["--requirepass", "old"])
        let folder = try TemporaryFolder()
        let path = try folder.write("password", "old")
        let settings = Self.settings(redis, more: ", password: {file: \(path)}")
        let gateway = try TestGateway(settings)
        let caller = Caller("rpm-5")
        #expect(try gateway.ask(Ask("old"), as: caller).status == 200)
        try redis.change(password: "old", to: "new")
        #expect(
            try Stopwatch.wait(upTo: .seconds(10), every: 20) {
                try gateway.ask(Ask("locked out"), as: caller).status == 503
                    && gateway.process.admin("/readyz")?.json?["store"]?["degraded"]?.string == "not_permitted"
            })
        try folder.write("password", "new")
        try gateway.reload(settings)
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 50) {
                (try? gateway.ask(Ask("new"), as: Caller()).status) == 200
            })
        #expect(try gateway.charged(to: caller) == 15)
        #expect(gateway.process.admin("/readyz")?.json?["store"] == nil)
        #expect(!gateway.process.child.standardError.contains("restart to change the store"))
    }

    @Test func `Reads that are answered hide no store that refuses to write`() throws {
        let redis = try RedisServer()
        let gateway = try TestGateway(Self.settings(redis))
        #expect(try gateway.ask(Ask("before")).status == 200)
        try redis.call("CONFIG", "SET", "maxmemory", "1")
        // Three failures in a row make it known; one that comes too late is of another kind.
        let isKnown = try Stopwatch.wait(upTo: .seconds(10), every: 5) {
            let code = try gateway.ask(Ask("full")).code
            #expect(code == "quota_store_unavailable")
            return gateway.process.admin("/readyz")?.json?["store"]?["degraded"]?.string == "not_serving"
        }
        #expect(isKnown)
        // The gateway itself reads what operators ordered, every second.
        for _ in 0..<30 {
            #expect(gateway.process.admin("/readyz")?.json?["store"]?["degraded"]?.string == "not_serving")
            Stopwatch.sleep(milliseconds: 100)
        }
        #expect(!gateway.process.everySink.contains("store answers again"))
        try redis.call("CONFIG", "SET", "maxmemory", "0")
        #expect(Stopwatch.wait(upTo: .seconds(15), every: 50) { (try? gateway.ask(Ask("after")).status) == 200 })
        #expect(gateway.process.admin("/readyz")?.json?["store"] == nil)
    }

    @Test func `Places of a gateway that was killed are free in time, and its asks charged once`() throws {
        let redis = try RedisServer()
        let settings = Self.settings(redis)
        let (doomed, other) = (try TestGateway(settings), try TestGateway(settings))
        let caller = Caller("conc-2")
        let gate = Gate()
        defer { gate.open() }
        let finished = try doomed.ask(Ask("finished", stream: true), as: caller)
        #expect(finished.isFinished)
        #expect(try other.charged(to: caller) == 15)
        var clients: [RawClient] = []
        for _ in 0..<2 {
            let marker = Caller.unique("doomed")
            self.hold(marker, at: doomed, until: gate)
            clients.append(try self.open(marker, at: doomed, as: caller).0)
        }
        let reserved = try other.used("tokens_per_day", by: caller)
        #expect(reserved > 15)
        // Whoever lives long renews its places, so the clock runs from here.
        doomed.process.child.signal(SIGKILL)
        let watch = Stopwatch()
        #expect(try other.ask(Ask("full"), as: caller).code == "concurrent_requests_exceeded")
        let freed = try Stopwatch.wait(upTo: .seconds(31), every: 200) {
            try other.used("concurrent_requests", by: caller) == 0
        }
        #expect(freed, "places are still held after \(watch.milliseconds) ms")
        #expect(try other.used("tokens_per_day", by: caller) == reserved)
        // All of its places can be had again.
        for index in 0..<2 {
            let marker = Caller.unique("heir-\(index)")
            self.hold(marker, at: other, until: gate)
            clients.append(try self.open(marker, at: other, as: caller).0)
        }
        gate.open()
        #expect(try other.isIdle(caller, within: .seconds(15)))
        // Charged as reserved, and each later one by its report.
        #expect(try other.used("tokens_per_day", by: caller) == reserved + 30)
        for client in clients { client.close() }
    }
}
