import GatewayTypes

/// The side of a code that does not depend on the ask.
struct ErrorFace: Sendable {
    /// What the client should do about it.
    enum Retry: Sendable {
        /// Waiting alone changes nothing, or nobody knows how long.
        case pointless
        /// The limit says how long.
        case limit
        /// So many seconds, unless something better is known.
        case after(Int)
    }

    let status: Int
    /// For the developer who reads the body; constant, English, nothing of the ask.
    let detail: StaticString
    var retry: Retry = .pointless
}

extension ErrorCode {
    /// The one place that gives a failure its status.
    var face: ErrorFace {
        switch self {
        case .invalidRequest: .init(status: 400, detail: "The request is malformed or a member has a wrong type.")
        case .unknownTask: .init(status: 400, detail: "No task or agent has this name.")
        case .textTooShort: .init(status: 400, detail: "The trimmed text has fewer characters than the task needs.")
        case .modelNotSelectable: .init(status: 400, detail: "The model is chosen by the server; leave it out.")
        case .unauthenticated: .init(status: 401, detail: "A valid access token is needed.")
        case .taskNotInPlan: .init(status: 403, detail: "The caller's plan does not include this task.")
        case .subjectBlocked: .init(status: 403, detail: "The caller is blocked.")
        case .insufficientScope: .init(status: 403, detail: "The access token lacks a scope that this route needs.")
        case .notFound: .init(status: 404, detail: "There is nothing here.")
        case .methodNotAllowed: .init(status: 405, detail: "The route does not take this method.")
        case .requestTimeout: .init(status: 408, detail: "The request did not arrive in time.")
        case .unsupportedMediaType: .init(status: 415, detail: "The body must be application/json, unencoded.")
        case .headersTooLarge: .init(status: 431, detail: "The request's fields are too large.")
        case .textTooLong: .init(status: 413, detail: "The trimmed text has more characters than the task takes.")
        case .bodyTooLarge: .init(status: 413, detail: "The body has more bytes than the route takes.")
        case .guestSessionClaimed:
            .init(status: 409, detail: "Another account has taken this guest session over.")
        case .questionCancelled: .init(status: 409, detail: "The question was cancelled.")
        case .questionGone: .init(status: 410, detail: "The answer is not kept, or the instance that held it is gone.")
        case .instanceUnreachable:
            .init(
                status: 503, detail: "The instance that holds the answer does not answer now; come again.",
                retry: .after(2))
        case .idempotencyInProgress:
            .init(status: 409, detail: "The ask with this Idempotency-Key is still running.", retry: .after(2))
        case .idempotencyMismatch:
            .init(status: 422, detail: "This Idempotency-Key was sent with another request before.")
        case .idempotencyFinished:
            .init(status: 410, detail: "The ask with this Idempotency-Key has ended, and its answer is not kept.")
        case .tooManyFailedAuthentications:
            .init(status: 429, detail: "Too many bad tokens came from this network.", retry: .after(60))
        case .requestsPerMinuteExceeded:
            .init(status: 429, detail: "Too many requests within 60 seconds.", retry: .limit)
        case .tokensPerDayExceeded: .init(status: 429, detail: "The day's tokens are used up.", retry: .limit)
        case .concurrentRequestsExceeded:
            .init(status: 429, detail: "Too many requests are running at the same time.", retry: .limit)
        case .providerFailed: .init(status: 502, detail: "The provider did not give a usable answer.")
        case .providerEmptyAnswer: .init(status: 502, detail: "The provider's answer holds no text.")
        case .providerTimeout: .init(status: 504, detail: "The provider did not answer in time.")
        case .providerOverloaded:
            .init(status: 503, detail: "The provider takes no further requests now.", retry: .after(5))
        case .quotaStoreUnavailable: .init(status: 503, detail: "Limits cannot be checked now.", retry: .after(1))
        case .identityUnavailable: .init(status: 503, detail: "Tokens cannot be checked now.", retry: .after(5))
        case .overloaded: .init(status: 503, detail: "The gateway takes no further requests now.", retry: .after(1))
        case .draining: .init(status: 503, detail: "This instance is stopping; ask again.", retry: .after(1))
        case .internalError: .init(status: 500, detail: "The gateway failed.")
        }
    }
}
