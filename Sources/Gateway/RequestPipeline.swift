import Asking
import Authentication
import GatewayTypes
import HTTPCodec
import HTTPServer
import Observability
import Quota
import Routing

/// The path of an ask, verb by verb; each verb is a target of the same name.
///
/// The verbs that never wait are kept out of line: inlined, their variables would live in the frame that every open
/// stream holds, and quadruple it. What few asks need is called by those only: an ask keeps the memory of the deepest
/// call that it ever waited in.
struct RequestPipeline {
    let accessLog: AccessLog

    /// 1 *accept* has happened: the exchange is the HTTP server's. What follows is the whole life of the ask.
    func run(_ context: AskContext, as form: WireForm) async {
        context.loop.metrics.askStarted()
        do throws(AskFailure) {
            try await self.authenticate(context)  // 2
            try await self.resolve(context, from: form)  // 3
            if context.key != nil, try await self.isRepeat(context, as: form) { return self.record(context) }
            let reservation = try await self.admit(context)  // 4
            let relay = self.relay(context, as: form)
            let end = try await self.ask(for: reservation.grant.outputTokens, relay, context)  // 5 and 6
            self.settle(reservation, end, relay, context)  // 7
            if context.outlivesConnection { await self.hold(end, relay, context) }
            try self.answer(end, relay, context)
        } catch {
            if context.outlivesConnection { await self.hold(error, context) }
            self.refuse(error, context)
        }
        self.record(context)  // 8
    }

    // MARK: 2 authenticate

    /// Waits only for keys that may be on their way from the issuer, and not long.
    func authenticate(_ context: AskContext) async throws(AskFailure) {
        if let failure = try self.identify(context) {
            guard await context.snapshot.authenticator.awaitKeys(after: failure) else {
                throw self.refused(failure, context)
            }
            if let failure = try self.identify(context) { throw self.refused(failure, context) }
        }
    }

    @inline(never)
    private func refused(_ failure: AuthenticationFailure, _ context: AskContext) -> AskFailure {
        context.noteFailure(failure)
        var refused = AskFailure(failure)
        if failure == .tooManyFailures, let wait = context.wait {
            refused.retryAfterSeconds = Int(wait.nanoseconds / 1_000_000_000) + 1
        }
        return refused
    }

    /// Finds the principal, and what it may use; returns why the caller has none.
    @inline(never)
    private func identify(_ context: AskContext) throws(AskFailure) -> AuthenticationFailure? {
        var principal: Principal
        do throws(AuthenticationFailure) {
            principal = try Self.principal(of: context.exchange.head, context)
        } catch {
            return error
        }
        guard let tenant = context.snapshot.tenants[principal.tenant] else { throw AskFailure(.internalError) }
        let given = context.loop.board.plan(of: principal.subject, in: principal.tenant, at: context.startedAt)
        if let given { principal.plan = given }
        context.principal = principal
        context.tenant = tenant
        context.plan = tenant.plans[principal.plan]
        // The plan of a claim or an override may be gone since the last reload.
        guard context.plan != nil else { throw AskFailure(.taskNotInPlan) }
        return nil
    }

    private static func principal(
        of head: HTTPRequestHead, _ context: AskContext
    ) throws(AuthenticationFailure) -> Principal {
        let count = head.count(of: .authorization)
        let range = head.range(of: .authorization) ?? 0..<0
        return try context.snapshot.authenticator.authenticate(
            authorization: head.bytes.span.extracting(range), fieldCount: count,
            queryHasToken: QueryToken.isPresent(in: head), cache: context.loop.tokens, now: context.startedAt,
            mayVerify: { context.wait == nil })
    }

    /// Refuses, before the body is read and without asking the store, whoever is known to be over a limit.
    @inline(never)
    private func precheck(_ context: AskContext) throws(AskFailure) {
        // The repeat of an ask that was admitted counts against no limit.
        guard context.exchange.head.range(of: .idempotencyKey) == nil else { return }
        guard let caller = context.caller() else { return }
        guard let refusal = context.loop.gate.precheck(caller, limits: context.limits) else { return }
        self.count(refusal, context)
        throw AskFailure(refusal)
    }

    // MARK: 3 resolve

    /// Reads the body and finds the task; cheap refusals come before the body.
    private func resolve(_ context: AskContext, from form: WireForm) async throws(AskFailure) {
        try self.precheck(context)
        if context.exchange.head.withValue(of: .contentType, { MediaType.isJSON($0) }) == false {
            throw AskFailure(.unsupportedMediaType)
        }
        let body: [UInt8]
        do throws(HTTPServerFailure) {
            body = try await context.exchange.readBody(limit: context.snapshot.relay.maxBodyBytes)
        } catch {
            throw AskFailure(error)
        }
        try self.resolve(body, context, from: form)
        try self.readKey(body, context, form)
    }

