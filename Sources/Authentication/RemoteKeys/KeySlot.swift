internal import JOSE
internal import Synchronization

/// The keys of one issuer, swapped whole; shared by all loops, and by all configurations that name the same source.
final class KeySlot: Sendable {
    private let keys: Mutex<KeySet?>
    private let counter: Atomic<UInt64>

    init(_ keys: KeySet?) {
        self.keys = Mutex(keys)
        self.counter = Atomic(Self.next())
    }

    var current: KeySet? { self.keys.withLock { $0 } }

    /// Changes with the keys, and is no other slot's: tells whether what was verified still stands. To be read before
    /// the keys.
    var generation: UInt64 { self.counter.load(ordering: .acquiring) }

    /// Whether the new set differs from the old.
    @discardableResult
    func replace(_ new: KeySet) -> Bool {
        let changed = self.keys.withLock { keys in
            if let digest = new.digest, digest == keys?.digest { return false }
            keys = new
            return true
        }
        if changed { self.counter.store(Self.next(), ordering: .releasing) }
        return changed
    }

    /// Leaves no key.
    func clear() {
        self.keys.withLock { $0 = nil }
        self.counter.store(Self.next(), ordering: .releasing)
    }

    private static func next() -> UInt64 { self.counters.wrappingAdd(1, ordering: .relaxed).newValue }

    private static let counters = Atomic<UInt64>(0)
}
