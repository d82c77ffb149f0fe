/// Names one series of a family: up to four label values in 64 bits.
struct SeriesKey: Hashable, Sendable {
    let packed: UInt64

    /// The only series of a family without labels, and of any other family the one whose labels all say `other`.
    static let zero = SeriesKey(packed: 0)

    init(packed: UInt64) { self.packed = packed }

    init(_ first: LabelID, _ second: LabelID = .other, _ third: LabelID = .other, _ fourth: LabelID = .other) {
        self.packed =
            UInt64(first.index) | UInt64(second.index) &<< 16 | UInt64(third.index) &<< 32
            | UInt64(fourth.index) &<< 48
    }

    /// A label whose value is a number below 65,536; anything else is `other`.
    static func number(_ value: Int) -> LabelID { LabelID(index: UInt16(exactly: value) ?? 0) }

    func label(_ position: Int) -> LabelID {
        LabelID(index: UInt16(truncatingIfNeeded: self.packed &>> UInt64(truncatingIfNeeded: position &* 16)))
    }
}

/// Finds the place of a series: an open hash table over packed keys, a few nanoseconds a look-up.
struct SeriesIndex: Sendable {
    // No label has the index 65,535, so no key is all ones.
    private static let empty = UInt64.max

    private var keys: [UInt64]
    private var places: [Int32]
    private(set) var count = 0

    init() {
        self.keys = [UInt64](repeating: Self.empty, count: 16)
        self.places = [Int32](repeating: 0, count: 16)
    }

    func place(of key: SeriesKey) -> Int? {
        let slot = self.slot(of: key.packed)
        return self.keys[slot] == Self.empty ? nil : Int(self.places[slot])
    }

    /// Gives the next place to a key that has none.
    mutating func insert(_ key: SeriesKey) -> Int {
        if (self.count + 1) * 2 > self.keys.count { self.grow() }
        let slot = self.slot(of: key.packed)
        let place = self.count
        self.keys[slot] = key.packed
        self.places[slot] = Int32(truncatingIfNeeded: place)
        self.count += 1
        return place
    }

    /// The same index in memory of its own.
    func copied() -> SeriesIndex {
        var copy = self
        copy.keys = self.keys.withUnsafeBufferPointer { Array($0) }
        copy.places = self.places.withUnsafeBufferPointer { Array($0) }
        return copy
    }

    /// Every key with its place.
    var entries: [(key: SeriesKey, place: Int)] {
        self.keys.indices.compactMap { slot in
            self.keys[slot] == Self.empty ? nil : (SeriesKey(packed: self.keys[slot]), Int(self.places[slot]))
        }
    }

    /// Where the key is, or where it would go. The table is never more than half full, so this ends.
    private func slot(of key: UInt64) -> Int {
        let mask = self.keys.count - 1
        var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) &>> 32) & mask
        while self.keys[slot] != key, self.keys[slot] != Self.empty { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        let old = self.entries
        self.keys = [UInt64](repeating: Self.empty, count: self.keys.count * 2)
        self.places = [Int32](repeating: 0, count: self.keys.count)
        for (key, place) in old {
            let slot = self.slot(of: key.packed)
            self.keys[slot] = key.packed
            self.places[slot] = Int32(truncatingIfNeeded: place)
        }
    }
}
