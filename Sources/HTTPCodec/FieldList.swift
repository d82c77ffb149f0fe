/// Values that are lists: `element *( OWS "," OWS element )` (RFC 9110 §5.6.1).
enum FieldList {
    /// Lends each element, trimmed of SP and HTAB, empty ones too. Commas inside quoted strings do not divide.
    @inline(__always)
    static func forEach(_ value: Span<UInt8>, separator: UInt8 = Byte.comma, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start <= value.count {
            let end = self.elementEnd(value, from: start, separator: separator)
            body(value.extracting(self.trimmed(value, start..<end)))
            start = end &+ 1
        }
    }

    private static func elementEnd(_ value: Span<UInt8>, from start: Int, separator: UInt8) -> Int {
        var at = start
        var quoted = false
        while at < value.count {
            let byte = value[at]
            if byte == Byte.quote { quoted.toggle() }
            if quoted, byte == Byte.backslash { at &+= 1 }
            if !quoted, byte == separator { return at }
            at &+= 1
        }
        return value.count
    }

    private static func trimmed(_ value: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, Byte.isBlank(value[start]) { start &+= 1 }
        while end > start, Byte.isBlank(value[end &- 1]) { end &-= 1 }
        return start..<end
    }
}
