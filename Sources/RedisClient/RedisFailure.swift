package import TLS

/// Why a call has no answer.
package enum RedisFailure: Error, Hashable, Sendable {
    /// No server could be reached, or none for these keys.
    case unreachable
    /// No answer within the call's time.
    case timedOut
    /// The connection broke after the call was sent.
    case connectionLost
    /// As many calls as allowed are under way; this one was not sent.
    case overloaded
    /// User, password or permissions are refused.
    case notPermitted
    case tls(TLSFailure)
    /// A server that is starting, failing over, a replica, or a cluster without quorum.
    case notServing
    /// Out of memory, or configured to refuse writes now.
    case refusesWrites
    /// What came is no RESP2 or passes its bounds.
    case malformedReply
    /// The sentinels answer, and know no such master.
    case unknownMaster
    /// No sentinel answers.
    case noSentinel
    /// Any other error of the server: a fault of ours.
    case server(RedisServerError)
    /// The client has ended.
    case stopped

    /// Whether the server may have done what was asked.
    package var mayHaveActed: Bool {
        switch self {
        case .timedOut, .connectionLost, .malformedReply: true
        default: false
        }
    }

    /// What this failure of a connection means for a call that was never sent over it.
    var ofUnsent: RedisFailure { self.mayHaveActed ? .unreachable : self }

    /// What this failure of a connection means for a call that was sent over it.
    var ofSent: RedisFailure { self == .malformedReply ? self : .connectionLost }

    /// A bounded name for metrics and logs.
    package var metricLabel: String {
        switch self {
        case .unreachable: "unreachable"
        case .timedOut: "timed_out"
        case .connectionLost: "connection_lost"
        case .overloaded: "overloaded"
        case .notPermitted: "not_permitted"
        case .tls(let failure): failure.metricLabel
        case .notServing: "not_serving"
        case .refusesWrites: "refuses_writes"
        case .malformedReply: "malformed_reply"
        case .unknownMaster: "unknown_master"
        case .noSentinel: "no_sentinel"
        case .server: "server_error"
        case .stopped: "stopped"
        }
    }
}
