package import GatewayTypes
import HTTPCodec

/// What a failed ask is answered with: status, fields and body, in the format of its route and the client's language.
package struct ErrorAnswer: Sendable {
    package let code: ErrorCode
    /// The limits that refused the ask, the one with the longest wait first; empty for any other failure.
    package let limits: [LimitState]
    /// Seconds the client should wait, where somebody knows: a provider, the store.
    private let knownWait: Int?
    /// What exactly is wrong with the request, where the code's own words do not say it. Holds nothing of the text.
    let detail: String?
    /// The member that is wrong, for OpenAI's object; never what a client wrote.
    let parameter: String?
    /// The status, where the code's own does not fit.
    private let ownStatus: Int?
    /// Tells when a day of tokens ends; nil where the tenant's zone is not known.
    var dayTurn: DayTurn?

    /// - Parameters:
    ///   - retryAfterSeconds: how long to wait, for the codes that answer 503; nil takes the code's own.
    ///   - detail: names the member, the limit or the place that is wrong; nothing that the client wrote.
    ///   - parameter: the member alone, by the same rule.
    ///   - status: one of HTTP's own for what could not be read; nil takes the code's.
    package init(
        _ code: ErrorCode, retryAfterSeconds: Int? = nil, detail: String? = nil, parameter: String? = nil,
        status: Int? = nil
    ) {
        self.code = code
        self.ownStatus = status
        self.parameter = parameter
        self.detail = detail
        self.limits = []
        self.knownWait = retryAfterSeconds
    }

    /// An ask that limits refused.
    ///
    /// - Parameters:
    ///   - limit: the one with the longest wait; names the code.
    ///   - others: further limits that refused it too.
    package init(exceeded limit: LimitState, others: [LimitState] = []) {
        self.code = ErrorCode(exceeded: limit.limit.kind)
        self.limits = [limit] + others
        self.knownWait = nil
        self.ownStatus = nil
        self.detail = nil
        self.parameter = nil
    }

    /// The HTTP status. On OpenAI routes an unknown task is an unknown model, which OpenAI answers with 404; so is one
    /// that the plan lacks, as the list of models does not show it.
    package func status(in format: AnswerFormat) -> Int {
        self.isUnknownModel(in: format) ? 404 : self.ownStatus ?? self.code.face.status
    }

    /// The code as the body names it.
    func name(in format: AnswerFormat) -> String {
        self.isUnknownModel(in: format) ? "model_not_found" : self.code.rawValue
    }

    private func isUnknownModel(in format: AnswerFormat) -> Bool {
        format == .openAI && (self.code == .unknownTask || self.code == .taskNotInPlan)
    }

    /// Whole seconds for `Retry-After`, at least 1; nil where waiting is not what helps.
    package var retryAfterSeconds: Int? {
        switch self.code.face.retry {
        case .pointless: nil
        case .after(let seconds): max(self.knownWait ?? seconds, 1)
        case .limit: self.limitWait
        }
    }

    /// A minute's wait is exact. A running ask may end at any moment, so the wait for one is short. A day's wait is
    /// the time to midnight, which on the longest day is 25 hours.
    private var limitWait: Int {
        let known = self.limits.first?.resetSeconds ?? 0
        switch self.code {
        case .tokensPerDayExceeded: return known > 0 ? min(known, 90_000) : 3600
        case .concurrentRequestsExceeded: return min(max(known, 1), 5)
        default: return known > 0 ? min(known, 60) : 60
        }
    }

    /// Whether client libraries should give up at once: the wait is hours, or nothing is allowed at all.
    private var isRetryPointless: Bool {
        self.code == .tokensPerDayExceeded || self.code == .questionCancelled || self.allowsNone
    }

    /// Whether a limit of 0 refused the ask: there is nothing to wait for.
    var allowsNone: Bool { self.limits.first?.limit.quantity == 0 }

    /// Appends the fields that belong to the answer: media type, language, caching, and what to do next.
    ///
    /// - Parameter challenge: the value of `WWW-Authenticate`, for 401 and 403.
    package func appendFields(
        to head: inout [UInt8], format: AnswerFormat, language: Language, challenge: [UInt8]? = nil
    ) {
        MessageWriter.field("content-type", format.errorContentType, to: &head)
        MessageWriter.field("content-language", language.tag, to: &head)
        MessageWriter.field("cache-control", "no-store", to: &head)
        if let seconds = self.retryAfterSeconds { MessageWriter.field("retry-after", seconds, to: &head) }
        if self.isRetryPointless { MessageWriter.field("x-should-retry", "false", to: &head) }
        if let challenge { MessageWriter.field("www-authenticate", bytes: challenge.span, to: &head) }
    }

    /// The only text of OpenAI's object: the user's sentence, but what exactly is wrong where only the app's developer
    /// can mend it.
    func openAIMessage(in language: Language) -> String {
        if self.isUnknownModel(in: .openAI) { return "No model has this name; GET /v1/models lists them." }
        if self.code == .invalidRequest, let detail = self.detail { return detail }
        return self.message(in: language)
    }

    /// The sentence for the user.
    package func message(in language: Language) -> String {
        guard let first = self.limits.first, let wait = self.retryAfterSeconds else {
            return ErrorMessages.message(for: self.code, in: language)
        }
        return ErrorMessages.message(for: first.limit, waitSeconds: wait, in: language)
    }
}
