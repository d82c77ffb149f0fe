import Authentication
import EventLoops
import GatewayTypes
import HTTPCodec
import HTTPServer
import Observability
import Quota

/// What one ask carries along its path, and what its record will say. On its loop.
final class AskContext {
    let exchange: Exchange
    let loop: GatewayLoop
    let snapshot: GatewaySnapshot
    let id: RequestID
    let route: Route?
    let startedAt: WallTime
    var principal: Principal?
    var tenant: TenantSnapshot?
    var plan: PlanSnapshot?
    var task: ResolvedTask?
    /// The route that was asked, once one was.
    var asked: ProviderRoute?
    var streams = false
    /// Whether a streamed answer ends with its usage, where the client may choose.
    var reportsUsage = false
    /// Where the answer came from, for tasks that keep answers.
    var cacheUse: CacheUse?
    /// The question whose answer is read: the ask's own, or that of an earlier one.
    private(set) var questionID: RequestID
    /// When it was asked.
    private(set) var askedAt: WallTime
    /// The ask's own answer, for tasks whose answers outlive their connections.
    var question: Question?
    /// The answer is that of an earlier ask with the same key.
    var isRepeat = false
    /// What the client's `Idempotency-Key` stands for.
    var key: AskKey?
    /// Its owner has cancelled the ask.
    var isCancelled = false
    var trace: TraceID?
    /// Where each limit stands, for the headers; set by the admission.
    var states: [LimitState] = []
    /// What was charged.
    var usage: TokenUsage?
    /// Why the caller has no principal.
    var refusal: RefusalReason?
    /// Why no provider gave an answer.
    var providerFailure: RefusalReason?
    var outcome = Outcome.failed(.internalError)
    var status = 0
    var attempts = 0
    /// When the provider was called, first spoke and was done.
    var calledAt: MonotonicTime?
    var firstTextAt: MonotonicTime?
    var providerDoneAt: MonotonicTime?

    /// For what becomes of its calls.
    var reporter: AttemptReporter { AttemptReporter(labels: self.snapshot.labels, loop: self.loop) }

    init(exchange: Exchange, loop: GatewayLoop, snapshot: GatewaySnapshot, route: Route?) {
        self.exchange = exchange
        self.loop = loop
        self.snapshot = snapshot
        self.route = route
        self.id = loop.newID()
        self.startedAt = loop.loop.clock.wallTime()
        self.questionID = self.id
        self.askedAt = self.startedAt
        self.trace = self.readTrace()
    }

    /// The client's trace identifier, so that both sides' logs meet; else one of our own. The trace itself is ours:
    /// nothing of the client's is sent on.
    private func readTrace() -> TraceID {
        guard self.exchange.head.count(of: .traceparent) == 1 else { return TraceID(self.id) }
        let client = self.exchange.head.withValue(of: .traceparent) { TraceContext.parse($0) } ?? nil
        return client?.traceID ?? TraceID(self.id)
    }

    /// The answer of an earlier ask is read.
    func read(_ question: Question) {
        self.questionID = question.id
        self.askedAt = question.startedAt
    }

    /// The language of messages for the user.
    var language: Language {
        self.exchange.head.withValue(of: .acceptLanguage) { LanguagePreference.choose($0) } ?? .english
    }

    func now() -> MonotonicTime { self.loop.loop.clock.monotonicTime() }

    /// The format of the errors that the client is told.
    var format: AnswerFormat { self.route?.format ?? Route.format(ofUnknown: self.exchange.head) }

    /// Whose counters the ask moves. Nil before the principal is known.
    func caller() -> QuotaCaller? {
        guard let principal = self.principal else { return nil }
        let address = self.plan?.countsAddresses == true ? self.client.callerText : ByteString("")
        return QuotaCaller(tenant: principal.tenant, subject: principal.subject, address: address)
    }

    /// The limits of the caller's plan; none before it is known.
    var limits: [Limit] {
        guard let plan = self.plan else { return [] }
        return self.principal?.isGuest == true ? plan.guestLimits : plan.limits
    }

    /// When the tenant's days end; nil before it is known.
    var dayTurn: DayTurn? { self.tenant.map { DayTurn($0.calendar, now: self.loop.loop.clock.wallTime()) } }

    /// The client's network address: the peer's, or what trusted proxies say of it.
    private(set) lazy var client = ForwardedChain.client(
        of: self.exchange.head, peer: self.exchange.peer, trusted: self.snapshot.relay.trustedProxies)

    /// How long the client has to wait until one of its tokens is looked at; nil when it need not.
    var wait: TimeSpan? {
        let limit = self.snapshot.relay.failedAuthentications
        return self.loop.failedCallers.wait(of: self.client, limit: limit, at: self.now())
    }

    /// Tells metrics, the record and the table of callers why a token was refused.
    func noteFailure(_ failure: AuthenticationFailure) {
        self.loop.metrics.authenticationFailed(self.snapshot.labels.authentication(failure))
        self.refusal = RefusalReason(failure)
        guard failure.isSuspicious else { return }
        let limit = self.snapshot.relay.failedAuthentications
        self.loop.failedCallers.failed(self.client, limit: limit, at: self.now())
    }

    /// Header fields that every answer with content carries.
    func appendFields(to output: inout [UInt8]) {
        self.appendIdentifiers(to: &output)
        MessageWriter.append("cache-control: no-store\r\n", to: &output)
    }

    /// The request's identifier under both names that client libraries look for.
    func appendIdentifiers(to output: inout [UInt8]) {
        Self.appendIdentifiers(self.id, to: &output)
        if self.isRepeat { MessageWriter.append("idempotency-replayed: true\r\n", to: &output) }
    }

    static func appendIdentifiers(_ id: RequestID, to output: inout [UInt8]) {
        output.append(addingCapacity: 2 &* RequestID.textLength &+ 32) { fields in
            fields.append("x-request-id: ")
            id.append(to: &fields)
            fields.append("\r\nrequest-id: ")
            id.append(to: &fields)
            fields.append("\r\n")
        }
    }

    /// The one metadata line that the ask leaves behind.
    func record() -> AccessRecord {
        let now = self.now()
        let total = now - self.exchange.receivedAt
        var record = AccessRecord(time: self.startedAt, requestID: self.id, outcome: self.outcome, total: total)
        record.tenant = self.principal?.tenant
        record.subject = self.principal?.subject
        record.plan = self.principal?.plan
        record.task = self.task?.task
        record.provider = self.asked?.provider
        record.model = self.asked?.model
        record.route = self.route?.template
        record.status = self.status
        record.overhead = self.overhead(of: total)
        record.firstToken = self.firstTextAt.map { $0 - self.exchange.receivedAt }
        record.textLength = self.task?.textLength
        record.usage = self.usage
        record.attempts = self.attempts
        record.isStream = self.streams
        record.cache = self.cacheUse
        record.isCancelled = self.outcome == .clientGone
        record.trace = self.trace
        record.refusal = self.refusal
        record.providerFailure = self.providerFailure
        return record
    }

    /// The part of the ask's time that was not the provider's.
    private func overhead(of total: TimeSpan) -> TimeSpan {
        guard let called = self.calledAt, let done = self.providerDoneAt else { return total }
        return total - (done - called)
    }
}
