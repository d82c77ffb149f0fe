package import GatewayTypes
import Synchronization

/// Keys of one process alone. Bounded: a full book lets the oldest finished key of the tenant go.
package final class MemoryKeyBook: KeyBook {
    private struct Entry {
        var record: KeyRecord
        var expiresAt: MonotonicTime
        /// Tells this entry from an earlier one with the same key.
        var number: UInt64
    }

    /// The keys of one tenant.
    private struct Shelf {
        var entries: [ByteString: Entry] = [:]
        /// Every entry in the order of coming, and such as are gone already.
        var order: [(digest: ByteString, number: UInt64)] = []

        /// Keys that were let go of leave their places behind, which must not pile up.
        mutating func tidy() {
            guard self.order.count > 2 * self.entries.count + 64 else { return }
            let entries = self.entries
            self.order.removeAll { entries[$0.digest]?.number != $0.number }
        }
    }

    private struct State {
        var shelves: [TenantID: Shelf] = [:]
        var nextNumber: UInt64 = 0
    }

    private let clock: (any GatewayTypes.Clock)?
    private let mostOfTenant: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - clock: nil lets no key expire before room is needed.
    ///   - mostOfTenant: keys that a tenant may have.
    package init(clock: (any GatewayTypes.Clock)? = nil, mostOfTenant: Int = 32_768) {
        self.clock = clock
        self.mostOfTenant = mostOfTenant
    }

    /// Keys held now.
    package var count: Int { self.state.withLock { $0.shelves.values.reduce(0) { $0 + $1.entries.count } } }

    /// Places in the order of coming, those of keys that are gone among them.
    var places: Int { self.state.withLock { $0.shelves.values.reduce(0) { $0 + $1.order.count } } }

    private var now: MonotonicTime { self.clock?.monotonicTime() ?? MonotonicTime(nanoseconds: 0) }

    package func claim(_ key: KeyName, for record: KeyRecord, lifetime: TimeSpan) -> KeyClaim {
        let now = self.now
        return self.state.withLock { state in
            var shelf = state.shelves.removeValue(forKey: key.tenant) ?? Shelf()
            defer { state.shelves[key.tenant] = shelf }
            if let entry = shelf.entries[key.digest], entry.expiresAt > now {
                return entry.record.question == record.question ? .mine : .taken(entry.record)
            }
            shelf.tidy()
            guard self.makeRoom(in: &shelf, at: now) else { return .full }
            shelf.entries[key.digest] = Entry(record: record, expiresAt: now + lifetime, number: state.nextNumber)
            shelf.order.append((key.digest, state.nextNumber))
            state.nextNumber &+= 1
            return .mine
        }
    }

    package func finish(_ key: KeyName, _ record: KeyRecord, lifetime: TimeSpan) {
        let end = self.now + lifetime
        self.state.withLock { state in
            guard state.shelves[key.tenant]?.entries[key.digest]?.record.question == record.question else { return }
            state.shelves[key.tenant]?.entries[key.digest]?.record.isFinished = true
            state.shelves[key.tenant]?.entries[key.digest]?.expiresAt = end
        }
    }

    package func release(_ key: KeyName, _ record: KeyRecord) {
        self.state.withLock { state in
            guard state.shelves[key.tenant]?.entries[key.digest]?.record.question == record.question else { return }
            state.shelves[key.tenant]?.entries[key.digest] = nil
        }
    }

    /// Lets what has expired go from the front, and the oldest finished when that is not enough.
    private func makeRoom(in shelf: inout Shelf, at now: MonotonicTime) -> Bool {
        let isFull = shelf.entries.count >= self.mostOfTenant
        var gone = 0
        for (digest, number) in shelf.order {
            if let entry = shelf.entries[digest], entry.number == number {
                guard entry.expiresAt <= now else { break }
                shelf.entries[digest] = nil
            }
            gone += 1
        }
        if gone > 0 { shelf.order.removeFirst(gone) }
        guard isFull, shelf.entries.count >= self.mostOfTenant else { return true }
        // An eighth at once, so that a full book is not walked through for every ask.
        let surplus = max(1, self.mostOfTenant / 8)
        var removed = 0
        shelf.order.removeAll { digest, number in
            guard let entry = shelf.entries[digest], entry.number == number else { return true }
            guard removed < surplus, entry.record.isFinished else { return false }
            shelf.entries[digest] = nil
            removed += 1
            return true
        }
        return removed > 0
    }
}
