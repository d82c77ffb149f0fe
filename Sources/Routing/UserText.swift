/// The element in which the user's text stands in a prompt, and what keeps the text inside it.
///
/// A `<`, or a sign that looks like one, is written `&lt;` when the letters of `user_text` come next in any case or
/// width, whatever spaces, slashes or other signs stand before them, and whatever spaces, dashes, low lines, marks or
/// invisible signs stand between them. Nothing else in the text changes by a byte.
enum UserText {
    static let opening = Array("<user_text>\n".utf8)
    static let closing = Array("\n</user_text>".utf8)
    private static let neutral = Array("&lt;".utf8)
    private static let name: [10 of UInt8] = [117, 115, 101, 114, 116, 101, 120, 116, 0, 0]
    private static let nameLength = 8

    /// The user's part of a prompt.
    static func element(around text: Span<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(self.opening.count &+ text.count &+ self.closing.count)
        output.append(contentsOf: self.opening)
        self.appendNeutralized(text, to: &output)
        output.append(contentsOf: self.closing)
        return output
    }

    /// A text that stands outside any element, kept from opening or closing one.
    static func neutralized(_ text: Span<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(text.count)
        self.appendNeutralized(text, to: &output)
        return output
    }

    private static func appendNeutralized(_ text: Span<UInt8>, to output: inout [UInt8]) {
        var copied = 0
        var index = 0
        while index < text.count {
            if text.count &- index >= 8, self.hasNoOpener(ByteWords.word(text, index)) {
                index &+= 8
                continue
            }
            if text[index] == 0xE2, text.count &- index >= 3, text[index &+ 1] == 0x80, text[index &+ 2] != 0xB9 {
                // The zero-width non-joiner of Persian and its neighbours; U+2039 is the only opener among them.
                index &+= 3
                continue
            }
            let length = self.couldBeOpener(text[index]) ? self.openerLength(text, index) : 0
            if length > 0, self.spellsName(text, from: index &+ length) {
                self.append(text.extracting(copied..<index), to: &output)
                output.append(contentsOf: self.neutral)
                copied = index &+ length
            }
            index &+= max(1, length)
        }
        self.append(text.extracting(copied..<text.count), to: &output)
    }

    private static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { output.append(contentsOf: $0) }
    }

    @inline(__always)
    private static func hasNoOpener(_ word: UInt64) -> Bool {
        !ByteWords.contains(word, 0x3C) && !ByteWords.contains(word, 0xCB) && !ByteWords.hasLongLead(word)
    }

    /// The first bytes of the scalars that `isOpener` knows.
    @inline(__always)
    private static func couldBeOpener(_ byte: UInt8) -> Bool {
        byte == 0x3C || (byte >= 0xCB && (byte == 0xCB || byte == 0xE2 || byte == 0xE3 || byte == 0xEF || byte == 0xF3))
    }

    /// Bytes of the `<` or its look-alike at this place; 0 when there is none.
    private static func openerLength(_ text: Span<UInt8>, _ index: Int) -> Int {
        let scalar = ScalarReader.scalar(text, index)
        return self.isOpener(scalar.value) ? scalar.length : 0
    }

    /// `<`, its wide, small and tag forms, and the angle brackets that are read as one.
    private static func isOpener(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x3C, 0x02C2, 0x2039, 0x2329, 0x276C, 0x276E, 0x2770, 0x27E8, 0x3008, 0xFE64, 0xFF1C, 0xE003C: true
        default: false
        }
    }

    /// Whether the letters of the element's name come next. Ends at the next opener at the latest, so that the whole
    /// text is read at most twice.
    private static func spellsName(_ text: Span<UInt8>, from start: Int) -> Bool {
        var index = start
        var matched = 0
        while index < text.count {
            let scalar = ScalarReader.scalar(text, index)
            if Lookalike.letter(scalar.value) == self.name[matched] {
                matched &+= 1
                if matched == self.nameLength { return true }
            } else if self.isOpener(scalar.value) || scalar.value == 0x3E {
                return false
            } else if matched == 0 ? ScalarReader.isWordPart(scalar.value) : !ScalarReader.isFiller(scalar.value) {
                return false
            }
            index &+= scalar.length
        }
        return false
    }
}
