import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

extension RedisCluster {
    func settings(seeds: [Int] = [0, 1, 2], timeout: TimeSpan = .seconds(30)) -> RedisSettings {
        RedisSettings(
            topology: .cluster(seeds: seeds.map { self.masters[$0].address }), connectTimeout: .seconds(30),
            commandTimeout: timeout)
    }

    /// Keys of one slot, all with the same tag.
    static func keys(of slot: Int, _ count: Int) -> [String] {
        let tag = (0...).lazy.map { "t\($0)" }.first { ClusterMap.slot(of: ByteString($0)) == slot } ?? ""
        return (0..<count).map { "{\(tag)}:\($0)" }
    }
}

@Suite("A cluster", .ownThread, .serialized)
struct ClusterTests {
    static let shared = Result { try RedisCluster() }
    static let increment = RedisScript(
        Array("redis.call('INCR', KEYS[2]) return redis.call('INCR', KEYS[1])".utf8))

    @Test func keysLieWhereTheServerSaysTheyDo() throws {
        let probe = try Self.shared.get().masters[0].probe()
        let keys =
            ["a", "", "foo", "{", "}", "{}", "a{}b", "{a}b", "x{a}{b}", "{{a}}", "a}b{c}", "{a", "é{ü}", "123456789"]
            + (0..<200).map { "key:\($0):{t\($0 % 7)}" } + (0..<200).map { String(repeating: "z", count: $0) }
        for key in keys {
            #expect(try probe.call("CLUSTER", "KEYSLOT", key).number == ClusterMap.slot(of: ByteString(key)), "\(key)")
        }
        // The checksum's own check value (XMODEM).
        #expect(ClusterMap.slot(of: "123456789") == 0x31C3)
    }

