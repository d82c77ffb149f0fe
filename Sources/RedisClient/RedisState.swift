/// How a client stands, for metrics and readiness.
package struct RedisState: Hashable, Sendable {
    /// Whether a call would be sent now.
    package var isConnected = false
    /// Why not, as far as is known.
    package var lastFailure: RedisFailure?
    /// What the last thing was that went wrong; nil once a connection has come about since.
    package var trouble: RedisTrouble?
    /// Connections that have come about.
    package var connections = 0
    /// Calls without an answer yet.
    package var openCalls = 0
    /// Calls that were sent to another node than thought at first.
    package var redirections = 0

    mutating func connected() {
        self.connections += 1
        self.lastFailure = nil
        self.trouble = nil
    }

    mutating func failed(_ failure: RedisFailure, _ trouble: RedisTrouble?) {
        self.lastFailure = failure
        self.trouble = trouble
    }
}
