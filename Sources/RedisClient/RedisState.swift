/// How a client stands, for metrics and readiness.
package struct RedisState: Hashable, Sendable {
    /// Whether a call would be sent now.
    package var isConnected = false
    /// Why not, as far as is known.
    package var lastFailure: RedisFailure?
    /// Connections that have come about.
    package var connections = 0
    /// Calls without an answer yet.
    package var openCalls = 0
    /// Calls that were sent to another node than thought at first.
    package var redirections = 0
}
