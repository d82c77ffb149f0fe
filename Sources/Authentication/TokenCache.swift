internal import GatewayTypes
internal import JOSE

/// Which keys verified a token.
struct KeyStamp {
    /// The issuer's place.
    var place: Int
    /// Of its slot.
    var generation: UInt64

    /// Whether those keys are still the issuer's.
    func stands(in keys: [KeySlot]) -> Bool {
        keys.indices.contains(self.place) && keys[self.place].generation == self.generation
    }
}

/// Principals of tokens that were verified, found again by the SHA-256 of the whole token.
///
/// One for each event loop; not thread-safe. Bounded, dropping what was not used for longest. Failures are never kept.
package final class TokenCache {
    private struct Slot {
        var digest: SHA256Digest
        var principal: Principal
        var stamp: KeyStamp
        /// The token's end with leeway, or its greatest age.
        var validUntil: WallTime
        var older: Int
        var newer: Int
    }

    /// Most tokens kept.
    package let capacity: Int
    private let hasher = SHA256Hasher()
    private var generation: UInt64 = 0
    private var places: [SHA256Digest: Int] = [:]
    private var slots: [Slot] = []
    /// The least and the most recently used; -1 when empty.
    private var oldest = -1
    private var newest = -1

    /// - Parameter capacity: tokens kept; 0 keeps none.
    package init(capacity: Int = 8192) { self.capacity = max(0, capacity) }

    /// Tokens kept now.
    package var count: Int { self.slots.count }

    func digest(of token: Span<UInt8>) -> SHA256Digest { self.hasher.digest(of: token) }

    /// Drops everything that was verified under another configuration.
    func enter(_ generation: UInt64) {
        guard generation != self.generation else { return }
        self.generation = generation
        self.places.removeAll(keepingCapacity: true)
        self.slots.removeAll(keepingCapacity: true)
        self.oldest = -1
        self.newest = -1
    }

    /// - Parameter keys: the slots that stamps refer to; what other keys have verified is dropped.
    func find(_ digest: SHA256Digest, now: WallTime, keys: [KeySlot]) -> Principal? {
        guard let place = self.places[digest] else { return nil }
        guard now < self.slots[place].validUntil, self.slots[place].stamp.stands(in: keys) else {
            self.remove(place)
            return nil
        }
        if place != self.newest {
            self.unlink(place)
            self.linkAsNewest(place)
        }
        return self.slots[place].principal
    }

    /// - Parameters:
    ///   - stamp: of the keys as they were before the token was verified.
    ///   - generation: the one that held before.
    func insert(
        _ principal: Principal, for digest: SHA256Digest, validUntil: WallTime, stamp: KeyStamp, generation: UInt64
    ) {
        guard self.capacity > 0, generation == self.generation, self.places[digest] == nil else { return }
        if self.slots.count >= self.capacity { self.remove(self.oldest) }
        let place = self.slots.count
        self.slots.append(
            Slot(
                digest: digest, principal: principal, stamp: stamp, validUntil: validUntil, older: -1, newer: -1))
        self.places[digest] = place
        self.linkAsNewest(place)
    }

    /// Takes a slot out and moves the last one into its place.
    private func remove(_ place: Int) {
        self.unlink(place)
        self.places[self.slots[place].digest] = nil
        let last = self.slots.count - 1
        if place != last {
            let moved = self.slots[last]
            self.slots[place] = moved
            self.places[moved.digest] = place
            if moved.older >= 0 { self.slots[moved.older].newer = place } else { self.oldest = place }
            if moved.newer >= 0 { self.slots[moved.newer].older = place } else { self.newest = place }
        }
        self.slots.removeLast()
    }

    private func unlink(_ place: Int) {
        let (older, newer) = (self.slots[place].older, self.slots[place].newer)
        if older >= 0 { self.slots[older].newer = newer } else { self.oldest = newer }
        if newer >= 0 { self.slots[newer].older = older } else { self.newest = older }
    }

    private func linkAsNewest(_ place: Int) {
        self.slots[place].older = self.newest
        self.slots[place].newer = -1
        if self.newest >= 0 { self.slots[self.newest].newer = place } else { self.oldest = place }
        self.newest = place
    }
}
