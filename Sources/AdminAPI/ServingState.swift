package import Gateway
import GatewayTypes
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
    private let isStoreAwaited: @Sendable () -> Bool
    private let storeDegradation: @Sendable () -> StoreHealth.Degradation?

    /// - Parameters:
    ///   - isStoreAwaited: whether the store's first answer has still to come.
    ///   - storeDegradation: why counters cannot be asked now; nil while they can.
    package init(
        snapshots: SnapshotStore, isStoreAwaited: @escaping @Sendable () -> Bool = { false },
        storeDegradation: @escaping @Sendable () -> StoreHealth.Degradation? = { nil }
    ) {
        self.snapshots = snapshots
        self.isStoreAwaited = isStoreAwaited
        self.storeDegradation = storeDegradation
    }

    /// Told beside readiness and, once the store has answered, no obstacle to it: an instance that cannot count still
    /// does what its limits' stances say, and taking every instance out at once would help nobody.
    var degradation: StoreHealth.Degradation? { self.storeDegradation() }

    package var phase: Phase { self.state.withLock { $0 } }

    package func enter(_ phase: Phase) { self.state.withLock { $0 = phase } }

    /// Those whose keys are waited for.
    var issuersWithoutKeys: [ByteString] { self.snapshots.current.issuersWithoutKeys }

    /// Nil when ready, else the reason in one constant word or two.
    var obstacle: String? {
        switch self.phase {
        case .starting: "starting"
        case .draining: "draining"
        case .serving:
            if !self.issuersWithoutKeys.isEmpty {
                "waiting for keys of an issuer"
            } else {
                self.isStoreAwaited() ? "waiting for the store" : nil
            }
        }
    }
}
