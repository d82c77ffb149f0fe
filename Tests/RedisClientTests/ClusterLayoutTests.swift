import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

/// Two masters that halve the slots.
private struct TwoMasters {
    static let middle = 8192
    let first: RedisServer
    let second: RedisServer

    init() throws {
        let nodes = try (0..<2).map { _ in
            try RedisServer(
                options: ["--cluster-enabled", "yes", "--cluster-port", "\(TestSocket.freePort())"])
        }
        (self.first, self.second) = (nodes[0], nodes[1])
        self.first.command("CLUSTER", "ADDSLOTSRANGE", "0", "\(Self.middle - 1)")
        self.second.command("CLUSTER", "ADDSLOTSRANGE", "\(Self.middle)", "16383")
        let bus = self.second.command("CONFIG", "GET", "cluster-port").split(separator: "\n").last ?? ""
        self.first.command("CLUSTER", "MEET", "127.0.0.1", "\(self.second.port)", String(bus))
        let settled = Stopwatch.wait(upTo: .seconds(20), every: 50) {
            nodes.allSatisfy {
                let info = $0.command("CLUSTER", "INFO")
                return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")
            }
        }
        try #require(settled)
    }

    func client() throws -> TestClient {
        try TestClient(
            RedisSettings(
                topology: .cluster(seeds: [RedisAddress(host: "127.0.0.1", port: self.first.port)]),
                commandTimeout: .seconds(5)))
    }

    func id(of server: RedisServer) -> String { server.command("CLUSTER", "MYID").filter { $0 != "\n" } }
}

@Suite("A cluster", .ownThread, .serialized, .timeLimit(.minutes(1)))
struct ClusterLayoutTests {
    @Test("Keys go to their masters without a redirection, once the layout is known", arguments: [true, false])
    func layout(knowsShards: Bool) throws {
        let cluster = try TwoMasters()
        if !knowsShards {
            for server in [cluster.first, cluster.second] {
                server.command("ACL", "SETUSER", "default", "-cluster|shards")
            }
        }
        let client = try cluster.client()
        // A key without a home in the first node shows that the layout has come.
        #expect(ClusterMap.slot(of: "b") < TwoMasters.middle && ClusterMap.slot(of: "a") >= TwoMasters.middle)
        #expect(client.eventually(key: "a", "SET", "a", "1") { $0.reply == .ok })
        let before = client.redis.state.redirections
        for index in 0..<200 {
            let key = ByteString("key \(index)")
            #expect(client.calls([["SET", key, "x"]], key: key).first?.reply == .ok)
        }
        #expect(client.redis.state.redirections == before)
        for server in [cluster.first, cluster.second] { #expect(server.command("DBSIZE") != "0\n") }
        #expect(client.end())
    }

    @Test("Slots are told as the server counts them")
    func slots() throws {
        let server = try RedisServer(options: [
            "--cluster-enabled", "yes", "--cluster-port", "\(TestSocket.freePort())",
        ])
        for key in ["", "a", "a{b}c", "a{b}{c}", "a{}b", "}{", "{a", "{}", "é", "{user}.{x}", "gw:{t1}:u:9"] {
            #expect("\(ClusterMap.slot(of: ByteString(key)))\n" == server.command("CLUSTER", "KEYSLOT", key), "\(key)")
        }
    }

    @Test("A slot on its way is asked for where it goes, by commands and scripts, and then found there")
    func migration() throws {
        let cluster = try TwoMasters()
        let client = try cluster.client()
        let slot = "\(ClusterMap.slot(of: "a"))"
        #expect(client.eventually(key: "a", "SET", "a", "kept") { $0.reply == .ok })
        cluster.first.command("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(of: cluster.second))
        cluster.second.command("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id(of: cluster.first))
        #expect(client.call("GET", "a", key: "a")?.reply == .text("kept"))
        // What is not there any more is answered by the other, under ASKING.
        #expect(client.call("SET", "{a}new", "1", key: "{a}new")?.reply == .ok)
        #expect(client.call("GET", "{a}new", key: "{a}new")?.reply == .text("1"))
        let script = RedisScript(Array("return redis.call('INCR', KEYS[1])".utf8))
        for round in 1...3 {
            #expect(client.evaluate(script, keys: ["{a}counter"])?.reply == .integer(round))
        }
        #expect(client.redis.state.redirections > 0)
        // Two keys in two places can be had nowhere until the move is over.
        #expect(client.call("MGET", "a", "{a}new", key: "a", timeout: .milliseconds(200))?.failure == .notServing)
        cluster.second.command("MIGRATE", "127.0.0.1", "\(cluster.first.port)", "a", "0", "5000")
        for server in [cluster.first, cluster.second] {
            server.command("CLUSTER", "SETSLOT", slot, "NODE", cluster.id(of: cluster.first))
        }
        #expect(client.call("GET", "a", key: "a")?.reply == .text("kept"))
        #expect(client.call("MGET", "a", "{a}new", key: "a")?.reply == .array([.text("kept"), .text("1")]))
        #expect(client.end())
    }
}
