import GatewayTypes

/// Why a store could not answer. Says nothing about any limit: it is never read as permission or as refusal.
package enum QuotaFailure: Error, Hashable, Sendable, CaseIterable, MetricLabel {
    /// No answer within the time allowed. Whether the store has acted is unknown.
    case timedOut
    /// There is no connection, so the store was not asked.
    case unreachable
    /// The connection broke. Whether the store has acted is unknown.
    case disconnected
    /// Earlier failures have opened the breaker: the store was not asked.
    case breakerOpen
    /// Too many commands are waiting for the store: it was not asked.
    case overloaded
    /// The store answers, but does not serve yet or any more: loading, failing over, read-only, out of memory.
    case notServing
    /// The store refuses our credentials or permissions.
    case notPermitted
    /// An answer that does not fit the script: version mismatch or a foreign server.
    case malformedAnswer

    package var metricLabel: String {
        switch self {
        case .timedOut: "timed_out"
        case .unreachable: "unreachable"
        case .disconnected: "disconnected"
        case .breakerOpen: "breaker_open"
        case .overloaded: "overloaded"
        case .notServing: "not_serving"
        case .notPermitted: "not_permitted"
        case .malformedAnswer: "malformed_answer"
        }
    }

    /// The store may have written the admission before the failure, so it has to be taken back.
    package var mayHaveActed: Bool {
        switch self {
        case .timedOut, .disconnected, .malformedAnswer: true
        case .unreachable, .breakerOpen, .overloaded, .notServing, .notPermitted: false
        }
    }
}
