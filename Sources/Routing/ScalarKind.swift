/// How a scalar stands to the one before it, for the scripts where that needs no wider context.
enum ScalarKind {
    /// Begins a Character.
    case base
    /// Belongs to the Character before it, unless that is a control.
    case mark
    /// A Character of its own.
    case control
    /// Needs the full rules: joiners, emoji, Hangul, Indic scripts, …
    case other

    /// The kind of the scalar at `index` and its bytes; `other` may have more bytes than are told.
    static func at(_ text: Span<UInt8>, _ index: Int) -> (ScalarKind, Int) {
        let first = text[index]
        if first < 0x80 { return (first >= 0x20 && first < 0x7F ? .base : .control, 1) }
        if first >= 0xC2, first < 0xE0, text.count &- index >= 2 {
            let second = text[index &+ 1]
            guard second & 0xC0 == 0x80 else { return (.other, 1) }
            return (self.ofTwoBytes(UInt32(first & 0x1F) << 6 | UInt32(second & 0x3F)), 2)
        }
        if first == 0xE2, text.count &- index >= 3, text[index &+ 1] & 0xFE == 0x80, text[index &+ 2] & 0xC0 == 0x80 {
            let low = UInt32(text[index &+ 1] & 0x01) << 6 | UInt32(text[index &+ 2] & 0x3F)
            return (self.ofPunctuation(low), 3)
        }
        return (.other, 1)
    }

    private static func ofTwoBytes(_ scalar: UInt32) -> ScalarKind {
        switch scalar {
        case 0x061D...0x064A, 0x0660...0x066F, 0x0671...0x06D5, 0x06EE...0x06FF, 0x0606...0x060F, 0x061B: .base
        case 0x064B...0x065F, 0x0670, 0x0300...0x036F, 0x0483...0x0489: .mark
        case 0x00A0...0x00AC, 0x00AE...0x02FF, 0x0370...0x0482, 0x048A...0x058F: .base
        case 0x0080...0x009F, 0x00AD, 0x061C: .control
        default: .other
        }
    }

    /// Scalars U+2000 to U+207F by their last seven bits; U+200D, the joiner, needs the full rules.
    private static func ofPunctuation(_ low: UInt32) -> ScalarKind {
        switch low {
        case 0x0C: .mark
        case 0x00...0x0A, 0x10...0x27, 0x2F...0x5F, 0x70...0x7F: .base
        case 0x0B, 0x0E, 0x0F, 0x28...0x2E, 0x60...0x6F: .control
        default: .other
        }
    }
}
