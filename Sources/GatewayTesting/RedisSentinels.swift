import GatewayTypes

/// A master, a replica of it, and three sentinels that watch over them and know each other from the start.
package final class RedisSentinels: Sendable {
    /// Under which the sentinels know the master.
    package static let masterName = "main"

    package let master: RedisServer
    package let replica: RedisServer
    package let sentinels: [RedisServer]

    /// - Parameter password: that the sentinels want of whoever asks them; nil for none.
    package init(password: String? = nil) throws {
        let options = ["--repl-diskless-sync-delay", "0"]
        self.master = try RedisServer(options)
        self.replica = try RedisServer(options + ["--replicaof", "127.0.0.1", "\(self.master.port)"])
        let (master, replica) = (self.master, self.replica)
        self.sentinels = try RedisServer.again {
            let ports = try (0..<3).map { _ in try TestSocket.freePort() }
            return try (0..<3).map { own in
                let text = Self.configuration(
                    own, ports: ports, master: master.port, replica: replica.port, password: password)
                return try RedisServer(
                    port: ports[own], files: ["sentinel.conf": text], mode: ["sentinel.conf", "--sentinel"])
            }
        }
        let isLinked = try Stopwatch.wait(upTo: .seconds(20), every: 25) {
            try self.replica.call("INFO", "replication").text?.contains("link_status:up") == true
        }
        guard isLinked else { throw RedisServer.NotStarted(output: "the replica does not follow") }
    }

    private static func identity(_ port: UInt16) -> String {
        String((String(repeating: "a", count: 40) + String(port, radix: 16)).suffix(40))
    }

    private static func configuration(
        _ own: Int, ports: [UInt16], master: UInt16, replica: UInt16, password: String?
    ) -> String {
        var lines = [
            "sentinel myid \(self.identity(ports[own]))",
            "sentinel monitor \(self.masterName) 127.0.0.1 \(master) 2",
            "sentinel down-after-milliseconds \(self.masterName) 1000",
            "sentinel failover-timeout \(self.masterName) 4000",
            "sentinel known-replica \(self.masterName) 127.0.0.1 \(replica)",
        ]
        if let password { lines += ["requirepass \(password)", "sentinel sentinel-pass \(password)"] }
        for other in ports.indices where other != own {
            lines.append(
                "sentinel known-sentinel \(self.masterName) 127.0.0.1 \(ports[other]) \(self.identity(ports[other]))")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
