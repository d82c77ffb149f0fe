extension JSONReader {
    /// Reads a string from behind its opening quote to behind its closing one, and adds its node.
    ///
    /// Returns whether the string is ASCII without escapes.
    @inline(__always)
    mutating func readString() throws(Fault) -> Bool {
        let start = self.position
        let end = self.endOfPlainText(from: start)
        guard self.tape.byte(end) == UInt8(ascii: "\"") else {
            try self.readString(from: start, plainUntil: end)
            return false
        }
        self.position = end &+ 1
        try self.append(.string, start: start, count: end &- start)
        return true
    }

    /// The place of the next quote, backslash, control character or non-ASCII byte.
    @inline(__always)
    private func endOfPlainText(from start: Int) -> Int {
        let low: UInt64 = 0x0101_0101_0101_0101
        var position = start
        while true {
            let word = self.tape.word(position)
            // A byte lends its high bit when it has one, is below 0x20, or is one of the two: subtracting borrows.
            // What the borrow spoils stands higher than the first such byte, the only one that counts.
            let found =
                word | (word &- low &* 0x20) | ((word ^ low &* 0x22) &- low) | ((word ^ low &* 0x5C) &- low)
            let bits = found & (low &* 0x80)
            if bits != 0 { return position &+ bits.trailingZeroBitCount &>> 3 }
            position &+= 8
        }
    }

    /// Reads on at the first byte that needs a look, decoding escapes in place.
    @inline(never)
    private mutating func readString(from start: Int, plainUntil end: Int) throws(Fault) {
        var source = end
        var target = end
        while true {
            let byte = self.tape.byte(source)
            let runStart = source
            if byte >= 0x80 {
                source = try self.endOfCharacters(from: source)
            } else if byte == UInt8(ascii: "\\") {
                try self.readEscape(at: &source, to: &target)
                continue
            } else if byte == UInt8(ascii: "\"") {
                self.position = source &+ 1
                return try self.append(.string, start: start, count: target &- start)
            } else if byte < 0x20 {
                throw self.fault(at: source)
            }
            source = self.endOfPlainText(from: source)
            if target != runStart { self.tape.move(from: runStart, count: source &- runStart, to: target) }
            target &+= source &- runStart
        }
    }

    /// The place of the next ASCII byte, when all before it are whole characters of UTF-8.
    @inline(__always)
    private func endOfCharacters(from start: Int) throws(Fault) -> Int {
        var position = start
        repeat {
            let length = self.lengthOfCharacter(at: position)
            guard length > 0 else { throw Fault(reason: .invalidUTF8, position: position) }
            position &+= length
        } while self.tape.byte(position) >= 0x80
        return position
    }

    /// Bytes of the character beginning at a non-ASCII byte; 0 when it is none (RFC 3629: no overlong forms, no
    /// surrogates, nothing above U+10FFFF).
    @inline(__always)
    func lengthOfCharacter(at position: Int) -> Int {
        let bytes = self.tape.halfWord(position)  // the first byte is the lowest
        if bytes & 0xC0E0 == 0x80C0 { return bytes & 0x1E != 0 ? 2 : 0 }
        if bytes & 0xC0_C0F0 == 0x80_80E0 {
            let payload = bytes & 0x200F
            return payload != 0 && payload != 0x200D ? 3 : 0
        }
        if bytes & 0xC0C0_C0F8 == 0x8080_80F0 {
            let scalar = (bytes & 0x07) << 6 | bytes >> 8 & 0x3F  // its upper bits, from U+1000 on
            return scalar >= 0x10 && scalar <= 0x10F ? 4 : 0
        }
        return 0
    }
}
