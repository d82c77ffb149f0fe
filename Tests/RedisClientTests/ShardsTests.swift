import GatewayTypes
import Testing

@testable import RedisClient

@Suite("A cluster's shards")
struct ShardsTests {
    private let own = RedisAddress(host: "asked", port: 7000)

    private func list(_ fields: [(String, RedisReply)]) -> RedisReply {
        .array(fields.flatMap { [.text($0.0), $0.1] })
    }

    private func node(
        _ port: Int, role: String = "master", health: String = "online", endpoint: RedisReply = .text("10.0.0.1"),
        tlsPort: Int? = nil
    ) -> RedisReply {
        let tls = tlsPort.map { [("tls-port", RedisReply.integer($0))] } ?? []
        return self.list(
            [("id", .text("ab")), ("port", .integer(port))] + tls
                + [("endpoint", endpoint), ("role", .text(role)), ("health", .text(health))])
    }

    private func shard(_ slots: [Int], _ nodes: [RedisReply]) -> RedisReply {
        self.list([("slots", .array(slots.map { .integer($0) })), ("nodes", .array(nodes))])
    }

    private func map(_ shards: [RedisReply], isTLS: Bool = false) -> ClusterMap? {
        ClusterMap(shards: .array(shards), from: self.own, isTLS: isTLS)
    }

    @Test("Every range of a shard belongs to its master, not to a replica")
    func ranges() {
        let map = self.map([
            self.shard([0, 9, 100, 100], [self.node(1, role: "replica"), self.node(2)]),
            self.shard([10, 99], [self.node(3)]), self.shard([], [self.node(4)]),
        ])
        #expect(map?.node(of: 0)?.port == 2)
        #expect(map?.node(of: 100)?.port == 2)
        #expect(map?.node(of: 99)?.port == 3)
        #expect(map?.node(of: 101) == nil)
    }

    @Test("The master that works is taken where one that failed still stands beside it")
    func failover() {
        let nodes = [self.node(1, health: "fail"), self.node(2)]
        #expect(self.map([self.shard([0, 1], nodes)])?.node(of: 0)?.port == 2)
        #expect(self.map([self.shard([0, 1], [nodes[0]])])?.node(of: 0)?.port == 1)
        #expect(self.map([self.shard([0, 1], [self.node(1, role: "replica")])])?.isEmpty == true)
    }

    @Test("Without a host it is the one that was asked", arguments: [.null, .text(""), .text("?")] as [RedisReply])
    func unknownHost(_ endpoint: RedisReply) {
        let map = self.map([self.shard([0, 1], [self.node(5, endpoint: endpoint)])])
        #expect(map?.node(of: 1) == RedisAddress(host: "asked", port: 5))
    }

    @Test("The port is that of the transport")
    func ports() {
        let shards = [self.shard([0, 1], [self.node(5, tlsPort: 6)])]
        #expect(self.map(shards)?.node(of: 0)?.port == 5)
        #expect(self.map(shards, isTLS: true)?.node(of: 0)?.port == 6)
    }

    @Test("What is no list of shards is refused")
    func malformed() {
        #expect(ClusterMap(shards: .null, from: self.own, isTLS: false) == nil)
        #expect(self.map([.integer(1)]) == nil)
        for slots in [[0], [0, 16384], [5, 4], [-1, 3]] {
            #expect(self.map([self.shard(slots, [self.node(1)])]) == nil)
        }
        #expect(self.map([self.shard([0, 1], [self.node(70000)])])?.isEmpty == true)
    }
}

extension RedisReply {
    fileprivate static func text(_ text: String) -> Self { .bulk(Array(text.utf8)) }
}
