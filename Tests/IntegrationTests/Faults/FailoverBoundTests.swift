import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// How much of what was counted a failover can lose: what was written while the replica was behind, and no more.
///
/// The replica hears its master through a road that can be closed, and the gateway is led from one to the other, as an
/// address that moves does it: so that what is lost is known to the ask.
@Suite("What a failover can lose", .oneOfFewThreads)
struct FailoverBoundTests {
    private struct Pair {
        let master: RedisServer
        let replica: RedisServer
        let replication: SlowRoad
        let address: SlowRoad
        let gateway: TestGateway

        init(_ options: [String] = [], limit: Int) throws {
            self.master = try RedisServer(["--repl-diskless-sync-delay", "0"] + options)
            self.replication = try SlowRoad(to: self.master.port)
            self.replica = try RedisServer(["--replicaof", "127.0.0.1", "\(self.replication.port)"])
            self.address = try SlowRoad(to: self.master.port)
            let (master, replica) = (self.master, self.replica)
            let follows = try Stopwatch.wait(upTo: .seconds(20), every: 25) {
                try replica.call("INFO", "replication").text?.contains("link_status:up") == true
                    && master.info("replication", "connected_slaves") == 1
            }
            try #require(follows)
            var settings = GatewaySettings(loops: 1)
            settings.requestsPerMinute = [limit]
            settings.store = "{kind: redis, address: \"127.0.0.1:\(self.address.port)\", timeout: 500ms}"
            self.gateway = try TestGateway(settings)
        }

        /// The master dies with what it had not sent, and its replica takes its place.
        func failOver() throws {
            self.address.lead(to: self.replica.port)
            self.master.kill()
            try #require(try self.replica.call("REPLICAOF", "NO", "ONE").text == "OK")
        }

        /// Asks until the minute is used up; how many were admitted.
        func exhaust(_ caller: Caller, mostAsks: Int) throws -> Int {
            var admitted = 0
            for _ in 0..<mostAsks {
                let answer = try self.gateway.ask(Ask("more"), as: caller)
                if answer.status == 429 { return admitted }
                if answer.status == 200 { admitted += 1 } else { Stopwatch.sleep(milliseconds: 50) }
            }
            Issue.record("the minute is never used up")
            return admitted
        }
    }

    @Test func `As many asks are admitted again as the replica had not heard of, and running ones are charged`() throws
    {
        let limit = 12
        let pair = try Pair(limit: limit)
        let caller = Caller("rpm-\(limit)")
        for _ in 0..<5 { #expect(try pair.gateway.ask(Ask("heard of"), as: caller).status == 200) }
        #expect(try pair.gateway.charged(to: caller) == 75)
        try pair.master.awaitReplica(pair.replica)
        pair.replication.close()
        for _ in 0..<3 { #expect(try pair.gateway.ask(Ask("behind"), as: caller).status == 200) }
        let marker = Caller.unique("running")
        let gate = Gate()
        defer { gate.open() }
        let word = OpenAIShapes.event(OpenAIShapes.delta("word "))
        _ = pair.gateway.provider.script(
            marker, .events([.send(word), .wait(gate), .send(OpenAIShapes.stream(["end"]).joined())]))
        let client = try pair.gateway.client(limit: .seconds(60))
        var stream = try pair.gateway.begin(Ask(marker, stream: true), as: caller, on: client)
        #expect(stream.status == 200)
        #expect(try pair.gateway.used("requests_per_minute", by: caller) == 9)
        try pair.failOver()
        let again = try pair.exhaust(caller, mostAsks: 60)
        // Of the nine the replica knows five; the four are admitted again, and not one more.
        #expect(again == limit - 5)
        gate.open()
        pair.gateway.readEvents(of: &stream, on: client)
        #expect(stream.isFinished)
        // The three that were behind and had ended are lost; the one that ran is charged like any other.
        #expect(try pair.gateway.charged(to: caller) == 15 * (5 + again + 1))
        client.close()
    }

    @Test func `A master that has lost its replica soon refuses, so that the loss is bounded in time`() throws {
        let limit = 1000
        let pair = try Pair(["--min-replicas-to-write", "1", "--min-replicas-max-lag", "1"], limit: limit)
        let caller = Caller("rpm-\(limit)")
        #expect(try pair.gateway.ask(Ask("heard of"), as: caller).status == 200)
        try pair.master.awaitReplica(pair.replica)
        pair.replication.close()
        let watch = Stopwatch()
        var behind = 0
        while watch.elapsed < .seconds(10), try pair.gateway.ask(Ask("behind"), as: caller).status == 200 {
            behind += 1
            Stopwatch.sleep(milliseconds: 20)
        }
        // A second of lag, one that is not counted yet, and one until the server looks.
        #expect(watch.elapsed < .milliseconds(4500), "refused after \(watch.milliseconds) ms")
        #expect(behind > 0)
        for _ in 0..<10 { #expect(try pair.gateway.ask(Ask("without"), as: caller).status == 503) }
        #expect(pair.gateway.process.admin("/readyz")?.json?["store"]?["degraded"]?.string == "not_serving")
        try pair.failOver()
        #expect(try pair.replica.call("CONFIG", "SET", "min-replicas-to-write", "0").text == "OK")
        let isBack = Stopwatch.wait(upTo: .seconds(15), every: 50) {
            (try? pair.gateway.ask(Ask("back"), as: Caller()).status) == 200
        }
        #expect(isBack)
        let known = try pair.gateway.used("requests_per_minute", by: caller)
        // What was admitted and is not known any more: nothing from before the lag, nothing from behind the refusal.
        #expect((1...1 + behind).contains(known))
    }
}
