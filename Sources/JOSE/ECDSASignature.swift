/// The two forms of an ECDSA signature: `R‖S` of fixed size in a token (RFC 7518 §3.4), DER in OpenSSL.
enum ECDSASignature {
    /// DER of the longest signature, that of P-521.
    static let maximumDERBytes = 3 + 2 * (2 + 1 + 66)

    /// Writes the DER form of `R‖S` and gives its size. Zeros and numbers beyond the group's order are OpenSSL's to
    /// refuse.
    ///
    /// - Parameter output: at least `maximumDERBytes` long.
    static func writeDER(of raw: Span<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let half = raw.count / 2
        let r = Self.integerStart(raw, 0..<half)
        let s = Self.integerStart(raw, half..<raw.count)
        let length = 4 &+ r.size &+ s.size
        var at = 0
        func put(_ byte: UInt8) {
            output[at] = byte
            at &+= 1
        }
        put(0x30)
        if length >= 0x80 { put(0x81) }
        put(UInt8(truncatingIfNeeded: length))
        for (integer, end) in [(r, half), (s, raw.count)] {
            put(0x02)
            put(UInt8(truncatingIfNeeded: integer.size))
            if integer.padded { put(0) }
            for index in integer.start..<end { put(raw[index]) }
        }
        return at
    }

    /// Where a number's significant bytes begin, its size in DER, and whether a zero must go before them.
    private static func integerStart(
        _ raw: Span<UInt8>, _ range: Range<Int>
    ) -> (start: Int, size: Int, padded: Bool) {
        var start = range.lowerBound
        while start < range.upperBound - 1, raw[start] == 0 { start += 1 }
        let padded = raw[start] & 0x80 != 0
        return (start, range.upperBound - start + (padded ? 1 : 0), padded)
    }

    /// The `R‖S` form of a DER signature made here; nil when it does not fit.
    static func raw(ofDER der: [UInt8], coordinateBytes size: Int) -> [UInt8]? {
        var at = der.count > 1 && der[1] == 0x81 ? 3 : 2
        var output: [UInt8] = []
        for _ in 0..<2 {
            guard at + 2 <= der.count, der[at] == 0x02 else { return nil }
            let end = at + 2 + Int(der[at + 1])
            guard end <= der.count else { return nil }
            let digits = der[at + 2..<end].drop { $0 == 0 }
            guard digits.count <= size else { return nil }
            output += [UInt8](repeating: 0, count: size - digits.count) + digits
            at = end
        }
        return output
    }
}
