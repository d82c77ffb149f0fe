package import Gateway
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

    package init(snapshots: SnapshotStore) { self.snapshots = snapshots }

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
