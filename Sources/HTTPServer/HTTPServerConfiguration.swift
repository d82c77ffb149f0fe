package import GatewayTypes
package import HTTPCodec

/// Bounds and times of a listener; all of them absolute, not from byte to byte.
package struct HTTPServerConfiguration: Sendable {
    package var limits = HTTPLimits()
    /// From the first byte (or the connection's begin) to the end of the head.
    package var headTimeout = TimeSpan.seconds(10)
    /// Between two requests of a connection.
    package var idleTimeout = TimeSpan.seconds(60)
    /// How long a body may be as slow as it likes.
    package var bodyGrace = TimeSpan.seconds(5)
    /// Slowest average rate of a body after its grace, in bytes a second.
    package var bodyMinimumRate = 500
    /// How long a peer may take nothing of what is held for it.
    package var writeTimeout = TimeSpan.seconds(30)
    /// How long a closing connection reads on, so that the answer is not destroyed by a reset.
    package var lingerTimeout = TimeSpan.seconds(1)
    /// Bytes of an unread body that are read and thrown away to keep a connection.
    package var drainedBodyBytes = 65536
    /// Bytes taken in before the request in work has been answered.
    package var readAheadBytes = 65536
    /// Open connections in all loops; above, new ones wait in the kernel.
    package var maxConnections = 20000

    package init() {}
}

/// Why a request could not be read.
package enum HTTPServerFailure: Error, Sendable, MetricLabel {
    /// Head or body breaks a rule or a limit.
    case malformed(HTTPFailure)
    /// Head or body came too slowly.
    case timeout
    /// The body is, or is announced as, larger than the route takes.
    case bodyTooLarge
    /// The body is encoded, with gzip for example, and nothing here decodes bodies (RFC 9110 §15.5.16).
    case contentCoding
    /// The client went away.
    case clientGone

    package var status: Int {
        switch self {
        case .malformed(let failure): failure.status
        case .timeout: 408
        case .bodyTooLarge: 413
        case .contentCoding: 415
        case .clientGone: 499
        }
    }

    package var metricLabel: String {
        switch self {
        case .malformed(let failure): failure.metricLabel
        case .timeout: "timeout"
        case .bodyTooLarge: "body_too_large"
        case .contentCoding: "content_coding"
        case .clientGone: "client_gone"
        }
    }
}

/// Answers requests. Called on the loop of the connection; an exchange it leaves unanswered is closed.
package protocol HTTPHandler: Sendable {
    func handle(_ exchange: Exchange) async
    /// The body for a request that could not be read. On the loop.
    ///
    /// - Parameter fields: takes header lines by `MessageWriter`, the media type among them.
    func answer(to failure: HTTPServerFailure, fields: inout [UInt8]) -> [UInt8]
}
