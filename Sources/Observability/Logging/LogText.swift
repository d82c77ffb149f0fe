import GatewayTypes

/// Writes strings into log lines so that a line stays one line, whatever the string holds.
extension [UInt8] {
    /// Appends a quoted JSON string of at most `limit` bytes of UTF-8, cut between characters' scalars.
    ///
    /// Besides what JSON asks, DEL, the C1 controls and U+2028/U+2029 are escaped: terminals and line readers act
    /// on them.
    mutating func append(quoted text: ByteString, limit: Int = 255) {
        self.append(UInt8(ascii: "\""))
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { self.append(escaping: $0, limit: limit) }
        if done == nil { Array(text.utf8).withUnsafeBufferPointer { self.append(escaping: $0, limit: limit) } }
        self.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaping bytes: UnsafeBufferPointer<UInt8>, limit: Int) {
        let end = bytes.count <= limit ? bytes.count : scalarBoundary(in: bytes, atMost: limit)
        guard !isPlain(bytes, end: end) else {
            return self.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[..<end]))
        }
        var start = 0
        var position = 0
        while position < end {
            let length = unsafeLength(in: bytes, at: position, end: end)
            guard length > 0 else {
                position += 1
                continue
            }
            self.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<position]))
            self.append(escapeOf: bytes, at: position, length: length)
            position += length
            start = position
        }
        self.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<end]))
    }

    private mutating func append(escapeOf bytes: UnsafeBufferPointer<UInt8>, at position: Int, length: Int) {
        switch length {
        case 1:
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                self.append(UInt8(ascii: "\\"))
                self.append(byte)
            } else {
                self.append(unicodeEscape: UInt16(byte))
            }
        case 2: self.append(unicodeEscape: UInt16(bytes[position + 1]))
        default: self.append(unicodeEscape: 0x2000 | UInt16(bytes[position + 2] & 0x3F))
        }
    }

    private mutating func append(unicodeEscape unit: UInt16) {
        self.append(literal: "\\u")
        for shift: UInt16 in [12, 8, 4, 0] { self.append(Hexadecimal.digit(UInt8(truncatingIfNeeded: unit &>> shift))) }
    }
}

/// Whether all bytes are printable ASCII that JSON takes as it is, as nearly all identifiers are. Eight at a time: the
/// high bit of a byte is lent when it is below 0x20, a quote, a backslash, or above 0x7E.
private func isPlain(_ bytes: UnsafeBufferPointer<UInt8>, end: Int) -> Bool {
    let raw = UnsafeRawBufferPointer(bytes)
    let ones: UInt64 = 0x0101_0101_0101_0101
    var found: UInt64 = 0
    var position = 0
    while position + 8 <= end {
        let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        found |= (word &- ones &* 0x20) | (quotes &- ones) | (backslashes &- ones) | (word &+ ones) | word
        position += 8
    }
    guard found & (ones &* 0x80) == 0 else { return false }
    while position < end {
        guard unsafeLength(in: bytes, at: position, end: end) == 0, bytes[position] < 0x80 else { return false }
        position += 1
    }
    return true
}

/// How many bytes at `position` must be escaped together; 0 when they may stand as they are.
private func unsafeLength(in bytes: UnsafeBufferPointer<UInt8>, at position: Int, end: Int) -> Int {
    let byte = bytes[position]
    if byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F { return 1 }
    if byte == 0xC2, position + 1 < end, bytes[position + 1] < 0xA0 { return 2 }
    if byte == 0xE2, position + 2 < end, bytes[position + 1] == 0x80, bytes[position + 2] & 0xFE == 0xA8 { return 3 }
    return 0
}

/// The last position not after `limit` where a scalar begins.
private func scalarBoundary(in bytes: UnsafeBufferPointer<UInt8>, atMost limit: Int) -> Int {
    var end = limit
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return end
}
