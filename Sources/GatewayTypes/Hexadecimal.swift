/// Bytes as pairs of lower-case digits.
package enum Hexadecimal {
    @inlinable
    package static func append(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(self.digit(byte >> 4))
        output.append(self.digit(byte & 15))
    }

    @inlinable
    static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 &+ value : 87 &+ value }

    package static func text(of bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes { self.append(byte, to: &text) }
        return text
    }
}
