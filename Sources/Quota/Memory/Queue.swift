/// First in, first out, in a ring that grows by doubling and gives memory back when it empties.
struct Queue<Element> {
    private var slots: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var first: Element? { self.count == 0 ? nil : self.slots[self.head] }

    mutating func append(_ element: Element) {
        if self.count == self.slots.count { self.resize(to: max(16, self.slots.count &* 2)) }
        self.slots[(self.head &+ self.count) & (self.slots.count &- 1)] = element
        self.count &+= 1
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard self.count > 0 else { return nil }
        let element = self.slots[self.head]
        self.slots[self.head] = nil
        self.head = (self.head &+ 1) & (self.slots.count &- 1)
        self.count &-= 1
        if self.slots.count > 64 && self.count &* 8 < self.slots.count { self.resize(to: self.slots.count / 2) }
        return element
    }

    /// Lets the elements go that do not satisfy the condition; the others stay in their order.
    mutating func keep(_ condition: (Element) -> Bool) {
        var kept = Queue()
        for index in 0..<self.count {
            let slot = self.slots[(self.head &+ index) & (self.slots.count &- 1)]
            if let slot, condition(slot) { kept.append(slot) }
        }
        self = kept
    }

    /// Newest first, until the body answers false.
    func forEachBackwards(_ body: (Element) -> Bool) {
        for index in stride(from: self.count &- 1, through: 0, by: -1) {
            guard let element = self.slots[(self.head &+ index) & (self.slots.count &- 1)], body(element) else {
                return
            }
        }
    }

    /// - Parameter capacity: a power of two, at least `count`.
    private mutating func resize(to capacity: Int) {
        var slots: [Element?] = []
        slots.reserveCapacity(capacity)
        for index in 0..<self.count { slots.append(self.slots[(self.head &+ index) & (self.slots.count &- 1)]) }
        for _ in self.count..<capacity { slots.append(nil) }
        self.slots = slots
        self.head = 0
    }
}
