/// Counts Characters (extended grapheme clusters, Unicode Annex 29) of UTF-8 without making a `String`.
enum CharacterCount {
    /// The number of Characters, or `limit + 1` as soon as there are more than `limit`.
    static func count(_ text: Span<UInt8>, stoppingAbove limit: Int) -> Int {
        self.countPlain(text, limit) ?? self.countAny(text, limit)
    }

    /// How a scalar stands to the one before it, for the scripts where that needs no wider context.
    private enum Kind {
        /// Begins a Character.
        case base
        /// Belongs to the Character before it, unless that is a control.
        case mark
        /// A Character of its own.
        case control
        /// Needs the full rules: joiners, emoji, Hangul, Indic scripts, …
        case other
    }

    /// Persian, Arabic, Latin, Greek and Cyrillic text with its marks, in one pass; nil when another scalar occurs.
    private static func countPlain(_ text: Span<UInt8>, _ limit: Int) -> Int? {
        var count = 0
        var index = 0
        var afterControl = true
        var afterReturn = false
        while index < text.count, count <= limit {
            let byte = text[index]
            if byte >= 0x20, byte < 0x7F {
                count &+= 1
                index &+= 1
                afterControl = false
                afterReturn = false
                continue
            }
            let (kind, length) = self.kind(text, index)
            switch kind {
            case .base: count &+= 1
            case .mark: if afterControl { count &+= 1 }
            case .control: if !(afterReturn && byte == 0x0A) { count &+= 1 }
            case .other: return nil
            }
            afterControl = kind == .control
            afterReturn = byte == 0x0D
            index &+= length
        }
        return count > limit ? limit &+ 1 : count
    }

    private static func kind(_ text: Span<UInt8>, _ index: Int) -> (Kind, Int) {
        let first = text[index]
        if first < 0x80 { return (.control, 1) }
        if first < 0xE0, text.count &- index >= 2 {
            return (self.kind(UInt32(first & 0x1F) << 6 | UInt32(text[index &+ 1] & 0x3F)), 2)
        }
        if first == 0xE2, text.count &- index >= 3, text[index &+ 1] & 0xFE == 0x80 {
            return (self.punctuation(UInt32(text[index &+ 1] & 0x01) << 6 | UInt32(text[index &+ 2] & 0x3F)), 3)
        }
        return (.other, 1)
    }

    /// Scalars of two bytes.
    private static func kind(_ scalar: UInt32) -> Kind {
        switch scalar {
        case 0x061D...0x064A, 0x0660...0x066F, 0x0671...0x06D5, 0x06EE...0x06FF, 0x0606...0x060F, 0x061B: .base
        case 0x064B...0x065F, 0x0670, 0x0300...0x036F, 0x0483...0x0489: .mark
        case 0x00A0...0x00AC, 0x00AE...0x02FF, 0x0370...0x0482, 0x048A...0x058F: .base
        case 0x0080...0x009F, 0x00AD, 0x061C: .control
        default: .other
        }
    }

    /// Scalars U+2000 to U+207F by their last seven bits; U+200D, the joiner, needs the full rules.
    private static func punctuation(_ low: UInt32) -> Kind {
        switch low {
        case 0x0C: .mark
        case 0x00...0x0A, 0x10...0x27, 0x2F...0x5F, 0x70...0x7F: .base
        case 0x0B, 0x0E, 0x0F, 0x28...0x2E, 0x60...0x6F: .control
        default: .other
        }
    }

    private static func countAny(_ text: Span<UInt8>, _ limit: Int) -> Int {
        guard let valid = try? UTF8Span(validating: text) else {
            let repaired = text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            return min(repaired.count, limit &+ 1)
        }
        var characters = valid.makeCharacterIterator()
        var count = 0
        while count <= limit, characters.skipForward() == 1 { count &+= 1 }
        return count
    }
}
