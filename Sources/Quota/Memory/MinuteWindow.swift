/// The admissions of the last 60 seconds, each with its own stamp, so that the limit holds in every rolling minute.
///
/// Room grows with the admissions that happened, not with the limit, and is given back when they leave the minute.
struct MinuteWindow {
    /// Nanoseconds.
    static let length: Int64 = 60_000_000_000

    /// Stamps in a ring, never falling; the capacity is zero or a power of two.
    private var stamps: ContiguousArray<Int64> = []
    private var head = 0
    private(set) var count = 0

    /// Forgets what has left the minute: the minute that begins with an admission ends before the same instant of the
    /// next, so two admissions exactly 60 seconds apart do not share one.
    mutating func expire(at now: Int64) {
        let cutoff = now &- Self.length
        guard self.count > 0, self.stamp(0) <= cutoff else { return }
        // Binary search, since a million may leave at once.
        var low = 0
        var high = self.count
        while high &- low > 1 {
            let middle = low &+ (high &- low) / 2
            if self.stamp(middle) <= cutoff { low = middle } else { high = middle }
        }
        self.head = (self.head &+ high) & (self.stamps.count &- 1)
        self.count &-= high
        self.giveBack()
    }

    mutating func append(_ now: Int64) {
        if self.count == self.stamps.count { self.resize(to: max(4, self.stamps.count &* 2)) }
        self.stamps[(self.head &+ self.count) & (self.stamps.count &- 1)] = now
        self.count &+= 1
    }

    mutating func clear() { self = MinuteWindow() }

    /// Nanoseconds until fewer than `quantity` admissions are in the minute; 0 when that is so already, a whole minute
    /// when it never will be. Call `expire` first.
    func wait(for quantity: Int, at now: Int64) -> Int64 {
        guard quantity > 0 else { return Self.length }
        return self.count < quantity ? 0 : self.remainder(of: self.count &- quantity, at: now)
    }

    /// Nanoseconds until the oldest admission leaves the minute; 0 when there is none. Call `expire` first.
    func reset(at now: Int64) -> Int64 { self.count == 0 ? 0 : self.remainder(of: 0, at: now) }

    private func remainder(of index: Int, at now: Int64) -> Int64 {
        min(max(self.stamp(index) &+ Self.length &- now, 1), Self.length)
    }

    private func stamp(_ index: Int) -> Int64 { self.stamps[(self.head &+ index) & (self.stamps.count &- 1)] }

    private mutating func giveBack() {
        if self.count == 0 {
            if self.stamps.count > 64 { self.clear() }
        } else if self.stamps.count > 64 && self.count &* 8 < self.stamps.count {
            // Half would do, but the admissions may have fallen from millions to a few at once.
            self.resize(to: 1 << (Int.bitWidth &- (self.count &* 2 &- 1).leadingZeroBitCount))
        }
    }

    private mutating func resize(to capacity: Int) {
        var stamps: ContiguousArray<Int64> = []
        stamps.reserveCapacity(capacity)
        for index in 0..<self.count { stamps.append(self.stamp(index)) }
        for _ in self.count..<capacity { stamps.append(0) }
        self.stamps = stamps
        self.head = 0
    }
}
