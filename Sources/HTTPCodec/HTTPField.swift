/// One field line: where its name and value stand in the bytes of the head. Values are trimmed of SP and HTAB.
package struct HTTPField: Sendable {
    private let nameStart: UInt32
    private let nameEnd: UInt32
    private let valueStart: UInt32
    private let valueEnd: UInt32
    /// Which field this is, if it is one of those the gateway looks at.
    package let known: KnownField?

    /// Bytes of a head that positions can name; a limit above it holds no further than here.
    static let positions = 1 << 31

    init(name: Range<Int>, value: Range<Int>, known: KnownField?) {
        self.nameStart = UInt32(truncatingIfNeeded: name.lowerBound)
        self.nameEnd = UInt32(truncatingIfNeeded: name.upperBound)
        self.valueStart = UInt32(truncatingIfNeeded: value.lowerBound)
        self.valueEnd = UInt32(truncatingIfNeeded: value.upperBound)
        self.known = known
    }

    package var name: Range<Int> { Int(self.nameStart)..<Int(self.nameEnd) }
    package var value: Range<Int> { Int(self.valueStart)..<Int(self.valueEnd) }
}
