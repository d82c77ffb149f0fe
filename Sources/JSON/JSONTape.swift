internal import Glibc

/// The memory of one document: a copy of its bytes, zeros behind them, and the nodes that tell what they mean.
///
/// This file alone touches the memory while a document is read. Every place is checked, in a release too: it costs a
/// tenth of the reading. No input can make a check fail, and none is needed where the reader is right, because:
/// - `byteCount` itself may be read and gives 0. The reader moves on only over bytes that it has seen to be other
///   than 0, so it never comes further.
/// - `word` and `halfWord` read up to 7 bytes further: `padding` is more than that.
/// - Strings are decoded over their own escapes. Every escape is longer than what it stands for, so what is written
///   lies before what is read next.
/// - An index of a node comes from `append` or is the sum of an index and extents, which ends at `nodeCount`.
struct JSONTape: ~Copyable {
    /// The copy; `padding` zero bytes follow it.
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    /// The nodes written so far, in the same block as the bytes.
    private(set) var nodes: UnsafeMutablePointer<JSONNode>
    let byteCount: Int
    private(set) var nodeCount = 0
    private var nodeCapacity: Int

    private static let padding = 16

    /// Nil when there is no memory. The caller holds the size below 2 GB, so that a place fits a node.
    init?(copying source: UnsafeRawBufferPointer) {
        let count = source.count
        // Most documents have 12 to 20 bytes for each node.
        let capacity = count / 16 &+ 16
        let size = Self.nodeOffset(count) &+ capacity &* MemoryLayout<JSONNode>.stride
        guard let block = malloc(size) else { return nil }
        if let start = source.baseAddress { memcpy(block, start, count) }
        memset(block + count, 0, Self.padding)
        self.bytes = block.assumingMemoryBound(to: UInt8.self)
        self.nodes = (block + Self.nodeOffset(count)).assumingMemoryBound(to: JSONNode.self)
        self.byteCount = count
        self.nodeCapacity = capacity
    }

    deinit { free(self.bytes) }

    /// Where the nodes begin: behind bytes and padding, on a multiple of 16.
    private static func nodeOffset(_ byteCount: Int) -> Int { (byteCount &+ Self.padding &+ 15) & ~15 }

    // MARK: Bytes

    /// The byte at a place; 0 at the end.
    @inline(__always)
    func byte(_ position: Int) -> UInt8 {
        precondition(position >= 0 && position <= self.byteCount)
        return self.bytes[position]
    }

    /// Eight bytes from a place on, the first one lowest.
    @inline(__always)
    func word(_ position: Int) -> UInt64 {
        precondition(position >= 0 && position <= self.byteCount)
        return UInt64(littleEndian: UnsafeRawPointer(self.bytes + position).loadUnaligned(as: UInt64.self))
    }

    /// Four bytes from a place on, the first one lowest.
    @inline(__always)
    func halfWord(_ position: Int) -> UInt32 {
        precondition(position >= 0 && position <= self.byteCount)
        return UInt32(littleEndian: UnsafeRawPointer(self.bytes + position).loadUnaligned(as: UInt32.self))
    }

    /// Writes one byte of a decoded string.
    @inline(__always)
    mutating func write(_ byte: UInt8, at position: Int) {
        precondition(position >= 0 && position < self.byteCount)
        self.bytes[position] = byte
    }

    /// Moves part of a string down to where its decoded text ends.
    @inline(__always)
    mutating func move(from source: Int, count: Int, to target: Int) {
        precondition(target >= 0 && target <= source && source &+ count <= self.byteCount)
        memmove(self.bytes + target, self.bytes + source, count)
    }

    // MARK: Nodes

    /// Adds a node; false when there is no memory for it.
    @inline(__always)
    mutating func append(_ node: JSONNode) -> Bool {
        if self.nodeCount == self.nodeCapacity, !self.grow() { return false }
        (self.nodes + self.nodeCount).initialize(to: node)
        self.nodeCount &+= 1
        return true
    }

    /// A node by its index.
    @inline(__always)
    subscript(_ index: Int) -> JSONNode {
        get {
            precondition(index >= 0 && index < self.nodeCount)
            return self.nodes[index]
        }
        set {
            precondition(index >= 0 && index < self.nodeCount)
            self.nodes[index] = newValue
        }
    }

    @inline(never)
    private mutating func grow() -> Bool {
        let offset = Self.nodeOffset(self.byteCount)
        let capacity = self.nodeCapacity &* 2
        // Nodes are plain values, so moving the whole block moves them.
        guard let block = realloc(self.bytes, offset &+ capacity &* MemoryLayout<JSONNode>.stride) else { return false }
        self.bytes = block.assumingMemoryBound(to: UInt8.self)
        self.nodes = (block + offset).assumingMemoryBound(to: JSONNode.self)
        self.nodeCapacity = capacity
        return true
    }

    // MARK: Texts

    /// The text of a string or number node, lent as long as the tape lives.
    @inline(__always)
    func text(of node: JSONNode) -> UnsafeBufferPointer<UInt8> {
        precondition(Int(node.start) &+ Int(node.count) <= self.byteCount)
        return UnsafeBufferPointer(start: self.bytes + Int(node.start), count: Int(node.count))
    }

    /// Whether a string node has exactly these bytes.
    @inline(__always)
    func text(of node: JSONNode, equals text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard Int(node.count) == text.count else { return false }
        let own = self.text(of: node)
        guard let start = text.baseAddress, let own = own.baseAddress, !text.isEmpty else { return true }
        return own[0] == start[0] && memcmp(own, start, text.count) == 0
    }

    /// A total order of texts, shorter ones first: negative, zero or positive, as `memcmp` tells.
    func compare(_ left: JSONNode, _ right: JSONNode) -> Int32 {
        guard left.count == right.count else { return left.count < right.count ? -1 : 1 }
        return memcmp(self.bytes + Int(left.start), self.bytes + Int(right.start), Int(left.count))
    }

    /// The first eight bytes of a text, zeros in place of what it lacks.
    @inline(__always)
    func prefix(of node: JSONNode) -> UInt64 {
        let word = self.word(Int(node.start))
        return node.count >= 8 ? word : word & ((1 &<< (UInt64(node.count) &* 8)) &- 1)
    }
}
