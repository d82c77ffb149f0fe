import GatewayTypes

/// Which node of a cluster holds which slot.
struct ClusterMap {
    static let slotCount = 16384
    /// Most nodes that a client talks to.
    static let mostNodes = 1024
    private var owners: [UInt16] = []
    private(set) var nodes: [RedisAddress] = []
    private static let nobody = UInt16.max

    var isEmpty: Bool { self.nodes.isEmpty }

    func node(of slot: Int) -> RedisAddress? {
        guard self.owners.indices.contains(slot), self.owners[slot] != Self.nobody else { return nil }
        return self.nodes[Int(self.owners[slot])]
    }

    /// Learns from a `MOVED` where one slot lies.
    mutating func move(_ slot: Int, to address: RedisAddress) {
        if self.owners.isEmpty { self.owners = Array(repeating: Self.nobody, count: Self.slotCount) }
        guard self.owners.indices.contains(slot), let index = self.index(of: address) else { return }
        self.owners[slot] = index
    }

    /// Gives a range of slots to a node; false when it is no such range.
    mutating func assign(_ first: Int, _ last: Int, to address: RedisAddress) -> Bool {
        if self.owners.isEmpty { self.owners = Array(repeating: Self.nobody, count: Self.slotCount) }
        guard (0..<Self.slotCount).contains(first), (first..<Self.slotCount).contains(last),
            let index = self.index(of: address)
        else { return false }
        for slot in first...last { self.owners[slot] = index }
        return true
    }

    private mutating func index(of address: RedisAddress) -> UInt16? {
        if let index = self.nodes.firstIndex(of: address) { return UInt16(index) }
        guard self.nodes.count < Self.mostNodes else { return nil }
        self.nodes.append(address)
        return UInt16(self.nodes.count - 1)
    }

    /// For servers before 7.0. Reads the answer to `CLUSTER SLOTS`: `[[first, last, [host, port, …], …], …]`, the master first.
    ///
    /// - Parameter own: the node that answered; stands in where a host is empty or unknown.
    init?(_ reply: RedisReply, from own: RedisAddress) {
        guard let ranges = reply.array else { return nil }
        self.owners = Array(repeating: Self.nobody, count: Self.slotCount)
        for range in ranges {
            guard let parts = range.array, parts.count >= 3, let first = parts[0].integer, let last = parts[1].integer,
                (0..<Self.slotCount).contains(first), (first..<Self.slotCount).contains(last),
                let node = parts[2].array, node.count >= 2, let port = node[1].integer.flatMap({ UInt16(exactly: $0) })
            else { return nil }
            let host = node[0].text ?? ""
            let address = RedisAddress(host: host.isEmpty || host == "?" ? own.host : host, port: port)
            guard let index = self.index(of: address) else { return nil }
            for slot in first...last { self.owners[slot] = index }
        }
    }

    init() {}

    /// The slot of a key: CRC-16 (XMODEM) of its hash tag, when it has one that is not empty, else of all of it.
    static func slot(of key: ByteString) -> Int {
        let bytes = Array(key.utf8)
        guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return Self.checksum(bytes[...]) % Self.slotCount }
        return Self.checksum(bytes[(open + 1)..<close]) % Self.slotCount
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        var crc: UInt16 = 0
        for byte in bytes { crc = (crc << 8) ^ Self.table[Int((crc >> 8) ^ UInt16(byte))] }
        return Int(crc)
    }

    private static let table: [UInt16] = (0..<256).map { index in
        (0..<8).reduce(UInt16(index) << 8) { crc, _ in crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
    }
}
