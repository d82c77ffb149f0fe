/// The field lines of a head in their order, with a slot for each known field.
struct FieldTable: Sendable {
    /// Lines that the slots can tell apart; a limit above it holds no further than here.
    static let capacity = Int(UInt16.max) - 1

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
