import CCurl
import GatewayTypes

/// Why a call upstream gave no complete answer.
package enum HTTPClientFailure: String, Error, Sendable, CaseIterable, MetricLabel {
    /// The name did not resolve, or nobody listens.
    case unreachable
    /// No connection within the connect timeout.
    case connectTimeout = "connect_timeout"
    /// The whole call took longer than it may.
    case timeout
    case tls
    /// The connection broke before the answer was complete, or the answer's framing is faulty.
    case broken
    /// The answer's head is larger than the client takes.
    case headTooLarge = "head_too_large"
    /// The caller cancelled, or refused a piece of the answer.
    case cancelled
    /// The content coding could not be undone.
    case coding
    /// The client itself could not make the call.
    case unusable

    package var metricLabel: String { self.rawValue }

    /// - Parameter connected: whether the connection stood when the time ran out.
    init(_ code: CURLcode, connected: Bool) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: self = .unreachable
        case CURLE_OPERATION_TIMEDOUT: self = connected ? .timeout : .connectTimeout
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
            self = .tls
        case CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK: self = .cancelled
        case CURLE_BAD_CONTENT_ENCODING: self = .coding
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT:
            self = .unusable
        // `CURLE_UNSUPPORTED_PROTOCOL` among them: what came back was not HTTP at all.
        default: self = .broken
        }
    }
}
