package import GatewayTypes

/// Something to do at a deadline, on the loop that armed it.
///
/// Moving the deadline later costs one store: the wheel finds out when the old deadline comes. A timer belongs to one
/// loop and is touched on its thread only. The action holds what it captures until it is cancelled or replaced.
package final class LoopTimer: @unchecked Sendable {
    // Unchecked: its loop's thread is the only one to touch it.
    package fileprivate(set) var deadline: MonotonicTime = MonotonicTime(nanoseconds: .max)
    fileprivate var tick: Int64 = 0
    fileprivate var next: LoopTimer?
    fileprivate unowned(unsafe) var previous: LoopTimer?
    fileprivate var slot = -1
    package var action: (() -> Void)?

    package init(action: (() -> Void)? = nil) { self.action = action }

    /// Whether the timer is waiting for its deadline.
    package var isArmed: Bool { self.slot >= 0 && self.deadline.nanoseconds != .max }
}

/// Deadlines of one loop, in slots of 8 ms: arming and cancelling take constant time, whatever their number.
///
/// Never early; late by at most one slot. A pure structure: the loop tells it the time.
struct TimerWheel {
    static let tickNanoseconds: Int64 = 8_000_000
    private static let slotCount = 1024
    private var slots: [LoopTimer?]
    /// One bit for each slot that holds timers.
    private var occupied: [UInt64]
    /// The first tick not yet looked at.
    private var current: Int64
    private(set) var count = 0

    init(now: MonotonicTime) {
        self.slots = Array(repeating: nil, count: Self.slotCount)
        self.occupied = Array(repeating: 0, count: Self.slotCount / 64)
        self.current = now.nanoseconds / Self.tickNanoseconds
    }

    /// Arms or moves a timer.
    mutating func arm(_ timer: LoopTimer, at deadline: MonotonicTime) {
        let later = timer.slot >= 0 && deadline.nanoseconds >= timer.tick * Self.tickNanoseconds
        timer.deadline = deadline
        if later { return }
        if timer.slot >= 0 { self.unlink(timer) }
        self.link(timer, notBefore: self.current)
    }

    /// Forgets the deadline; the place in the wheel is given up when its tick comes.
    mutating func cancel(_ timer: LoopTimer) {
        timer.deadline = MonotonicTime(nanoseconds: .max)
    }

    /// Takes a timer out at once, so that the wheel holds no reference to it.
    mutating func remove(_ timer: LoopTimer) {
        timer.deadline = MonotonicTime(nanoseconds: .max)
        if timer.slot >= 0 { self.unlink(timer) }
    }

    /// - Parameter first: the earliest tick to take, at most one after `current`.
    private mutating func link(_ timer: LoopTimer, notBefore first: Int64) {
        // Rounded up, so that a timer never fires early.
        let wanted = (timer.deadline.nanoseconds &+ Self.tickNanoseconds - 1) / Self.tickNanoseconds
        // At most one round ahead of `current`: a tick further on would share the slot that is being emptied.
        timer.tick = min(max(wanted, first), self.current + Int64(Self.slotCount) - 1)
        let slot = Int(timer.tick % Int64(Self.slotCount))
        timer.slot = slot
        timer.next = self.slots[slot]
        timer.next?.previous = timer
        timer.previous = nil
        self.slots[slot] = timer
        self.occupied[slot / 64] |= 1 << UInt64(slot % 64)
        self.count += 1
    }

    private mutating func unlink(_ timer: LoopTimer) {
        let slot = timer.slot
        timer.next?.previous = timer.previous
        if let previous = timer.previous {
            previous.next = timer.next
        } else {
            self.slots[slot] = timer.next
            if timer.next == nil { self.occupied[slot / 64] &= ~(1 << UInt64(slot % 64)) }
        }
        timer.next = nil
        timer.previous = nil
        timer.slot = -1
        self.count -= 1
    }

    /// Takes out one timer that is due, or nil; call until nil.
    mutating func popDue(now: MonotonicTime) -> LoopTimer? {
        let target = now.nanoseconds / Self.tickNanoseconds
        while self.count > 0, self.current <= target {
            let slot = Int(self.current % Int64(Self.slotCount))
            while let timer = self.slots[slot] {
                self.unlink(timer)
                if timer.deadline <= now { return timer }
                // Moved later since it was armed, or further away than the wheel is round: put back where it belongs.
                if timer.deadline.nanoseconds != .max { self.link(timer, notBefore: self.current + 1) }
            }
            self.current += 1
        }
        if self.count == 0 { self.current = max(self.current, target) }
        return nil
    }

    /// When the loop has to look again, or nil when nothing is armed.
    func nextWake() -> MonotonicTime? {
        guard self.count > 0 else { return nil }
        let start = Int(self.current % Int64(Self.slotCount))
        var distance = 0
        while distance < Self.slotCount {
            let slot = (start + distance) % Self.slotCount
            let word = self.occupied[slot / 64] >> UInt64(slot % 64)
            if word != 0 {
                let ahead = Int64(distance + word.trailingZeroBitCount)
                return MonotonicTime(nanoseconds: (self.current + ahead) * Self.tickNanoseconds)
            }
            distance += 64 - slot % 64
        }
        return nil
    }
}
