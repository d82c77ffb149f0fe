/// One field line: where its name and value stand in the bytes of the head. Values are trimmed of SP and HTAB.
package struct HTTPField: Sendable {
    private let nameStart: UInt32
    private let nameEnd: UInt32
    private let valueStart: UInt32
    private let valueEnd: UInt32
    /// Which field this is, if it is one of those the gateway looks at.
    package let known: KnownField?

    /// Positions lie below 2^32: heads are capped far under that.
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

/// The field lines of a head in their order, with a slot for each known field.
struct FieldTable: Sendable {
    private(set) var fields: [HTTPField] = []
    /// Position in `fields` of the first line of a known field, plus one; 0 when absent.
    private var slots = InlineArray<16, UInt16>(repeating: 0)
    /// One bit for each known field that came on more than one line.
    private var repeated: UInt16 = 0

    init() { self.fields.reserveCapacity(12) }

    mutating func append(_ field: HTTPField) {
        self.fields.append(field)
        guard let known = field.known else { return }
        let slot = Int(known.rawValue)
        if self.slots[slot] == 0 {
            self.slots[slot] = UInt16(clamping: self.fields.count)
        } else {
            self.repeated |= 1 &<< UInt16(known.rawValue)
        }
    }

    /// The value of the first line of this name.
    func first(_ known: KnownField) -> Range<Int>? {
        let position = Int(self.slots[Int(known.rawValue)])
        guard position > 0, position <= self.fields.count else { return nil }
        return self.fields[position &- 1].value
    }

    func isRepeated(_ known: KnownField) -> Bool { self.repeated & (1 &<< UInt16(known.rawValue)) != 0 }

    /// On how many lines the field came.
    func count(_ known: KnownField) -> Int {
        guard self.isRepeated(known) else { return self.first(known) == nil ? 0 : 1 }
        return self.fields.reduce(into: 0) { count, field in if field.known == known { count &+= 1 } }
    }
}
