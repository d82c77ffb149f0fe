import GatewayTypes

/// A key that brings its own hash.
protocol TableKey: Equatable {
    /// Evenly spread over its upper bits, and not to be guessed by whoever chooses keys.
    var spread: UInt64 { get }
}

extension RequestID: TableKey {
    /// Request ids are random already, and hashing them again would be the dearest part of an admission; the
    /// multiplication only keeps ids that are counted up, as in tests, from lying side by side.
    var spread: UInt64 { (self.low ^ self.high) &* 0x9E37_79B9_7F4A_7C15 }
}

/// A hash table with linear probing: a look-up is a few compares, and nothing is hashed twice.
struct FlatTable<Key: TableKey, Value> {
    private struct Slot {
        let key: Key
        let value: Value
    }

    private var slots: [Slot?] = []
    private(set) var count = 0

    subscript(key: Key) -> Value? {
        guard self.count > 0 else { return nil }
        return self.slots[self.place(of: key)]?.value
    }

    /// Puts a value in place of what the key had. True when it had none.
    mutating func set(_ value: Value, for key: Key) -> Bool {
        // At most three quarters full, so that there is always an empty slot to end a search.
        if self.count &* 4 >= self.slots.count &* 3 { self.resize(to: max(8, self.slots.count &* 2)) }
        let place = self.place(of: key)
        let isNew = self.slots[place] == nil
        self.slots[place] = Slot(key: key, value: value)
        if isNew { self.count &+= 1 }
        return isNew
    }

    mutating func remove(_ key: Key) -> Value? {
        guard self.count > 0 else { return nil }
        let place = self.place(of: key)
        guard let removed = self.slots[place]?.value else { return nil }
        self.count &-= 1
        self.closeGap(at: place)
        if self.slots.count > 64 && self.count &* 8 < self.slots.count { self.resize(to: self.slots.count / 2) }
        return removed
    }

    func forEach(_ body: (Value) -> Void) {
        for slot in self.slots { if let slot { body(slot.value) } }
    }

    private var mask: Int { self.slots.count &- 1 }

    private func home(of key: Key) -> Int {
        // The highest bits choose the stripe; those below choose the slot.
        Int(truncatingIfNeeded: key.spread >> 26) & self.mask
    }

    /// Where the key is, or the empty slot where it belongs.
    private func place(of key: Key) -> Int {
        var place = self.home(of: key)
        while let slot = self.slots[place], slot.key != key { place = (place &+ 1) & self.mask }
        return place
    }

    /// Moves up whatever would not be found any more across an empty slot.
    private mutating func closeGap(at gap: Int) {
        var gap = gap
        var next = (gap &+ 1) & self.mask
        while let slot = self.slots[next] {
            let distance = (next &- self.home(of: slot.key)) & self.mask
            if distance >= (next &- gap) & self.mask {
                self.slots[gap] = slot
                gap = next
            }
            next = (next &+ 1) & self.mask
        }
        self.slots[gap] = nil
    }

    /// - Parameter capacity: a power of two, larger than `count`.
    private mutating func resize(to capacity: Int) {
        let old = self.slots
        self.slots = Array(repeating: nil, count: capacity)
        for slot in old { if let slot { self.slots[self.place(of: slot.key)] = slot } }
    }
}

/// A table in 64 parts, so that growing it moves a sixty-fourth of it at a time and makes no long pause.
struct StripedTable<Key: TableKey, Value> {
    private var stripes = [FlatTable<Key, Value>](repeating: FlatTable(), count: 64)
    private(set) var count = 0

    subscript(key: Key) -> Value? { self.count == 0 ? nil : self.stripes[Self.stripe(of: key)][key] }

    mutating func set(_ value: Value, for key: Key) {
        if self.stripes[Self.stripe(of: key)].set(value, for: key) { self.count &+= 1 }
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard self.count > 0, let removed = self.stripes[Self.stripe(of: key)].remove(key) else { return nil }
        self.count &-= 1
        return removed
    }

    func forEach(_ body: (Value) -> Void) { for stripe in self.stripes { stripe.forEach(body) } }

    private static func stripe(of key: Key) -> Int { Int(truncatingIfNeeded: key.spread >> 58) }
}
