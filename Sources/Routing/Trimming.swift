/// Removal of white space and line breaks at both ends of a text.
enum Trimming {
    /// The part between the first and last scalar that is not White_Space (Unicode); empty when there is none.
    static func bounds(of text: Span<UInt8>) -> Range<Int> {
        var start = 0
        var end = text.count
        while start < end {
            let length = self.leading(text, start, end)
            if length == 0 { break }
            start &+= length
        }
        while start < end {
            let length = self.trailing(text, start, end)
            if length == 0 { break }
            end &-= length
        }
        return start..<end
    }

    /// Bytes of the white space scalar that begins at `start`; 0 when none does.
    private static func leading(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        let first = text[start]
        if first < 0x80 { return self.isSpace(first) ? 1 : 0 }
        if end &- start >= 2, self.isSpace(first, text[start &+ 1]) { return 2 }
        if end &- start >= 3, self.isSpace(first, text[start &+ 1], text[start &+ 2]) { return 3 }
        return 0
    }

    private static func trailing(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        let last = text[end &- 1]
        if last < 0x80 { return self.isSpace(last) ? 1 : 0 }
        if end &- start >= 2, self.isSpace(text[end &- 2], last) { return 2 }
        if end &- start >= 3, self.isSpace(text[end &- 3], text[end &- 2], last) { return 3 }
        return 0
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// U+0085 and U+00A0.
    private static func isSpace(_ first: UInt8, _ second: UInt8) -> Bool {
        first == 0xC2 && (second == 0x85 || second == 0xA0)
    }

    /// U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
    private static func isSpace(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
        switch (first, second) {
        case (0xE1, 0x9A): third == 0x80
        case (0xE2, 0x80): third <= 0x8A || third == 0xA8 || third == 0xA9 || third == 0xAF
        case (0xE2, 0x81): third == 0x9F
        case (0xE3, 0x80): third == 0x80
        default: false
        }
    }
}
