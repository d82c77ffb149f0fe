import GatewayTypes

/// The key of an account inside one tenant, with its hash computed once.
struct AccountKey: Hashable, TableKey {
    let scope: LimitScope
    let id: ByteString
    let spread: UInt64

    init(_ scope: LimitScope, _ id: ByteString) {
        self.scope = scope
        self.id = id
        var hasher = Hasher()
        hasher.combine(id)
        // Seeded for the process, so that nobody can choose ids that fall on one place.
        let hash = UInt64(truncatingIfNeeded: hasher.finalize())
        self.spread = scope == .subject ? hash : hash ^ 0x5555_5555_5555_5555
    }

    func hash(into hasher: inout Hasher) { hasher.combine(self.spread) }

    static func == (left: Self, right: Self) -> Bool {
        left.spread == right.spread && left.scope == right.scope && left.id.hasSameBytes(as: right.id)
    }
}

extension ByteString {
    /// Equality by words instead of bytes.
    func hasSameBytes(as other: ByteString) -> Bool {
        let same = self.utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                Self.areSame(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
        return (same ?? nil) ?? (self == other)
    }

    private static func areSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        var index = 0
        while left.count &- index >= 8 {
            let same =
                left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                == right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard same else { return false }
            index &+= 8
        }
        while index < left.count {
            guard left[index] == right[index] else { return false }
            index &+= 1
        }
        return true
    }
}

/// The counters of one holder: a subject, a network address or the tenant itself.
///
/// Guarded by the lock of its shard, under which no access overlaps another: checking that at every field would cost
/// more than counting does.
final class Account {
    let key: AccountKey
    @exclusivity(unchecked) var minute = MinuteWindow()
    @exclusivity(unchecked) var tokens = DayCounter()
    /// Asks that hold a lease now.
    @exclusivity(unchecked) var running = 0
    /// Asks that count here and are not settled yet; they still have something to correct.
    @exclusivity(unchecked) var unsettled = 0
    /// Asks admitted up to this number reserved nothing in the token counter any more: it was reset after them.
    @exclusivity(unchecked) var resetAfter: UInt64 = 0
    /// Where the sweep finds it.
    @exclusivity(unchecked) var position = 0

    init(key: AccountKey) { self.key = key }

    /// What stands against a limit of this kind. Forgets admissions that have left the minute.
    func used(_ kind: LimitKind, at moment: Moment) -> Int {
        switch kind {
        case .requestsPerMinute:
            self.minute.expire(at: moment.monotonic)
            return self.minute.count
        case .tokensPerDay: return self.tokens.day(moment.day.number).used
        case .concurrentRequests: return self.running
        }
    }

    /// Nothing would be lost by forgetting this account.
    func isIdle(at now: Int64, days: (Int, Int)) -> Bool {
        self.minute.expire(at: now)
        return self.minute.count == 0 && self.unsettled == 0 && self.tokens.isIdle(days)
    }
}

/// The instants one operation works with.
struct Moment {
    /// Nanoseconds of the monotonic clock, never falling within a shard; minutes and leases run on it, so that turning
    /// the calendar clock cannot shorten or lengthen them.
    var monotonic: Int64
    var wall: WallTime
    var day: LocalDay
}
