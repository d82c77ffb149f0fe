/// Base64 with the URL alphabet and no padding (RFC 4648 §5, RFC 7515 §2), read strictly.
package enum Base64URL {
    /// Decodes; nil for anything but the one right spelling: other characters, padding, white space, a lone last
    /// character, or last bits that are not zero.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let rest = text.count & 3
        guard rest != 1 else { return nil }
        let groups = text.count >> 2
        let size = groups &* 3 &+ (rest == 0 ? 0 : rest &- 1)
        var valid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, written in
            text.withUnsafeBufferPointer { valid = Self.decode($0, groups: groups, into: output) }
            written = valid ? size : 0
        }
        return valid ? bytes : nil
    }

    /// Encodes in the one right spelling.
    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 3 * 4 + 4)
        var index = 0
        while index < bytes.count {
            let left = min(3, bytes.count - index)
            var word = UInt32(bytes[index]) << 16
            if left > 1 { word |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { word |= UInt32(bytes[index + 2]) }
            for place in 0...left { text.append(Self.alphabet[Int(word >> (18 - 6 * UInt32(place)) & 63)]) }
            index += 3
        }
        return text
    }

    /// Whether everything was valid. `output` holds three bytes for each group and up to two for the rest.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, groups: Int, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        Self.values.withUnsafeBufferPointer { values in
            func value(_ index: Int) -> UInt32 { UInt32(values[Int(text[index])]) }
            // Values of valid characters have at most six bits; any other sets the bit that is looked at once.
            var seen: UInt32 = 0
            for group in 0..<groups {
                let at = group &* 4
                let (a, b, c, d) = (value(at), value(at &+ 1), value(at &+ 2), value(at &+ 3))
                seen |= a | b | c | d
                let word = a << 18 | b << 12 | c << 6 | d
                output[group &* 3] = UInt8(truncatingIfNeeded: word >> 16)
                output[group &* 3 &+ 1] = UInt8(truncatingIfNeeded: word >> 8)
                output[group &* 3 &+ 2] = UInt8(truncatingIfNeeded: word)
            }
            let at = groups &* 4
            var unused: UInt32 = 0
            if text.count > at {
                let (a, b) = (value(at), value(at &+ 1))
                let c = text.count &- at == 3 ? value(at &+ 2) : 0
                seen |= a | b | c
                output[groups &* 3] = UInt8(truncatingIfNeeded: a << 2 | b >> 4)
                if text.count &- at == 3 {
                    output[groups &* 3 &+ 1] = UInt8(truncatingIfNeeded: b << 4 | c >> 2)
                    unused = c & 3
                } else {
                    unused = b & 15
                }
            }
            return seen & Self.invalid == 0 && unused == 0
        }
    }

    private static let invalid: UInt32 = 0x80
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0x80, count: 256)
        for (value, character) in Self.alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
