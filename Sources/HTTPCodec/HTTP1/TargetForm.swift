/// What a request target names (RFC 9112 §3.2): origin form, absolute form, or the asterisk of `OPTIONS`.
struct TargetForm {
    let path: Range<Int>
    let query: Range<Int>?
    let authority: Range<Int>?

    /// Nil for every other form, and for the asterisk with another method.
    init?(_ window: Span<UInt8>, _ target: Range<Int>, question: Int?, method: HTTPMethod) {
        self.query = question.map { $0 &+ 1..<target.upperBound }
        let pathEnd = question ?? target.upperBound
        if window[target.lowerBound] == Byte.slash {
            self.path = target.lowerBound..<pathEnd
            self.authority = nil
        } else if window[target.lowerBound] == Byte.asterisk, target.count == 1, method == .options {
            self.path = target
            self.authority = nil
        } else {
            let before = window.extracting(target.lowerBound..<pathEnd)
            guard let scheme = Self.schemeLength(before) else { return nil }
            let start = target.lowerBound &+ scheme
            var end = start
            while end < pathEnd, window[end] != Byte.slash { end &+= 1 }
            guard HostRule.isValid(window.extracting(start..<end)) else { return nil }
            self.authority = start..<end
            // An absolute target without a path asks for `/`: the slash before the host lends its place.
            self.path = end < pathEnd ? end..<pathEnd : start &- 1..<start
        }
    }

    /// Bytes of `http://` or `https://` at the start.
    private static func schemeLength(_ target: Span<UInt8>) -> Int? {
        if target.count >= 7, ByteComparison.equalsFolded(target.extracting(0..<7), "http://") { return 7 }
        if target.count >= 8, ByteComparison.equalsFolded(target.extracting(0..<8), "https://") { return 8 }
        return nil
    }
}
