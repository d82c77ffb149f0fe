/// Reads Unicode scalars out of UTF-8 that may be cut or wrong without ever leaving the bytes.
enum ScalarReader {
    /// The scalar at `index` and its bytes; a wrong byte reads as U+FFFD of one byte.
    static func scalar(_ text: Span<UInt8>, _ index: Int) -> (value: UInt32, length: Int) {
        let first = text[index]
        if first < 0x80 { return (UInt32(first), 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first < 0xF5, text.count &- index >= length else { return (0xFFFD, 1) }
        var value = UInt32(first) & (0x7F >> UInt32(length))
        for offset in 1..<length {
            let next = text[index &+ offset]
            guard next & 0xC0 == 0x80 else { return (0xFFFD, 1) }
            value = value << 6 | UInt32(next & 0x3F)
        }
        return (value, length)
    }

    /// Letters and numbers: what ends a word's match when it is not the next letter of it.
    static func isWordPart(_ value: UInt32) -> Bool {
        if value < 0x80 {
            return (0x30...0x39).contains(value) || (0x41...0x5A).contains(value) || (0x61...0x7A).contains(value)
        }
        guard let scalar = Unicode.Scalar(value) else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber, .letterNumber,
            .otherNumber:
            // Some letters are invisible, as the Hangul fillers are.
            return !scalar.properties.isDefaultIgnorableCodePoint
        default: return false
        }
    }

    /// What a reader overlooks inside a word: spaces, dashes, low lines, marks, controls and invisible signs.
    static func isFiller(_ value: UInt32) -> Bool {
        if value < 0x80 { return value <= 0x20 || value == 0x7F || value == 0x2D || value == 0x5F }
        guard let scalar = Unicode.Scalar(value) else { return false }
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format, .nonspacingMark, .enclosingMark,
            .spacingMark, .connectorPunctuation, .dashPunctuation, .unassigned, .privateUse:
            return true
        default: return scalar.properties.isDefaultIgnorableCodePoint || value == 0xFFFD
        }
    }
}

/// Folds the many signs that are read as a Latin letter onto that letter.
enum Lookalike {
    /// The ASCII lower-case letter that a scalar is read as; 0 for none.
    static func letter(_ scalar: UInt32) -> UInt8 {
        switch scalar {
        case 0x61...0x7A: UInt8(truncatingIfNeeded: scalar)
        case 0x41...0x5A: UInt8(truncatingIfNeeded: scalar | 0x20)
        case 0x00...0x7F: 0
        // Full width, tag characters, parenthesised, circled, squared, mathematical alphabets.
        case 0xFF21...0xFF3A: self.nth(scalar, 0xFF21)
        case 0xFF41...0xFF5A: self.nth(scalar, 0xFF41)
        case 0xE0041...0xE005A: self.nth(scalar, 0xE0041)
        case 0xE0061...0xE007A: self.nth(scalar, 0xE0061)
        case 0x249C...0x24B5: self.nth(scalar, 0x249C)
        case 0x24B6...0x24E9: self.nth(scalar, 0x24B6)
        case 0x1F110...0x1F129: self.nth(scalar, 0x1F110)
        case 0x1F130...0x1F149: self.nth(scalar, 0x1F130)
        case 0x1F150...0x1F169: self.nth(scalar, 0x1F150)
        case 0x1F170...0x1F189: self.nth(scalar, 0x1F170)
        case 0x1D400...0x1D6A3: self.nth(scalar, 0x1D400)
        default: self.homoglyph(scalar)
        }
    }

    private static func nth(_ scalar: UInt32, _ first: UInt32) -> UInt8 {
        97 &+ UInt8(truncatingIfNeeded: (scalar &- first) % 26)
    }

    /// Signs of other alphabets, small capitals and raised letters for the letters of `user_text`.
    private static func homoglyph(_ scalar: UInt32) -> UInt8 {
        switch scalar {
        case 0x03C5, 0x057D, 0x1D1C, 0x1D58, 0x1D64: 117  // u
        case 0x0405, 0x0455, 0x017F, 0xA731, 0x02E2, 0x209B: 115  // s
        case 0x0395, 0x0415, 0x0435, 0x04BD, 0x1D07, 0x212E, 0x212F, 0x2130, 0x1D49, 0x2091: 101  // e
        case 0x0433, 0x0280, 0x02B3, 0x1D63, 0x211B, 0x211C, 0x211D: 114  // r
        case 0x03A4, 0x03C4, 0x0422, 0x0442, 0x1D1B, 0x1D57, 0x209C: 116  // t
        case 0x03A7, 0x03C7, 0x0425, 0x0445, 0x02E3, 0x2093: 120  // x
        default: 0
        }
    }
}
