/// Counts Characters (extended grapheme clusters, Unicode Annex 29) of UTF-8 without making a `String`.
///
/// Persian, Arabic, Latin, Greek and Cyrillic text with its marks is counted in one quick pass; only where joiners,
/// emoji, Hangul or Indic scripts occur does the standard library walk a part of the text by the full rules.
enum CharacterCount {
    /// The number of Characters, or `limit + 1` as soon as there are more than `limit`.
    static func count(_ text: Span<UInt8>, stoppingAbove limit: Int) -> Int {
        var walk = Walk()
        while walk.index < text.count, walk.count <= limit {
            if walk.skipPlain(text) { continue }
            let (kind, length) = ScalarKind.at(text, walk.index)
            guard kind == .other else {
                walk.take(kind, length, byte: text[walk.index])
                continue
            }
            let end = self.endOfPart(text, from: walk.index)
            let part = text.extracting(walk.start..<end)
            walk.count = walk.count &- walk.open &+ self.countAny(part, limit &- walk.count &+ walk.open)
            walk.leave(at: end)
        }
        return min(walk.count, limit &+ 1)
    }

    private struct Walk {
        var index = 0
        var count = 0
        /// Where the last Character that was counted begins.
        var start = 0
        /// 1 when there is such a Character, that a later scalar may still belong to.
        var open = 0
        private var afterControl = true
        private var afterReturn = false

        /// Passes a run of printable ASCII and of Persian or Arabic letters; false when there is none.
        @inline(__always)
        mutating func skipPlain(_ text: Span<UInt8>) -> Bool {
            var index = self.index
            var count = self.count
            var last = 0
            while index < text.count {
                let byte = text[index]
                if byte >= 0x20, byte < 0x7F {
                    let isWord = text.count &- index >= 8 && ByteWords.isPrintable(ByteWords.word(text, index))
                    index &+= isWord ? 8 : 1
                    count &+= isWord ? 8 : 1
                    last = 1
                } else {
                    guard byte & 0xFC == 0xD8, text.count &- index >= 2 else { break }
                    let scalar = UInt32(byte & 0x1F) << 6 | UInt32(text[index &+ 1] & 0x3F)
                    guard scalar &- 0x061D <= 0x2D || scalar &- 0x0671 <= 0x64 else { break }
                    index &+= 2
                    count &+= 1
                    last = 2
                }
            }
            guard last > 0 else { return false }
            self.index = index
            self.count = count
            self.start = index &- last
            self.open = 1
            self.afterControl = false
            self.afterReturn = false
            return true
        }

        mutating func take(_ kind: ScalarKind, _ length: Int, byte: UInt8) {
            let continues = kind == .mark && !self.afterControl || self.afterReturn && byte == 0x0A
            if !continues {
                self.count &+= 1
                self.start = self.index
                self.open = 1
            }
            self.afterControl = kind == .control
            self.afterReturn = byte == 0x0D
            self.index &+= length
        }

        /// Goes on behind a part that was counted by the full rules, in front of a base.
        mutating func leave(at end: Int) {
            self.index = end
            self.start = end
            self.open = 0
            self.afterControl = true
            self.afterReturn = false
        }
    }

    /// Where two neighbours of the kind `base` stand, the second of them: a Character begins there for certain.
    private static func endOfPart(_ text: Span<UInt8>, from start: Int) -> Int {
        var index = start
        var afterBase = false
        while index < text.count {
            let (kind, length) = ScalarKind.at(text, index)
            if kind == .base, afterBase { return index }
            afterBase = kind == .base
            index &+= length
        }
        return text.count
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
