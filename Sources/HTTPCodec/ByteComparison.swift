/// Comparisons of received bytes with words of ours.
enum ByteComparison {
    /// Byte for byte.
    @inline(__always)
    static func equals(_ bytes: Span<UInt8>, _ word: StaticString) -> Bool {
        guard bytes.count == word.utf8CodeUnitCount else { return false }
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        for at in 0..<bytes.count where bytes[at] != expected[at] { return false }
        return true
    }

    /// Whether `bytes` are `word` when ASCII letters lose their case; `word` is in lower case.
    @inline(__always)
    static func equalsFolded(_ bytes: Span<UInt8>, _ word: StaticString) -> Bool {
        guard bytes.count == word.utf8CodeUnitCount else { return false }
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        for at in 0..<bytes.count where fold(bytes[at]) != expected[at] { return false }
        return true
    }

    /// Whether both hold the same bytes when ASCII letters lose their case.
    static func equalsFolded(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for at in 0..<left.count where fold(left[at]) != fold(right[at]) { return false }
        return true
    }

    /// Whether a field name, known to be a token, is `word`: lower-case letters and hyphens, four bytes or more.
    ///
    /// Setting bit 5 folds exactly there: no token byte but the letter and its capital, or the hyphen, becomes one.
    @inline(__always)
    static func isName(_ bytes: Span<UInt8>, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count == count else { return false }
        let expected = UnsafeRawPointer(word.utf8Start)
        if count < 8 {
            return folded32(bytes, 0) == expected.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
                && folded32(bytes, count &- 4) == expected.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
        }
        var at = 0
        while at &+ 8 <= count {
            if folded64(bytes, at) != expected.loadUnaligned(fromByteOffset: at, as: UInt64.self) { return false }
            at &+= 8
        }
        return folded64(bytes, count &- 8) == expected.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    }

    @inline(__always)
    private static func folded32(_ bytes: Span<UInt8>, _ offset: Int) -> UInt32 {
        bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self) | 0x2020_2020
    }

    @inline(__always)
    private static func folded64(_ bytes: Span<UInt8>, _ offset: Int) -> UInt64 {
        bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) | 0x2020_2020_2020_2020
    }

    @inline(__always)
    static func fold(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
