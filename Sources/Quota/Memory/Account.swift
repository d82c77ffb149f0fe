import GatewayTypes

/// The key of an account inside one tenant, with its hash computed once.
struct AccountKey: Hashable, StripedKey {
    let scope: LimitScope
    let id: ByteString
    private let hash: Int

    init(_ scope: LimitScope, _ id: ByteString) {
        self.scope = scope
        self.id = id
        var hasher = Hasher()
        hasher.combine(scope)
        hasher.combine(id)
        self.hash = hasher.finalize()
    }

    var stripe: Int { self.hash }

    func hash(into hasher: inout Hasher) { hasher.combine(self.hash) }

    static func == (left: Self, right: Self) -> Bool {
        left.hash == right.hash && left.scope == right.scope && left.id == right.id
    }
}

/// The counters of one holder: a subject, a network address or the tenant itself. Guarded by the lock of its shard.
final class Account {
    let key: AccountKey
    var minute = MinuteWindow()
    var tokens = DayCounter()
    /// Asks that hold a lease now.
    var running = 0
    /// Asks that count here and are not settled yet; they still have something to correct.
    var unsettled = 0
    /// Asks admitted up to this number reserved nothing in the token counter any more: it was reset after them.
    var resetAfter: UInt64 = 0
    /// Where the sweep finds it.
    var position = 0

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
