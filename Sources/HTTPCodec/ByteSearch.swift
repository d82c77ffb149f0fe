/// Searches that look at eight bytes at a time.
enum ByteSearch {
    /// Marks bytes equal to `byte` by their top bit; exact up to and including the lowest mark.
    @inline(__always)
    private static func marks(of byte: UInt8, in word: UInt64) -> UInt64 {
        let difference = word ^ (0x0101_0101_0101_0101 &* UInt64(byte))
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }

    @inline(__always)
    private static func word(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The first byte below 0x20 or equal to 0x7F from `start` on; the count when there is none.
    static func firstControl(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var at = start
        let count = bytes.count
        while count &- at >= 8 {
            let word = word(bytes, at: at)
            let below = (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
            let hits = below | marks(of: Byte.delete, in: word)
            if hits != 0 { return at &+ hits.trailingZeroBitCount / 8 }
            at &+= 8
        }
        while at < count, bytes[at] >= 0x20, bytes[at] != Byte.delete { at &+= 1 }
        return at
    }

    /// The first CR or LF from `start` on; the count when there is none.
    static func firstLineEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var at = start
        let count = bytes.count
        while count &- at >= 8 {
            let word = word(bytes, at: at)
            let hits = marks(of: Byte.lineFeed, in: word) | marks(of: Byte.carriageReturn, in: word)
            if hits != 0 { return at &+ hits.trailingZeroBitCount / 8 }
            at &+= 8
        }
        while at < count, bytes[at] != Byte.lineFeed, bytes[at] != Byte.carriageReturn { at &+= 1 }
        return at
    }
}
