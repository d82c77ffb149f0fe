import GatewayTypes

extension ClusterMap {
    /// Reads the answer to `CLUSTER SHARDS`: of each shard a flat list of names and values, `slots` (first, last, …) and
    /// `nodes` among them, and of each node the same.
    ///
    /// - Parameter own: the node that answered; stands in where a host is empty or unknown.
    init?(shards reply: RedisReply, from own: RedisAddress, isTLS: Bool) {
        guard let shards = reply.array else { return nil }
        self.init()
        for shard in shards {
            guard let slots = Self.value("slots", in: shard)?.array, let nodes = Self.value("nodes", in: shard)?.array,
                slots.count.isMultiple(of: 2)
            else { return nil }
            // Slots without a master are nobody's until the cluster has settled.
            guard let master = Self.master(among: nodes, from: own, isTLS: isTLS) else { continue }
            for at in stride(from: 0, to: slots.count, by: 2) {
                guard let first = slots[at].integer, let last = slots[at + 1].integer,
                    self.assign(first, last, to: master)
                else { return nil }
            }
        }
    }

    /// While a failover settles a shard may show two masters, one of which has failed.
    private static func master(among nodes: [RedisReply], from own: RedisAddress, isTLS: Bool) -> RedisAddress? {
        let masters = nodes.filter { Self.value("role", in: $0)?.text == "master" }
        let healthy = masters.first { Self.value("health", in: $0)?.text == "online" }
        guard let node = healthy ?? masters.first else { return nil }
        let ports = isTLS ? ["tls-port", "port"] : ["port", "tls-port"]
        let port = ports.lazy.compactMap { Self.value($0, in: node)?.integer }.first
        guard let port = port.flatMap({ UInt16(exactly: $0) }) else { return nil }
        let host = Self.value("endpoint", in: node)?.text ?? ""
        return RedisAddress(host: host.isEmpty || host == "?" ? own.host : host, port: port)
    }

    private static func value(_ name: String, in list: RedisReply) -> RedisReply? {
        guard let parts = list.array else { return nil }
        let names = stride(from: 0, to: parts.count - 1, by: 2)
        let at = names.first { parts[$0].bytes?.elementsEqual(name.utf8) == true }
        return at.map { parts[$0 + 1] }
    }
}
