/// Base64 of RFC 4648, both alphabets, padding and line breaks optional.
enum Base64 {
    /// Nil when a sign of neither alphabet occurs or a group is cut.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        let body = text.filter { $0 != 0x0A && $0 != 0x0D }
        let padding = body.reversed().prefix { $0 == 0x3D }.count
        guard padding <= 2 else { return nil }
        for byte in body.dropLast(padding) {
            guard let value = self.value(byte) else { return nil }
            buffer = buffer << 6 | value
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            buffer &= (1 << bits) - 1
        }
        return bits < 6 && buffer == 0 ? bytes : nil
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x41...0x5A: UInt32(byte - 0x41)
        case 0x61...0x7A: UInt32(byte - 0x61) + 26
        case 0x30...0x39: UInt32(byte - 0x30) + 52
        case 0x2B, 0x2D: 62
        case 0x2F, 0x5F: 63
        default: nil
        }
    }
}
