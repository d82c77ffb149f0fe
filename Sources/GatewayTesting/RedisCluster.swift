package import GatewayTypes

/// Three masters that share the slots, and replicas of the first. They start as a cluster that has met before.
package final class RedisCluster: Sendable {
    package let masters: [RedisServer]
    package let replicas: [RedisServer]
    private let identities: [String]

    /// - Parameter nodeTimeout: after which a node is held for dead.
    package init(replicas replicaCount: Int = 0, nodeTimeout: TimeSpan = .seconds(5)) throws {
        let (servers, identities) = try RedisServer.again { try Self.start(3 + replicaCount, nodeTimeout) }
        self.identities = identities
        self.masters = Array(servers[..<3])
        self.replicas = Array(servers[3...])
        try self.waitUntilWhole()
    }

    private static func start(_ count: Int, _ nodeTimeout: TimeSpan) throws -> ([RedisServer], [String]) {
        let ports = try (0..<count).map { _ in (try TestSocket.freePort(), try TestSocket.freePort()) }
        let identities = (0..<count).map { index in
            String((String(repeating: "0", count: 40) + String(ports[index].0, radix: 16) + "c\(index)").suffix(40))
        }
        let servers = try (0..<count).map { own in
            let lines = (0..<count).map { index in
                let role = index < 3 ? "master - 0 0 \(index + 1)" : "slave \(identities[0]) 0 0 1"
                let slots = index < 3 ? " \(Self.slots[index].0)-\(Self.slots[index].1)" : ""
                return "\(identities[index]) 127.0.0.1:\(ports[index].0)@\(ports[index].1) "
                    + "\(index == own ? "myself," : "")\(role) connected\(slots)\n"
            }
            let options = [
                "--cluster-enabled", "yes", "--cluster-port", "\(ports[own].1)", "--cluster-node-timeout",
                "\(nodeTimeout.inMilliseconds)", "--cluster-replica-validity-factor", "0",
                "--repl-diskless-sync-delay", "0",
            ]
            return try RedisServer(
                options, port: ports[own].0,
                files: ["nodes.conf": lines.joined() + "vars currentEpoch 3 lastVoteEpoch 0\n"])
        }
        return (servers, identities)
    }

    /// First and last slot of each master at the start.
    package static let slots = [(0, 5460), (5461, 10922), (10923, 16383)]

    private func waitUntilWhole() throws {
        let isWhole = try Stopwatch.wait(upTo: .seconds(20), every: 25) {
            try self.masters.allSatisfy { try $0.call("CLUSTER", "INFO").text?.contains("cluster_state:ok") == true }
                && self.replicas.allSatisfy {
                    try $0.call("INFO", "replication").text?.contains("link_status:up") == true
                }
        }
        guard isWhole else { throw RedisServer.NotStarted(output: "the cluster does not come up") }
    }

    /// Where a slot lies at the start.
    package func master(of slot: Int) -> Int { slot <= 5460 ? 0 : slot <= 10922 ? 1 : 2 }

    /// Begins to move a slot: its keys may be on either side until `finishMove`.
    package func beginMove(_ slot: Int, from source: Int, to target: Int) throws {
        let (from, to) = (self.identities[source], self.identities[target])
        try self.masters[target].expect("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", from)
        try self.masters[source].expect("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", to)
    }

    /// Takes keys over, those named or all of the slot.
    package func moveKeys(_ names: [String]? = nil, of slot: Int, from source: Int, to target: Int) throws {
        var keys = names ?? []
        if names == nil,
            case .list(let found) = try self.masters[source].call(
                "CLUSTER", "GETKEYSINSLOT", "\(slot)", "100000")
        {
            keys = found.compactMap(\.text)
        }
        guard !keys.isEmpty else { return }
        let command = ["MIGRATE", "127.0.0.1", "\(self.masters[target].port)", "", "0", "5000", "KEYS"] + keys
        let answer = try self.masters[source].probe().call(command)
        guard answer.text != nil else { throw RedisServer.NotStarted(output: "MIGRATE: \(answer)") }
    }

    /// Tells everybody that a slot has moved.
    package func finishMove(_ slot: Int, to target: Int) throws {
        let owner = self.identities[target]
        let others = self.masters.indices.filter { $0 != target }
        for index in [target] + others {
            try self.masters[index].expect("CLUSTER", "SETSLOT", "\(slot)", "NODE", owner)
        }
    }
}

extension RedisServer {
    /// A command that has to be answered with `OK`.
    func expect(_ words: String...) throws {
        let answer = try self.probe().call(words)
        guard answer == .text("OK") else { throw NotStarted(output: "\(words): \(answer)") }
    }
}
