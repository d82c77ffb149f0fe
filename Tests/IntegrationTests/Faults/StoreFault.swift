import GatewayTesting
import GatewayTypes
import Testing

/// A way in which a real store can fail, played on real servers.
struct StoreFault: Sendable, CustomTestStringConvertible {
    /// One store and what harms it.
    struct Scene {
        /// The store's section of the configuration, as flow YAML.
        var store: String
        var begin: () throws -> Void
        var end: () throws -> Void
    }

    let name: String
    /// What readiness may say of it.
    let reasons: Set<String>
    /// What was counted before is known behind it.
    var keepsCounts = true
    /// It goes on until it is ended, so that nobody is admitted by the store meanwhile.
    var lasts = true
    /// How long a decision may wait for the store.
    var deadline = TimeSpan.milliseconds(300)
    let scene: @Sendable (_ deadline: TimeSpan) throws -> Scene

    var testDescription: String { self.name }

    static let all = [
        stopped, paused, asleep, slow, outOfMemory, readOnly, withoutReplicas, otherPassword, failover, resharding,
        nodeKilled, nodeReplaced,
    ]

    private static func single(_ redis: RedisServer, _ deadline: TimeSpan, more: String = "") -> String {
        Self.single(redis.port, deadline, more: more)
    }

    private static func single(_ port: UInt16, _ deadline: TimeSpan, more: String = "") -> String {
        "{kind: redis, address: \"127.0.0.1:\(port)\", timeout: \(deadline.inMilliseconds)ms\(more)}"
    }

    // MARK: One server

    private static let stopped = StoreFault(
        name: "stopped, and empty behind it", reasons: ["disconnected", "unreachable"], keepsCounts: false
    ) { deadline in
        let redis = try RedisServer()
        return Scene(store: Self.single(redis, deadline)) {
            redis.kill()
        } end: {
            try redis.restart()
        }
    }

    private static let paused = StoreFault(
        name: "stopped in its tracks", reasons: ["timed_out", "disconnected", "unreachable"]
    ) {
        deadline in
        let redis = try RedisServer()
        let watch = Box(Stopwatch())
        return Scene(store: Self.single(redis, deadline)) {
            redis.pause()
            watch.change { $0 = Stopwatch() }
        } end: {
            Stopwatch.sleep(milliseconds: max(0, 5000 - watch.now.milliseconds))
            redis.resume()
        }
    }

    private static let asleep = StoreFault(
        name: "busy with something that never ends", reasons: ["timed_out", "disconnected", "unreachable"]
    ) { deadline in
        let redis = try RedisServer(["--enable-debug-command", "local"])
        let isAwake = Gate()
        return Scene(store: Self.single(redis, deadline)) {
            let probe = try redis.probe()
            OwnThread.start {
                _ = try? probe.call("DEBUG", "SLEEP", "15")
                isAwake.open()
            }
            Stopwatch.sleep(milliseconds: 50)
        } end: {
            isAwake.wait()
        }
    }

    private static let slow = StoreFault(
        name: "slower by 100 ms than is waited for", reasons: ["timed_out", "disconnected", "unreachable"],
        deadline: .milliseconds(80)
    ) { deadline in
        let redis = try RedisServer()
        let road = try SlowRoad(to: redis.port)
        return Scene(store: Self.single(road.port, deadline)) {
            _ = redis
            road.delay(by: 100)
        } end: {
            road.delay(by: 0)
        }
    }

    private static let outOfMemory = StoreFault(name: "out of memory", reasons: ["not_serving"]) { deadline in
        let redis = try RedisServer(["--maxmemory-policy", "noeviction"])
        return Scene(store: Self.single(redis, deadline)) {
            try redis.call("CONFIG", "SET", "maxmemory", "1")
        } end: {
            try redis.call("CONFIG", "SET", "maxmemory", "0")
        }
    }

    private static let readOnly = StoreFault(name: "a replica all of a sudden", reasons: ["not_serving"]) { deadline in
        let redis = try RedisServer()
        let nowhere = try TestSocket.freePort()
        return Scene(store: Self.single(redis, deadline)) {
            try redis.call("REPLICAOF", "127.0.0.1", "\(nowhere)")
        } end: {
            try redis.call("REPLICAOF", "NO", "ONE")
        }
    }

