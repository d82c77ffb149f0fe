package import EventLoops
package import GatewayTypes
import Synchronization

/// Network addresses whose authentications have failed of late; one for the process, shared by its loops.
///
/// Each failure takes one of so many a minute, which come back one by one (GCRA). Bounded: two halves, the older of
/// which is forgotten when the newer is full, so that an attacker with many addresses costs no memory and locks nobody
/// out. Not shared between instances: each lets through so many by itself.
package final class FailedCallers: Sendable {
    /// Guarded by the lock around it. Values say when an address is as if nothing had failed.
    private struct State {
        var newer: [CallerAddressKey: MonotonicTime] = [:]
        var older: [CallerAddressKey: MonotonicTime] = [:]
    }

    private static let minute = TimeSpan.seconds(60)
    private let capacity: Int
    private let state = Mutex(State())
    /// Whether anything has ever failed: until then nobody waits for the lock.
    private let isUsed = Atomic(false)

    /// - Parameter capacity: addresses in each half.
    package init(capacity: Int = 8192) { self.capacity = max(1, capacity) }

    /// Addresses remembered.
    package var count: Int { self.state.withLock { $0.newer.count + $0.older.count } }

    /// Takes note of a failure.
    /// - Parameter limit: failures a minute; 0 for no limit.
    package func failed(_ address: PeerAddress, limit: Int, at now: MonotonicTime) {
        guard limit > 0 else { return }
        self.isUsed.store(true, ordering: .releasing)
        let cost = TimeSpan(nanoseconds: Self.minute.nanoseconds / Int64(limit))
        let key = address.callerKey
        self.state.withLock { state in
            let free = max(state.newer[key] ?? state.older[key] ?? now, now) + cost
            if state.newer[key] == nil, state.newer.count >= self.capacity {
                state.older = state.newer
                state.newer = [:]
            }
            state.newer[key] = free
        }
    }

    /// How long an address has to wait until one more of its tokens is looked at; nil when one may be now.
    package func wait(of address: PeerAddress, limit: Int, at now: MonotonicTime) -> TimeSpan? {
        guard limit > 0, self.isUsed.load(ordering: .acquiring) else { return nil }
        let key = address.callerKey
        let cost = TimeSpan(nanoseconds: Self.minute.nanoseconds / Int64(limit))
        return self.state.withLock { state in
            guard let free = state.newer[key] ?? state.older[key] else { return nil }
            let wait = free + cost - (now + Self.minute)
            // Rounding alone holds nobody up.
            return wait.nanoseconds > 1000 ? wait : nil
        }
    }
}
