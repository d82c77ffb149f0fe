/// How large and how deep a document may be.
package struct JSONLimits: Hashable, Sendable {
    /// Most bytes of a document.
    package var bytes: Int
    /// Most arrays and objects standing in each other; `[[1]]` has two.
    package var depth: Int

    /// A depth above 1024 is taken for 1024.
    package init(bytes: Int = 1 << 20, depth: Int = 64) {
        self.bytes = bytes
        // jansson recurses once a level, and stops by itself at 2048.
        self.depth = min(depth, 1024)
    }
}

extension JSONLimits {
    /// Refuses, without recursion and before any allocation, what jansson must not be given.
    func check(_ bytes: UnsafeRawBufferPointer) throws(JSONFailure) {
        guard bytes.count <= self.bytes else { throw JSONFailure(reason: .tooLarge, position: self.bytes, line: 1) }
        var openings = 0
        var nuls = 0
        for byte in bytes {
            openings &+= byte | 0x20 == 0x7B ? 1 : 0  // "[" and "{" differ in this bit alone
            nuls &+= byte == 0 ? 1 : 0
        }
        if nuls > 0, let position = bytes.firstIndex(of: 0) {
            throw JSONFailure(reason: .nulByte, position: position, line: Self.line(of: position, in: bytes))
        }
        // Most documents have fewer brackets in all than they may have in depth.
        if openings > self.depth { try self.checkDepth(bytes) }
    }

    private func checkDepth(_ bytes: UnsafeRawBufferPointer) throws(JSONFailure) {
        var depth = 0
        var inString = false
        var escaped = false
        for (position, byte) in bytes.enumerated() {
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth &+= 1
                if depth > self.depth {
                    throw JSONFailure(reason: .tooDeep, position: position, line: Self.line(of: position, in: bytes))
                }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth &-= 1
            default: break
            }
        }
    }

    private static func line(of position: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        var line = 1
        for byte in bytes.prefix(position) where byte == UInt8(ascii: "\n") { line &+= 1 }
        return line
    }
}