    private static let withoutReplicas = StoreFault(name: "a master without its replicas", reasons: ["not_serving"]) {
        deadline in
        let redis = try RedisServer()
        return Scene(store: Self.single(redis, deadline)) {
            try redis.call("CONFIG", "SET", "min-replicas-to-write", "1")
        } end: {
            try redis.call("CONFIG", "SET", "min-replicas-to-write", "0")
        }
    }

    private static let otherPassword = StoreFault(name: "another password", reasons: ["not_permitted"]) { deadline in
        let redis = try RedisServer(["--requirepass", "right"])
        let folder = try TemporaryFolder()
        let path = try folder.write("password", "right")
        return Scene(store: Self.single(redis, deadline, more: ", password: {file: \(path)}")) {
            try redis.change(password: "right", to: "other")
        } end: {
            try redis.change(password: "other", to: "right")
            _ = folder
        }
    }

    // MARK: Several servers

    private static let failover = StoreFault(
        name: "a replica promoted by the sentinels",
        reasons: ["disconnected", "unreachable", "not_serving", "timed_out"], lasts: false
    ) { deadline in
        let servers = try RedisSentinels()
        let addresses = servers.sentinels.map { "\"127.0.0.1:\($0.port)\"" }.joined(separator: ", ")
        let sentinel = "{master: \(RedisSentinels.masterName), addresses: [\(addresses)]}"
        return Scene(store: "{kind: redis, sentinel: \(sentinel), timeout: \(deadline.inMilliseconds)ms}") {
            try servers.awaitReplica()
            servers.master.kill()
        } end: {
        }
    }

    private static func cluster(_ cluster: RedisCluster, _ deadline: TimeSpan) -> String {
        let addresses = cluster.masters.map { "\"127.0.0.1:\($0.port)\"" }.joined(separator: ", ")
        return "{kind: redis, cluster: [\(addresses)], timeout: \(deadline.inMilliseconds)ms}"
    }

    private static let resharding = StoreFault(name: "a cluster that moves the slot", reasons: ["not_serving"]) {
        deadline in
        let cluster = try RedisCluster()
        let place = Box((slot: 0, source: 0))
        return Scene(store: Self.cluster(cluster, deadline)) {
            let found = try cluster.placeOfAcme()
            place.change { $0 = found }
            let target = (found.source + 1) % 3
            try cluster.beginMove(found.slot, from: found.source, to: target)
            // The half that is moved: from now on no script finds all of its keys in one place.
            let keys = try cluster.keys(in: found.slot, of: found.source)
            try cluster.moveKeys(Array(keys.prefix(keys.count / 2)), of: found.slot, from: found.source, to: target)
        } end: {
            let (slot, source) = place.now
            try cluster.moveKeys(of: slot, from: source, to: (source + 1) % 3)
            try cluster.finishMove(slot, to: (source + 1) % 3)
        }
    }

    private static let nodeKilled = StoreFault(
        name: "a cluster whose node is gone, and empty behind it",
        reasons: ["disconnected", "unreachable", "not_serving"],
        keepsCounts: false
    ) { deadline in
        let cluster = try RedisCluster(nodeTimeout: .seconds(2))
        let node = Box(0)
        return Scene(store: Self.cluster(cluster, deadline)) {
            let found = try cluster.placeOfAcme().source
            node.change { $0 = found }
            cluster.masters[found].kill()
        } end: {
            try cluster.masters[node.now].restart()
        }
    }

    private static let nodeReplaced = StoreFault(
        name: "a cluster whose node is followed by its replica",
        reasons: ["disconnected", "unreachable", "not_serving", "timed_out"], lasts: false
    ) { deadline in
        let cluster = try RedisCluster(replicas: 1, nodeTimeout: .seconds(1))
        return Scene(store: Self.cluster(cluster, deadline)) {
            let found = try cluster.placeOfAcme()
            // Only the first one has a replica.
            if found.source != 0 {
                try cluster.beginMove(found.slot, from: found.source, to: 0)
                try cluster.moveKeys(of: found.slot, from: found.source, to: 0)
                try cluster.finishMove(found.slot, to: 0)
            }
            try cluster.awaitReplica()
            cluster.masters[0].kill()
        } end: {
        }
    }
}
