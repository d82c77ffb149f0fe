/// Questions asked of eight bytes at once; what lets plain text be passed over quickly.
enum ByteWords {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Eight bytes from `index` on, which must lie inside the text.
    @inline(__always)
    static func word(_ text: Span<UInt8>, _ index: Int) -> UInt64 {
        // Bounds are checked; any bit pattern is a UInt64.
        text.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    @inline(__always)
    static func contains(_ word: UInt64, _ byte: UInt8) -> Bool {
        let difference = word ^ (self.ones &* UInt64(byte))
        return (difference &- self.ones) & ~difference & self.highs != 0
    }

    /// Whether all bytes are printable ASCII: 0x20 to 0x7E.
    @inline(__always)
    static func isPrintable(_ word: UInt64) -> Bool {
        let control = (word &- self.ones &* 0x20) & ~word & self.highs
        return (word & self.highs) | control == 0 && !self.contains(word, 0x7F)
    }

    /// Whether a byte begins a scalar of three or four bytes: 0xE0 and more.
    @inline(__always)
    static func hasLongLead(_ word: UInt64) -> Bool { word & (word << 1) & (word << 2) & self.highs != 0 }
}