    @inline(never)
    private func resolve(_ body: [UInt8], _ context: AskContext, from form: WireForm) throws(AskFailure) {
        let command = try form.command(parsing: body, limit: context.snapshot.relay.maxBodyBytes)
        var accept = AcceptPreference()
        context.exchange.head.forEachValue(of: .accept) { accept.add($0) }
        context.streams = command.streams ?? accept.prefersEventStream
        context.reportsUsage = command.reportsUsage
        guard let tenant = context.tenant, let principal = context.principal else { throw AskFailure(.internalError) }
        let result = command.withNames { task, text, tone -> Result<ResolvedTask, RoutingFailure> in
            Result { () throws(RoutingFailure) in
                try tenant.routing.resolve(
                    task: task, text: text, tone: tone, chat: command.chat, for: principal, choice: context.id.low)
            }
        }
        switch result {
        case .success(let task)?: context.task = task
        case .failure(let failure)?: throw AskFailure(failure)
        case nil: throw AskFailure(.invalidRequest)
        }
    }

    // MARK: 4 admit

    @inline(never)
    private func admit(_ context: AskContext) async throws(AskFailure) -> Reservation {
        if let reservation = try self.admitAtOnce(context) { return reservation }
        return try await self.admitByStore(context)
    }

    /// Nil where the store has to be waited for.
    @inline(never)
    private func admitAtOnce(_ context: AskContext) throws(AskFailure) -> Reservation? {
        let gate = context.loop.gate
        guard gate.decidesAtOnce, let decision = gate.admitAtOnce(try self.quotaAsk(context)) else { return nil }
        return try self.reservation(decision, context)
    }

    @inline(never)
    private func admitByStore(_ context: AskContext) async throws(AskFailure) -> Reservation {
        try self.reservation(await context.loop.gate.admit(try self.quotaAsk(context)), context)
    }

    @inline(never)
    private func quotaAsk(_ context: AskContext) throws(AskFailure) -> QuotaAsk {
        guard let caller = context.caller(), let tenant = context.tenant,
            let task = context.task
        else { throw AskFailure(.internalError) }
        return QuotaAsk(
            caller: caller, limits: context.limits, calendar: tenant.calendar, promptEstimate: task.promptEstimate,
            outputCap: task.outputCap, request: context.id)
    }

    @inline(never)
    private func reservation(
        _ decision: consuming QuotaDecision, _ context: AskContext
    ) throws(AskFailure) -> Reservation {
        switch consume decision {
        case .admitted(let reservation):
            context.states = reservation.grant.states
            self.count(reservation.grant.states, context)
            return reservation
        case .refused(let refusal):
            self.count(refusal, context)
            throw AskFailure(refusal)
        case .blocked:
            throw AskFailure(.subjectBlocked)
        case .unavailable(_, let seconds):
            var failure = AskFailure(.quotaStoreUnavailable)
            failure.retryAfterSeconds = seconds
            throw failure
        }
    }

    @inline(never)
    private func count(_ states: [LimitState], _ context: AskContext) {
        for state in states {
            let decision: AdmissionDecision = state.exceeded && state.limit.observe ? .observed : .admitted
            context.loop.metrics.admissionDecided(decision, limit: state.limit.kind, scope: state.limit.scope)
        }
    }

    @inline(never)
    private func count(_ refusal: Refusal, _ context: AskContext) {
        let limit = refusal.failing.limit
        context.loop.metrics.admissionDecided(.refused, limit: limit.kind, scope: limit.scope)
    }

    // MARK: 5 ask and 6 relay

    private func ask(
        for outputTokens: Int, _ relay: AnswerRelay, _ context: AskContext
    ) async throws(AskFailure) -> AskEnd {
        let ask = try self.begin(outputTokens, relay, context)
        let end = await ask.end()
        self.ended(end, relay, context)
        return end
    }

