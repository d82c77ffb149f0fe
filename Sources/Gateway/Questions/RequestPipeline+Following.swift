import GatewayTypes
import HTTPCodec
import HTTPServer

/// What an owner wants of a question that this instance holds; asks and charges nothing. The owner is the caller whose
/// token was checked here, or the one that another instance vouches for.
extension RequestPipeline {
    /// Reads an answer from an event on; false when there is no such question of this owner here.
    @inline(never)
    func follow(
        _ id: RequestID, of owner: QuestionOwner, from event: Int, _ context: AskContext
    ) async throws(AskFailure) -> Bool {
        guard let found = context.loop.questions.find(id, of: owner) else { return false }
        guard case .held(let question) = found else { throw AskFailure(.questionGone) }
        guard try !self.hasHadAll(of: question, from: event) else {
            self.answerNothing(context)
            return true
        }
        context.streams = true
        try await self.read(question, from: event, as: .question, beginsAtOnce: true, context)
        return true
    }

    /// Whether there is nothing behind what the client has had: an EventSource then asks no more (204).
    private func hasHadAll(of question: Question, from event: Int) throws(AskFailure) -> Bool {
        let count = question.eventCount
        guard event <= count else { throw .eventNotSent }
        return event == count && question.conclusion != nil
    }

    /// Gives a question's call up; false when there is no such question of this owner here.
    func cancel(_ id: RequestID, of owner: QuestionOwner, _ context: AskContext) -> Bool {
        switch context.loop.questions.find(id, of: owner) {
        case .held(let question): question.cancel(.owner)
        case .running(let ask): ask.cancel()
        case .cancelled: break
        case nil: return false
        }
        self.answerNothing(context)
        return true
    }

    func answerNothing(_ context: AskContext) {
        context.outcome = .answered
        context.status = 204
        context.exchange.respond(204, body: []) { context.appendFields(to: &$0) }
    }

    /// The question that a repeat can read from its start; nil when it is not kept here.
    func joinable(
        _ id: RequestID, of owner: QuestionOwner, _ context: AskContext
    ) throws(AskFailure) -> Question? {
        guard case .held(let question)? = context.loop.questions.find(id, of: owner) else { return nil }
        guard question.isHeld else {
            throw AskFailure(question.conclusion == nil ? .idempotencyInProgress : .idempotencyFinished)
        }
        return question
    }
}

extension AskFailure {
    /// `Last-Event-ID` is further than the question is.
    static var eventNotSent: AskFailure {
        AskFailure(.invalidRequest, detail: "Last-Event-ID names an event that has not been sent.")
    }
}
