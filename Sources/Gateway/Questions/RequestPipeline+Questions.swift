import Asking
import GatewayTypes
import HTTPServer
import Observability

/// Tasks whose answers outlive their connections: the ask gathers its answer in a question, of which its own client is
/// the first reader.
extension RequestPipeline {
    /// Begins the answer of an admitted ask: kept, where the task keeps answers and somebody can come back for it.
    @inline(never)
    func relay(_ context: AskContext, as form: WireForm) -> AnswerRelay {
        context.question = self.question(context, form)
        let isNumbered = context.question != nil && context.streams
        return AnswerRelay(context, form: form, from: isNumbered ? 0 : nil)
    }

    private func question(_ context: AskContext, _ form: WireForm) -> Question? {
        guard let task = context.task, let policy = task.resume, let owner = context.owner,
            context.key != nil || (context.streams && form.hasNumbers)
        else { return nil }
        let board = context.loop.questions
        let question = Question(
            context.id, of: owner, startedAt: context.startedAt, policy: policy, disconnect: task.disconnect,
            board: board, loop: context.loop.loop, reporter: context.reporter)
        return board.begin(question, within: context.snapshot.relay.questions) ? question : nil
    }

    /// Who is told of the call.
    @inline(never)
    func receiver(_ relay: AnswerRelay, _ context: AskContext) -> any AnswerReceiver {
        guard let question = context.question else { return relay }
        let subscription = question.lead(on: context.loop.loop, receiver: relay)
        relay.attach(.shared(subscription), policy: .abort)
        return question
    }

    /// Binds the call to its readers.
    @inline(never)
    func attach(_ ask: AskOnItsWay, _ relay: AnswerRelay, _ context: AskContext) {
        if let question = context.question { return question.attach(ask) }
        relay.attach(ask, policy: context.task?.disconnect ?? .abort)
        guard context.streams, let owner = context.owner else { return }
        context.loop.questions.enter(context.id, RunningAsk(relay, of: owner, on: context.loop.loop))
    }

    /// The call has ended.
    @inline(never)
    func ended(_ end: AskEnd, _ relay: AnswerRelay, _ context: AskContext) {
        context.attempts = end.attempts
        context.asked = end.route
        guard context.question == nil else {
            context.providerDoneAt = context.now()
            return
        }
        relay.detach()
        guard context.streams else { return }
        // First, so that it is never unknown in between.
        if context.isCancelled, let owner = context.owner {
            context.loop.questions.noteCancelled(context.id, of: owner)
        }
        context.loop.questions.leave(context.id)
    }

    func isCancelled(_ context: AskContext) -> Bool {
        context.isCancelled || context.question?.cancellation == .owner
    }

    /// Says how an ask ended that others may ask for: its key first, then every reader. Waits until the ask's own
    /// client has had the answer or has left.
    @inline(never)
    func hold(_ end: AskEnd, _ relay: AnswerRelay, _ context: AskContext) async {
        await self.letGo(of: context)
        guard let question = context.question else { return }
        question.conclude(self.conclusion(of: end, context))
        await relay.caughtUp()
        relay.detach()
    }

    /// As above, of an ask that nobody answered.
    @inline(never)
    func hold(_ failure: AskFailure, _ context: AskContext) async {
        context.question?.conclude(.failed(failure))
        await self.letGo(of: context)
    }

    /// What became of an ask whose client has gone.
    func outcome(of conclusion: AnswerConclusion, _ context: AskContext) -> Outcome {
        guard let question = context.question, question.cancellation == nil else { return .clientGone }
        switch conclusion {
        case .finished: return .answered
        case .failed(let failure): return .failed(failure.code)
        }
    }

    // MARK: Reading an earlier ask's answer

    /// Reads the answer of an earlier ask to its end, without asking or charging.
    ///
    /// - Parameters:
    ///   - event: the first that the client is to get.
    ///   - beginsAtOnce: the client knows of the question, so that even its failure is an event.
    func read(
        _ question: Question, from event: Int, as form: WireForm, beginsAtOnce: Bool, _ context: AskContext
    ) async throws(AskFailure) {
        context.read(question)
        context.task?.prompt = Prompt(system: [], user: [])
        let relay = AnswerRelay(context, form: form, from: context.streams ? event : nil)
        guard let subscription = question.follow(from: event, on: context.loop.loop, receiver: relay) else {
            throw AskFailure(.questionGone)
        }
        relay.attach(.shared(subscription), policy: .abort)
        if beginsAtOnce { relay.beginNow() }
        let end = await subscription.end()
        relay.detach()
        try self.tellReader(of: question, wasStopped: end.wasCancelled, relay, context)
    }

    @inline(never)
    private func tellReader(
        of question: Question, wasStopped: Bool, _ relay: AnswerRelay, _ context: AskContext
    ) throws(AskFailure) {
        if context.exchange.isClientGone {
            context.outcome = .clientGone
        } else if wasStopped {
            let failure = AskFailure(.draining)
            guard relay.hasBegun else { throw failure }
            context.outcome = .failed(failure.code)
            relay.fail(failure.answer, language: context.language, isLast: false)
        } else {
            try self.tell(question.conclusion ?? .failed(AskFailure(.internalError)), relay, context)
        }
    }
}

extension AskContext {
    /// Another request may ask how it ended.
    var outlivesConnection: Bool { self.key != nil || self.question != nil }

    /// Whose the ask is; nil before the caller is known.
    var owner: QuestionOwner? {
        self.principal.map { QuestionOwner(tenant: $0.tenant, subject: $0.subject) }
    }
}
