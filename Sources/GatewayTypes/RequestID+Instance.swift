extension RequestID {
    /// An identifier that names the instance where its ask runs: the first 8 of its digits.
    ///
    /// - Parameter instance: drawn at random when the process starts; the other 96 bits are the ask's own.
    package static func random(of instance: UInt32, using words: inout RandomWords) -> RequestID {
        let id = Self.random(using: &words)
        return RequestID(high: UInt64(instance) << 32 | id.high & 0xFFFF_FFFF, low: id.low)
    }

    /// The instance that an identifier of `random(of:using:)` names.
    package var instance: UInt32 { UInt32(truncatingIfNeeded: self.high >> 32) }

    /// Reads the 32 lower-case digits that `append(to:)` writes; nil for anything else.
    package init?(digits: Span<UInt8>) {
        guard digits.count == Self.textLength else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for index in digits.indices {
            let value: UInt64
            switch digits[index] {
            case let digit where (0x30...0x39).contains(digit): value = UInt64(digit &- 0x30)
            case let digit where (0x61...0x66).contains(digit): value = UInt64(digit &- 0x57)
            default: return nil
            }
            if index < 16 { words.0 = words.0 << 4 | value } else { words.1 = words.1 << 4 | value }
        }
        self.init(high: words.0, low: words.1)
    }
}
