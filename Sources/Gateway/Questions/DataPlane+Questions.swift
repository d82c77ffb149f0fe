import GatewayTypes
import HTTPCodec
import HTTPServer

/// `GET` and `DELETE /v1/questions/{id}`, for the owner alone: to anybody else there is nothing here.
extension DataPlane {
    func answerQuestion(_ context: AskContext) async {
        do throws(AskFailure) {
            try await self.pipeline.authenticate(context)
            guard let id = Self.questionID(in: context.exchange.head) else { throw AskFailure(.notFound) }
            if context.exchange.head.method == .delete {
                try await self.cancelQuestion(id, context)
            } else {
                try await self.followQuestion(id, context)
            }
        } catch {
            context.status = error.respond(to: context)
        }
    }

    private static func questionID(in head: HTTPRequestHead) -> RequestID? {
        guard let range = Route.segment(of: head, behind: "/v1/questions/") else { return nil }
        return head.withBytes(range) { RequestID(digits: $0) }
    }

    /// Reads an answer from where the client is; asks and charges nothing.
    private func followQuestion(_ id: RequestID, _ context: AskContext) async throws(AskFailure) {
        let event = try self.firstEvent(of: id, context)
        guard let owner = context.owner, let found = context.loop.questions.find(id, of: owner) else {
            throw AskFailure(await self.pipeline.isGone(id, context) ? .questionGone : .notFound)
        }
        guard case .held(let question) = found else { throw AskFailure(.questionGone) }
        guard try !self.hasHadAll(of: question, from: event) else { return self.answerNothing(context) }
        context.streams = true
        try await self.pipeline.read(question, from: event, as: .question, beginsAtOnce: true, context)
    }

    /// Behind the last event that the client has had; 0 for one that has had none.
    private func firstEvent(of id: RequestID, _ context: AskContext) throws(AskFailure) -> Int {
        let head = context.exchange.head
        guard let range = head.range(of: .lastEventID), !range.isEmpty else { return 0 }
        let last = head.count(of: .lastEventID) == 1 ? head.withBytes(range) { EventNumber($0) } : nil
        guard let last, last.question == id else {
            throw AskFailure(.invalidRequest, detail: "Last-Event-ID has to be the id of an event of this question.")
        }
        return last.number &+ 1
    }

    /// Whether there is nothing behind what the client has had: an EventSource then asks no more (204).
    private func hasHadAll(of question: Question, from event: Int) throws(AskFailure) -> Bool {
        let count = question.eventCount
        guard event <= count else {
            throw AskFailure(.invalidRequest, detail: "Last-Event-ID names an event that has not been sent.")
        }
        return event == count && question.conclusion != nil
    }

    private func cancelQuestion(_ id: RequestID, _ context: AskContext) async throws(AskFailure) {
        guard let owner = context.owner, let found = context.loop.questions.find(id, of: owner) else {
            throw AskFailure(await self.pipeline.isGone(id, context) ? .questionGone : .notFound)
        }
        switch found {
        case .held(let question): question.cancel(.owner)
        case .running(let ask): ask.cancel()
        case .cancelled: break
        }
        self.answerNothing(context)
    }

    func answerNothing(_ context: AskContext) {
        context.status = 204
        context.exchange.respond(204, body: []) { context.appendFields(to: &$0) }
    }
}
