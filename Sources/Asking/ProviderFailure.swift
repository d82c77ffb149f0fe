package import GatewayTypes

/// Why a provider gave no whole answer, in one vocabulary for all dialects.
package enum ProviderFailure: Error, Hashable, Sendable, MetricLabel {
    /// Nobody listens, or the name does not resolve.
    case unreachable
    case connectTimeout
    /// Connected, and then nothing for too long.
    case firstByteTimeout
    /// The answer stalled in the middle.
    case idleTimeout
    /// The whole ask took too long.
    case totalTimeout
    case tls
    /// The answer broke off before its end.
    case incomplete
    /// The provider refuses our key or account (401, 402, 403): ours to mend, never the caller's.
    case credentialsRefused
    /// The provider's own limit (429), with the wait it asked for.
    case rateLimited(retryAfterSeconds: Int?)
    /// Overload (503, 529), with the wait it asked for.
    case overloaded(retryAfterSeconds: Int?)
    /// Another 5xx.
    case serverError
    /// Our request was refused (other 4xx).
    case requestRefused
    /// The words were too many for this model (413, or a 400 that says so).
    case contextTooLong
    /// The provider has no such model or address (404, 405, 410).
    case notOffered
    /// Not the answer of a model: wrong media type, not JSON, members missing, larger than an answer may be.
    case unusableAnswer
    /// An error object inside a stream that had begun well.
    case errorInStream
    /// A complete answer without any text.
    case emptyAnswer
    /// Every call that may be open to this provider is open.
    case tooManyCalls
    /// Not asked: it failed too often of late.
    case breakerOpen(retryAfterSeconds: Int)
    /// Not asked: every key is over its limit.
    case keysSetAside(retryAfterSeconds: Int)
    /// Not asked: every place is taken, and every place in the queue.
    case queueFull
    /// Not asked: no place came free in time.
    case queueTimeout
    /// The gateway's own fault: no such provider, no memory.
    case unusable

    package var metricLabel: String {
        switch self {
        case .unreachable: "unreachable"
        case .connectTimeout: "connect_timeout"
        case .firstByteTimeout: "first_byte_timeout"
        case .idleTimeout: "idle_timeout"
        case .totalTimeout: "total_timeout"
        case .tls: "tls"
        case .incomplete: "incomplete"
        case .credentialsRefused: "credentials_refused"
        case .rateLimited: "rate_limited"
        case .overloaded: "overloaded"
        case .serverError: "server_error"
        case .requestRefused: "request_refused"
        case .contextTooLong: "context_too_long"
        case .notOffered: "not_offered"
        case .unusableAnswer: "unusable_answer"
        case .errorInStream: "error_in_stream"
        case .emptyAnswer: "empty_answer"
        case .tooManyCalls: "too_many_calls"
        case .breakerOpen: "breaker_open"
        case .keysSetAside: "keys_set_aside"
        case .queueFull: "queue_full"
        case .queueTimeout: "queue_timeout"
        case .unusable: "unusable"
        }
    }

    /// What the caller is told. A provider's 401, 403 or 429 is never the caller's.
    package var code: ErrorCode {
        switch self {
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout: .providerTimeout
        case .rateLimited, .overloaded, .tooManyCalls, .breakerOpen, .keysSetAside, .queueFull, .queueTimeout:
            .providerOverloaded
        case .emptyAnswer: .providerEmptyAnswer
        case .unreachable, .tls, .incomplete, .credentialsRefused, .serverError, .requestRefused, .unusableAnswer,
            .errorInStream, .contextTooLong, .notOffered:
            .providerFailed
        case .unusable: .internalError
        }
    }

    /// The provider's wait, when it gave a usable one.
    package var retryAfterSeconds: Int? {
        switch self {
        case .rateLimited(let seconds), .overloaded(let seconds): seconds
        case .breakerOpen(let seconds), .keysSetAside(let seconds): seconds
        default: nil
        }
    }
}
