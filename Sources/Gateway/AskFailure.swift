import Asking
import Authentication
import GatewayTypes
import HTTPCodec
import HTTPServer
import Quota
import Routing

/// Why an ask got no answer, as far as the caller may know.
///
/// One word, with all that belongs to it elsewhere: every place that may throw it has room for it in the frame of a
/// waiting ask.
@dynamicMemberLookup
struct AskFailure: Error {
    struct Details: Sendable {
        var code: ErrorCode
        /// The limit that refused, for the body and the headers.
        var refusal: Refusal?
        /// Seconds to wait, for 429 and 503.
        var retryAfterSeconds: Int?
        /// `WWW-Authenticate` of a 401 and of some 400 and 403.
        var challenge: Challenge?
        /// The status when it is not the code's own.
        var status: Int?
        /// What is wrong with the request, in constant words, for the developer of the app.
        var detail: String?
        /// The member of the request that is wrong, by a name of ours.
        var parameter: String?
        /// `Allow` of a 405.
        var allowed: StaticString?
    }

    private final class Box: Sendable {
        let details: Details
        init(_ details: Details) { self.details = details }
    }

    private var box: Box

    subscript<Value>(dynamicMember member: WritableKeyPath<Details, Value>) -> Value {
        get { self.box.details[keyPath: member] }
        set {
            var details = self.box.details
            details[keyPath: member] = newValue
            self.box = Box(details)
        }
    }

    /// What the client is told.
    var answer: ErrorAnswer {
        if let refusal = self.refusal {
            let others = refusal.states.filter { state in
                state.exceeded && !state.limit.observe && state.limit != refusal.failing.limit
            }
            return ErrorAnswer(exceeded: refusal.failing, others: others)
        }
        return ErrorAnswer(
            self.code, retryAfterSeconds: self.retryAfterSeconds, detail: self.detail, parameter: self.parameter,
            status: self.status)
    }

    /// Sends the error; returns its status.
    func respond(to context: AskContext) -> Int {
        var answer = self.answer
        answer.dayTurn = context.dayTurn
        let format = context.format
        let status = answer.status(in: format)
        let language = context.language
        var body: [UInt8] = []
        body.reserveCapacity(768)
        answer.appendBody(to: &body, format: format, language: language, requestID: context.id)
        context.exchange.respond(status, body: body) { head in
            context.appendIdentifiers(to: &head)
            answer.appendFields(
                to: &head, format: format, language: language,
                challenge: self.challenge?.headerValue().map { Array($0.utf8) })
            if let allowed = self.allowed { MessageWriter.field("allow", allowed, to: &head) }
            if let refusal = self.refusal { LimitHeaders.append(refusal.states, to: &head) }
        }
        return status
    }

    init(_ code: ErrorCode, detail: String? = nil, parameter: String? = nil) {
        self.box = Box(Details(code: code, detail: detail, parameter: parameter))
    }

    init(_ failure: AuthenticationFailure) {
        self.init(failure.errorCode)
        self.challenge = failure.challenge
        if self.code == .invalidRequest { self.detail = "Send one Authorization header and no token elsewhere." }
        if self.code == .identityUnavailable { self.retryAfterSeconds = 5 }
    }

    init(_ failure: RoutingFailure) {
        self.init(failure.code)
        switch failure {
        case .textTooShort(let minimum): self.detail = "The text needs at least \(minimum) characters."
        case .textTooLong(let maximum): self.detail = "The text may have at most \(maximum) characters."
        case .textTooLarge(let maxBytes): self.detail = "The text may have at most \(maxBytes) bytes of UTF-8."
        case .toneNotAllowed: self.detail = "The task has no such tone."
        case .roleNotAllowed(let role):
            let name = role == .system ? "`system` or `developer`" : "`\(role.rawValue)`"
            self.detail = "The role \(name) is not allowed here; `chat.roles` of the task allows it."
            self.parameter = "messages"
        case .noDefaultAgent: self.detail = "Name an `agent`: this tenant has no default one."
        case .tooManyMessages(let maximum):
            self.detail = "A conversation may have at most \(maximum) messages."
            self.parameter = "messages"
        case .insufficientScope(let scope): self.challenge = .insufficientScope(scope)
        case .unknownTask, .unknownPlan, .taskNotInPlan: break
        }
    }

    init(_ refusal: Refusal) {
        var details = Details(code: ErrorCode(exceeded: refusal.failing.limit.kind))
        details.refusal = refusal
        details.retryAfterSeconds = refusal.retryAfterSeconds
        self.box = Box(details)
    }

    init(_ failure: ProviderFailure) {
        self.init(failure.code)
        if self.code == .providerOverloaded { self.retryAfterSeconds = max(1, failure.retryAfterSeconds ?? 5) }
    }

    init(_ failure: HTTPServerFailure) {
        switch failure {
        case .malformed(let reason):
            switch reason.status {
            case 413: self.init(.bodyTooLarge)
            case 414: self.init(.invalidRequest, detail: "The request line is longer than the gateway takes.")
            case 417: self.init(.invalidRequest, detail: "`Expect` may only be 100-continue.")
            case 431: self.init(.headersTooLarge)
            case 501: self.init(.invalidRequest, detail: "The method or the transfer coding is not known here.")
            case 505: self.init(.invalidRequest, detail: "This version of HTTP is not spoken here.")
            default: self.init(.invalidRequest)
            }
            self.status = reason.status
        case .contentCoding: self.init(ErrorCode.unsupportedMediaType)
        case .timeout: self.init(ErrorCode.requestTimeout)
        case .bodyTooLarge: self.init(ErrorCode.bodyTooLarge)
        case .clientGone: self.init(.internalError)
        }
    }
}
