/// Steps over one byte order mark at the very start of a stream, wherever it is cut.
struct ByteOrderMark: Sendable {
    /// Bytes of the mark seen so far; nil once the start of the stream is past.
    private var seen: Int? = 0

    /// Whether the stream has ended, or still stands, inside what may be a mark.
    var isPartial: Bool { (self.seen ?? 0) > 0 }

    /// Gives the position after the mark; bytes that only looked like one go to `line`.
    mutating func skip(_ bytes: Span<UInt8>, into line: inout [UInt8]) -> Int {
        var at = 0
        while let seen = self.seen, at < bytes.count {
            if bytes[at] == Self.byte(seen) {
                at &+= 1
                self.seen = seen == 2 ? nil : seen &+ 1
            } else {
                for index in 0..<seen { line.append(Self.byte(index)) }
                self.seen = nil
            }
        }
        return at
    }

    private static func byte(_ index: Int) -> UInt8 { index == 0 ? 0xEF : index == 1 ? 0xBB : 0xBF }
}
