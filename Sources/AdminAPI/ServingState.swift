package import Gateway
package import Quota
import Synchronization

/// What `/readyz` says: whether traffic should be sent here, and why not.
package final class ServingState: Sendable {
    /// From start to stop.
    package enum Phase: String, Sendable {
        case starting
        case serving
        /// A stop was asked for; running answers end, no new ones should come.
        case draining
    }

    private let state = Mutex(Phase.starting)
    private let snapshots: SnapshotStore
    private let storeDegradation: @Sendable () -> StoreHealth.Degradation?

    /// - Parameter storeDegradation: why counters cannot be asked now; nil while they can.
    package init(
        snapshots: SnapshotStore, storeDegradation: @escaping @Sendable () -> StoreHealth.Degradation? = { nil }
    ) {
        self.snapshots = snapshots
        self.storeDegradation = storeDegradation
    }

    /// Told beside readiness and no obstacle to it: an instance that cannot count still does what its limits' stances
    /// say, and taking every instance out at once would help nobody.
    var degradation: StoreHealth.Degradation? { self.storeDegradation() }

    package var phase: Phase { self.state.withLock { $0 } }

    package func enter(_ phase: Phase) { self.state.withLock { $0 = phase } }

    /// Nil when ready, else the reason in one constant word or two.
    var obstacle: String? {
        switch self.phase {
        case .starting: "starting"
        case .draining: "draining"
        case .serving: self.snapshots.current.hasAllKeys ? nil : "waiting for keys of an issuer"
        }
    }
}
