import GatewayTypes

/// Settlements that the store could not take yet, in their order; bounded. A pure value: its owner asks and tells.
struct SettlementQueue {
    struct Entry {
        var settlement: Settlement
        /// When the store may first have acted on it without our knowing.
        var mayHaveActedSince: MonotonicTime?
    }

    /// Entries at most; what comes later is dropped.
    let capacity: Int
    private var entries = Queue<Entry>()
    /// Entries taken out and on their way; they count against the capacity, so that they can always come back.
    private var inFlight = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Waiting and on their way.
    var count: Int { self.entries.count &+ self.inFlight }
    var hasWaiting: Bool { self.entries.count > 0 }

    /// False when it is full: then the entry is gone.
    mutating func append(_ entry: Entry) -> Bool {
        guard self.count < self.capacity else { return false }
        self.entries.append(entry)
        return true
    }

    /// The next entry to send; its outcome has to be told.
    mutating func take(at now: MonotonicTime) -> Entry? {
        guard var entry = self.entries.first else { return nil }
        self.entries.popFirst()
        self.inFlight &+= 1
        // The store forgets an id after a while, and would charge the ask a second time.
        if let since = entry.mayHaveActedSince, now - since > Self.surelyRemembered {
            entry.settlement.chargesUnrecorded = false
        }
        entry.settlement.doubt(at: now)
        return entry
    }

    /// An entry that was taken and not sent goes behind the others.
    mutating func putBack(_ entry: Entry) {
        self.done()
        self.entries.append(entry)
    }

    mutating func done() { self.inFlight = max(0, self.inFlight &- 1) }

    mutating func failed(_ entry: Entry, _ failure: QuotaFailure, at now: MonotonicTime) {
        var entry = entry
        entry.note(failure, at: now)
        self.putBack(entry)
    }

    /// A minute less than ids are remembered.
    static let surelyRemembered = TimeSpan.seconds(240)
}

extension SettlementQueue.Entry {
    mutating func note(_ failure: QuotaFailure, at now: MonotonicTime) {
        if failure.mayHaveActed && self.mayHaveActedSince == nil { self.mayHaveActedSince = now }
    }
}
