package import GatewayTypes
import Synchronization

/// How one loop's store is doing; written on its loop, read from any thread by metrics and readiness.
package struct StoreHealth: Hashable, Sendable {
    /// The store did not answer.
    package struct Degradation: Hashable, Sendable {
        /// Why the latest ask failed.
        package var reason: QuotaFailure
        package var since: WallTime
        /// What exactly stands in the way and where, as far as is known.
        package var trouble: Trouble?
    }

    /// What operators have to mend. The detail is of a closed set.
    package struct Trouble: Hashable, Sendable, MetricLabel {
        /// Host and port of the server.
        package var address: String
        package var metricLabel: String
    }

    /// Nil while the store answers.
    package var degraded: Degradation?
    /// Settlements that wait for the store.
    package var waitingSettlements = 0
    /// Settlements given up: their asks stay charged as reserved. By itself a lease ends within 30 seconds.
    package var droppedSettlements = 0
    /// Commands that the store did not answer, by cause.
    package var failures: [QuotaFailure: Int] = [:]
    /// Commands that it answered.
    package var answers = 0

    package init() {}
}

/// The process' ear for what operators do on other instances; shared by its loops.
///
/// Whoever subscribes tells it when the subscription stands, when it is lost, and of every message. While it does not
/// stand nothing is remembered beside the store, and what was remembered is void.
package final class ChangeFeed: Sendable {
    /// Where changes are published; the message names the tenant and may be ignored.
    package static let channel: ByteString = "ag1:changes"

    private let count = Atomic<UInt64>(0)
    private let stands = Atomic(false)

    package init() {}

    package var generation: UInt64 { self.count.load(ordering: .acquiring) }
    package var isEstablished: Bool { self.stands.load(ordering: .acquiring) }

    package func changed() { self.count.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    /// Changes may have been missed since it last stood.
    package func established() {
        self.changed()
        self.stands.store(true, ordering: .releasing)
    }

    package func lost() {
        self.stands.store(false, ordering: .releasing)
        self.changed()
    }
}
