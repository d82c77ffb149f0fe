/// Every way an ask can fail, as clients, metrics and records name it. `Gateway/ErrorAnswer.swift` turns each into a
/// status and a body.
package enum ErrorCode: String, Sendable, CaseIterable, MetricLabel {
    case invalidRequest = "invalid_request"
    case unknownTask = "unknown_task"
    case textTooShort = "text_too_short"
    case modelNotSelectable = "model_not_selectable"
    case unauthenticated
    case taskNotInPlan = "task_not_in_plan"
    case subjectBlocked = "subject_blocked"
    case insufficientScope = "insufficient_scope"
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case requestTimeout = "request_timeout"
    case unsupportedMediaType = "unsupported_media_type"
    case headersTooLarge = "headers_too_large"
    case textTooLong = "text_too_long"
    case bodyTooLarge = "body_too_large"
    case guestSessionClaimed = "guest_session_claimed"
    case questionCancelled = "question_cancelled"
    case questionGone = "question_gone"
    case instanceUnreachable = "instance_unreachable"
    case idempotencyInProgress = "idempotency_in_progress"
    case idempotencyMismatch = "idempotency_mismatch"
    case idempotencyFinished = "idempotency_finished"
    case tooManyFailedAuthentications = "too_many_failed_authentications"
    case requestsPerMinuteExceeded = "requests_per_minute_exceeded"
    case tokensPerDayExceeded = "tokens_per_day_exceeded"
    case concurrentRequestsExceeded = "concurrent_requests_exceeded"
    case providerFailed = "provider_failed"
    case providerEmptyAnswer = "provider_empty_answer"
    case providerTimeout = "provider_timeout"
    case providerOverloaded = "provider_overloaded"
    case quotaStoreUnavailable = "quota_store_unavailable"
    case identityUnavailable = "identity_unavailable"
    case overloaded
    case draining
    case internalError = "internal"

    package var metricLabel: String { self.rawValue }

    /// The code of an ask refused by a limit of this kind.
    package init(exceeded kind: LimitKind) {
        switch kind {
        case .requestsPerMinute: self = .requestsPerMinuteExceeded
        case .tokensPerDay: self = .tokensPerDayExceeded
        case .concurrentRequests: self = .concurrentRequestsExceeded
        }
    }
}

/// How an ask ended.
package enum Outcome: Hashable, Sendable, MetricLabel {
    case answered
    /// The client went away before the end.
    case clientGone
    case failed(ErrorCode)

    package var metricLabel: String {
        switch self {
        case .answered: "answered"
        case .clientGone: "client_gone"
        case .failed(let code): code.rawValue
        }
    }
}