    @Test func oneSeedLeadsToAllNodes() async throws {
        let cluster = try Self.shared.get()
        try await withClient(cluster.settings(seeds: [1])) { client in
            for index in 0..<60 {
                #expect(await client.call("SET", "k\(index)", "\(index)", key: "k\(index)").text == "OK")
            }
            for index in 0..<60 { #expect(await client.call("GET", "k\(index)", key: "k\(index)").text == "\(index)") }
            #expect(client.redis.state.redirections == 0)
            #expect(client.redis.state.connections == 3)
            #expect(await client.call("PING").text == "PONG")
        }
    }

    @Test func seedsThatAreGoneAreSteppedOver() async throws {
        let cluster = try Self.shared.get()
        var settings = cluster.settings()
        let nowhere = RedisAddress(host: "127.0.0.1", port: try TestSocket.freePort())
        settings.topology = .cluster(seeds: [nowhere, cluster.masters[2].address])
        try await withClient(settings) { #expect(await $0.call("SET", "a", "1", key: "a").text == "OK") }
        settings.topology = .cluster(seeds: [nowhere])
        try await withClient(settings) { #expect(await $0.call("GET", "a", key: "a").failure == .unreachable) }
    }

    @Test func aServerThatIsNoClusterIsSaidToBeNone() async throws {
        let server = try RedisServer()
        var settings = server.settings()
        settings.topology = .cluster(seeds: [server.address])
        try await withClient(settings) { client in
            guard case .server(let error)? = await client.call("GET", "a", key: "a").failure else {
                Issue.record("no error of the server")
                return
            }
            #expect(error.text.contains("cluster support disabled"))
        }
    }

    @Test func keysOfSeveralSlotsAreOurFault() async throws {
        let cluster = try Self.shared.get()
        try await withClient(cluster.settings()) { client in
            guard case .server(let error)? = await client.call("MGET", "a", "b", key: "a").failure else {
                Issue.record("no error of the server")
                return
            }
            #expect(error.kind == .crossSlot)
        }
    }

    @Test func aSlotThatMovesUnderLoadLosesNoCall() async throws {
        let cluster = try Self.shared.get()
        let slot = 100
        let keys = RedisCluster.keys(of: slot, 40)
        try await withClient(cluster.settings()) { client in
            for key in keys { #expect(await client.call("SET", key, "0", key: key).text == "OK") }
            let isOver = Gate()
            let load = Task {
                var rounds = 0
                var failures: [RedisFailure] = []
                while !isOver.isPassable || rounds < 3 {
                    for key in keys {
                        if let failure = await client.call("INCR", key, key: key).failure { failures.append(failure) }
                    }
                    rounds += 1
                }
                return (rounds, failures)
            }
            try cluster.beginMove(slot, from: 0, to: 1)
            for key in keys {
                try cluster.moveKeys([key], of: slot, from: 0, to: 1)
                try await Task.sleep(for: .milliseconds(2))
            }
            try cluster.finishMove(slot, to: 1)
            try await Task.sleep(for: .milliseconds(200))
            isOver.open()
            let (rounds, failures) = await load.value
            #expect(failures.isEmpty)
            for key in keys { #expect(await client.call("GET", key, key: key).text == "\(rounds)") }
            #expect(client.redis.state.redirections > 0)
            let known = client.redis.state.redirections
            #expect(await client.call("GET", keys[0], key: keys[0]).isSuccess)
            #expect(client.redis.state.redirections == known)
            try cluster.beginMove(slot, from: 1, to: 0)
            try cluster.moveKeys(of: slot, from: 1, to: 0)
            try cluster.finishMove(slot, to: 0)
        }
    }

    @Test func aScriptWaitsUntilAllItsKeysAreOnOneSide() async throws {
        let cluster = try Self.shared.get()
        let slot = 200
        let keys = RedisCluster.keys(of: slot, 2)
        try await withClient(cluster.settings()) { client in
            for key in keys { #expect(await client.call("SET", key, "10", key: key).text == "OK") }
            try cluster.beginMove(slot, from: 0, to: 2)
            try cluster.moveKeys([keys[0]], of: slot, from: 0, to: 2)
            // One key here, the other there: nobody can run it now.
            let torn = await client.evaluate(Self.increment, keys: keys, timeout: .milliseconds(300))
            #expect(torn.failure == .notServing)
            async let patient = client.evaluate(Self.increment, keys: keys)
            try await Task.sleep(for: .milliseconds(100))
            try cluster.moveKeys([keys[1]], of: slot, from: 0, to: 2)
            // Both keys are on the other side, which has never seen the script and holds the slot only when asked so.
            #expect(await patient.reply == .integer(11))
            #expect(await client.evaluate(Self.increment, keys: keys).reply == .integer(12))
            try cluster.finishMove(slot, to: 2)
            #expect(await client.evaluate(Self.increment, keys: keys).reply == .integer(13))
            #expect(await client.call("GET", keys[1], key: keys[1]).text == "13")
            try cluster.beginMove(slot, from: 2, to: 0)
            try cluster.moveKeys(of: slot, from: 2, to: 0)
            try cluster.finishMove(slot, to: 0)
        }
    }

    @Test func aSlotThatNobodyHoldsIsNotServed() async throws {
        let cluster = try Self.shared.get()
        let slot = 300
        let key = RedisCluster.keys(of: slot, 1)[0]
        try await withClient(cluster.settings()) { client in
            #expect(await client.call("SET", key, "1", key: key).isSuccess)
            for master in cluster.masters { try master.call("CLUSTER", "DELSLOTS", "\(slot)") }
            #expect(await client.call("GET", key, key: key, timeout: .milliseconds(300)).failure == .notServing)
            for master in cluster.masters { _ = try master.call("CLUSTER", "DELSLOTS", "\(slot)") }
            try cluster.masters[0].call("CLUSTER", "ADDSLOTS", "\(slot)")
            #expect(await client.until(["GET", key], key: key) { $0.isSuccess }.isSuccess)
        }
    }
}

@Suite("A cluster that loses a master", .ownThread)
struct ClusterFailoverTests {
    @Test func theReplicaTakesOver() async throws {
        let cluster = try RedisCluster(replicas: 1, nodeTimeout: .milliseconds(1000))
        let lost = RedisCluster.keys(of: 50, 1)[0]
        let kept = RedisCluster.keys(of: 12000, 1)[0]
        try await withClient(cluster.settings()) { client in
            #expect(await client.call("SET", lost, "1", key: lost).isSuccess)
            #expect(await client.call("SET", kept, "1", key: kept).isSuccess)
            cluster.masters[0].kill()
            let gone = await client.until(["GET", lost], key: lost) { !$0.isSuccess }
            #expect(!gone.isSuccess)
            let again = await client.until(within: .seconds(30), ["SET", lost, "2"], key: lost) { $0.isSuccess }
            #expect(again.text == "OK")
            #expect(await client.until(["GET", kept], key: kept) { $0.isSuccess }.text == "1")
            let stored = try cluster.replicas[0].call("GET", lost)
            #expect(stored.text == "2")
        }
    }
}

@Suite("Places of slots")
struct ClusterMapTests {
    static let own = RedisAddress(host: "own", port: 1)

    static func range(_ first: Int, _ last: Int, _ host: RedisReply, _ port: Int) -> RedisReply {
        .array([.integer(first), .integer(last), .array([host, .integer(port), .bulk([1])])])
    }

    static func text(_ text: String) -> RedisReply { .bulk(Array(text.utf8)) }

    @Test func aMapIsRead() throws {
        let reply = RedisReply.array([
            Self.range(0, 99, Self.text("a"), 7), Self.range(100, 100, Self.text(""), 8),
            Self.range(200, 16383, .null, 9), Self.range(101, 102, Self.text("?"), 10),
        ])
        let map = try #require(ClusterMap(reply, from: Self.own))
        #expect(map.node(of: 0) == RedisAddress(host: "a", port: 7))
        #expect(map.node(of: 99) == RedisAddress(host: "a", port: 7))
        #expect(map.node(of: 100) == RedisAddress(host: "own", port: 8))
        #expect(map.node(of: 102) == RedisAddress(host: "own", port: 10))
        #expect(map.node(of: 150) == nil)
        #expect(map.node(of: 16383) == RedisAddress(host: "own", port: 9))
        #expect(map.node(of: 16384) == nil)
        #expect(map.node(of: -1) == nil)
    }

    @Test(arguments: [
        RedisReply.null, .integer(1), .array([.null]), .array([.array([])]), .array([range(-1, 5, text("a"), 1)]),
        .array([range(5, 4, text("a"), 1)]), .array([range(0, 16384, text("a"), 1)]),
        .array([range(0, 1, text("a"), 65536)]), .array([range(0, 1, text("a"), -1)]),
        .array([.array([.integer(0), .integer(1)])]), .array([.array([.integer(0), .integer(1), .array([])])]),
        .array((0..<1025).map { range($0, $0, text("a"), $0) }),
    ])
    func whatIsNoMapIsRefused(reply: RedisReply) { #expect(ClusterMap(reply, from: Self.own) == nil) }

    @Test func redirectionsDoNotMakeItGrowWithoutBound() {
        var map = ClusterMap()
        for port in 1...UInt16(5000) { map.move(Int(port), to: RedisAddress(host: "a", port: port)) }
        #expect(map.nodes.count == ClusterMap.mostNodes)
        #expect(map.node(of: 1) == RedisAddress(host: "a", port: 1))
        #expect(map.node(of: 5000) == nil)
        map.move(20000, to: Self.own)
        #expect(map.node(of: 20000) == nil)
    }
}
