package import GatewayTypes

/// The living leases of one loop, gathered so that they are renewed together. A timer drives it every
/// `Lease.renewal`.
package struct LeaseKeeper: Sendable {
    private var entries: [RequestID: (lease: Lease, since: MonotonicTime)] = [:]
    /// Asks that run on though the store does not know their lease any more, and since when it knew it last.
    private var orphans: [RequestID: MonotonicTime] = [:]

    package init() {}

    package var count: Int { self.entries.count }

    package mutating func granted(_ lease: Lease, at now: MonotonicTime) {
        self.entries[lease.request] = (lease, now)
    }

    /// The ask has ended. Answers since when its lease has not been renewed; nil for an ask that is not kept.
    @discardableResult
    package mutating func ended(_ request: RequestID) -> MonotonicTime? {
        let entry = self.entries.removeValue(forKey: request)
        return entry?.since ?? self.orphans.removeValue(forKey: request)
    }

    /// Leases that would be older than two renewals at the next call. Most asks end before their first renewal and
    /// never appear here.
    package func due(at now: MonotonicTime) -> [Lease] {
        // A little less than the period, since timers do not fire to the nanosecond: at worst a lease is 19 s old.
        let age = Lease.renewal - .seconds(1)
        return self.entries.values.compactMap { now - $0.since >= age ? $0.lease : nil }
    }

    /// The store has renewed these, but for the ones it does not know any more: those go on without a lease.
    /// - Parameter lost: as `QuotaStore.renew` answered.
    package mutating func renewed(_ leases: [Lease], lost: [RequestID], at now: MonotonicTime) {
        for request in lost {
            if let entry = self.entries.removeValue(forKey: request) { self.orphans[request] = entry.since }
        }
        for lease in leases where self.entries[lease.request] != nil { self.entries[lease.request] = (lease, now) }
    }
}
