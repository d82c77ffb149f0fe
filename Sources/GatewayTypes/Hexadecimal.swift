/// Bytes as pairs of lower-case digits.
package enum Hexadecimal {
    @inlinable
    package static func append(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(self.digit(byte >> 4))
        output.append(self.digit(byte & 15))
    }

    /// Appends the 16 digits of a word.
    package static func append(_ word: UInt64, to output: inout [UInt8]) {
        output.append(addingCapacity: 16) { self.append(word, to: &$0) }
    }

    /// Appends the 16 digits of a word; there must be room for them.
    package static func append(_ word: UInt64, to output: inout OutputSpan<UInt8>) {
        let digits = (
            self.digits(UInt32(truncatingIfNeeded: word &>> 32)), self.digits(UInt32(truncatingIfNeeded: word))
        )
        withUnsafeBytes(of: digits) { output.append($0.assumingMemoryBound(to: UInt8.self)) }
    }

    /// The digit for the low four bits.
    @inlinable
    package static func digit(_ value: UInt8) -> UInt8 {
        let value = value & 15
        return value < 10 ? 48 &+ value : 87 &+ value
    }

    package static func text(of bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes { self.append(byte, to: &text) }
        return text
    }

    /// Eight digits, the first in the lowest address: half bytes are spread to bytes, then all lifted at once.
    private static func digits(_ word: UInt32) -> UInt64 {
        var spread = UInt64(word)
        spread = (spread &<< 16 | spread) & 0x0000_FFFF_0000_FFFF
        spread = (spread &<< 8 | spread) & 0x00FF_00FF_00FF_00FF
        spread = (spread &<< 4 | spread) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (spread &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
        return (spread &+ 0x3030_3030_3030_3030 &+ letters &* 39).bigEndian
    }
}