    @inline(never)
    private func begin(
        _ outputTokens: Int, _ relay: AnswerRelay, _ context: AskContext
    ) throws(AskFailure) -> AskOnItsWay {
        guard let task = context.task, let route = task.routes.first, let tenant = context.tenant else {
            throw AskFailure(.internalError)
        }
        let request = AskRequest(
            task: task.task, prompt: task.prompt, model: route.model, outputCap: outputTokens,
            temperature: task.temperature, stop: task.stop, streams: context.streams)
        let routes = AskRoutes(
            task.routes, of: context.snapshot.providers, tenant: tenant.id, seed: context.id.high)
        context.calledAt = context.now()
        let receiver = self.receiver(relay, context)
        let ask =
            task.cache.flatMap { _ in self.fromCache(request, over: routes, receiver, context) }
            ?? .own(context.loop.core.ask(request, over: routes, receiver: receiver))
        self.attach(ask, relay, context)
        // The core has it now, for as long as it needs; a stream may be open for long.
        context.task?.prompt = Prompt(system: [], user: [])
        return ask
    }

    // MARK: 7 settle

    /// Charges what the ask took. Done before the last bytes go out, so that the client's next ask finds its place
    /// free.
    @inline(never)
    private func settle(
        _ reservation: consuming Reservation, _ end: AskEnd, _ relay: AnswerRelay, _ context: AskContext
    ) {
        let delivered = context.question?.meter.tokens ?? relay.meter.tokens
        // Nobody was asked, whoever was has failed, or the client left between two that were.
        let cameToNothing = end.attempts == 0 || end.failure != nil || (end.wasCancelled && !end.hadOpenCall)
        if cameToNothing, delivered == 0, end.usage == nil {
            guard let spent = end.spent else { return reservation.release() }
            return self.settle(reservation, spent, context)
        }
        if self.isFree(end, context) {
            return self.settle(reservation, TokenUsage(input: 0, output: 0, source: .provider), context)
        }
        let usage = Estimate.usage(
            reported: end.usage, promptEstimate: context.task?.promptEstimate ?? 0, delivered: delivered,
            clientGone: end.wasCancelled)
        // What earlier attempts took was taken as well.
        self.settle(reservation, usage.adding(end.spent), context)
    }

    private func settle(_ reservation: consuming Reservation, _ usage: TokenUsage, _ context: AskContext) {
        context.usage = usage
        let passed = context.calledAt.map { Int((context.now() - $0).nanoseconds / 1_000_000_000) } ?? 0
        context.states = reservation.grant.states.map { state in
            state.settled(charged: usage.total, of: reservation.grant, after: passed)
        }
        reservation.settle(usage: usage)
    }

    @inline(never)
    private func answer(_ end: AskEnd, _ relay: AnswerRelay, _ context: AskContext) throws(AskFailure) {
        try self.tell(self.conclusion(of: end, context), relay, context)
    }

    func conclusion(of end: AskEnd, _ context: AskContext) -> AnswerConclusion {
        // Not the client: a drain has come to its deadline.
        if end.wasCancelled { return .failed(AskFailure(self.isCancelled(context) ? .questionCancelled : .draining)) }
        if let failure = end.failure {
            context.providerFailure = RefusalReason(failure)
            return .failed(AskFailure(failure))
        }
        let usage = context.usage ?? TokenUsage(input: 0, output: 0, source: .estimated)
        return .finished(FinishWord(end.finish), usage)
    }

    /// Sends the end of an answer to one of its readers.
    @inline(never)
    func tell(
        _ conclusion: AnswerConclusion, _ relay: AnswerRelay, _ context: AskContext
    ) throws(AskFailure) {
        if context.exchange.isClientGone {
            context.outcome = self.outcome(of: conclusion, context)
            return
        }
        switch conclusion {
        case .failed(let failure):
            guard relay.hasBegun else { throw failure }
            context.outcome = .failed(failure.code)
            relay.fail(failure.answer, language: context.language)
        case .finished(let finish, let usage):
            context.outcome = .answered
            if context.streams { relay.finish(finish, usage: usage) } else { relay.respond(finish, usage: usage) }
        }
    }

    @inline(never)
    func refuse(_ failure: AskFailure, _ context: AskContext) {
        if context.exchange.isClientGone {
            context.outcome = .clientGone
            return
        }
        context.outcome = .failed(failure.code)
        context.status = failure.respond(to: context)
    }

    // MARK: 8 record

    @inline(never)
    func record(_ context: AskContext) {
        let record = context.record()
        self.accessLog.append(record)
        let labels = context.snapshot.labels
        let metrics = context.loop.metrics
        metrics.askEnded(
            AskMeasurement(
                tenant: context.tenant?.label ?? .other, plan: context.plan?.label ?? .other,
                task: labels.task(context.task?.task), outcome: context.outcome, usage: context.usage))
        if let overhead = record.overhead { metrics.overheadMeasured(overhead, in: .total) }
    }
}
