import GatewayTypes
import HTTPCodec
import HTTPServer
import Observability

/// `GET` and `DELETE /v1/questions/{id}`, for the owner alone: to anybody else there is nothing here.
extension DataPlane {
    @inline(never)
    func answerQuestion(_ context: AskContext) async {
        let id = Self.questionID(in: context.exchange.head)
        var isElsewhere = false
        do throws(AskFailure) {
            try await self.pipeline.authenticate(context)
            guard let id, let owner = context.owner else { throw AskFailure(.notFound) }
            if context.exchange.head.method == .delete {
                guard !self.pipeline.cancel(id, of: owner, context) else { return self.record(context, id) }
                isElsewhere = self.pipeline.isElsewhere(id, context)
                try await self.pipeline.askElsewhere(.cancel(id), context)
            } else {
                let event = try self.firstEvent(of: id, context)
                guard try await !self.pipeline.follow(id, of: owner, from: event, context) else {
                    return self.record(context, id)
                }
                isElsewhere = self.pipeline.isElsewhere(id, context)
                try await self.followElsewhere(id, from: event, context)
            }
        } catch {
            self.pipeline.refuse(error, context)
        }
        self.record(context, id, isElsewhere: isElsewhere)
    }

    private static func questionID(in head: HTTPRequestHead) -> RequestID? {
        guard let range = Route.segment(of: head, behind: "/v1/questions/") else { return nil }
        return head.withBytes(range) { RequestID(digits: $0) }
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

    @inline(never)
    private func followElsewhere(
        _ id: RequestID, from event: Int, _ context: AskContext
    ) async throws(AskFailure) {
        do throws(AskFailure) {
            context.streams = true
            try await self.pipeline.askElsewhere(.follow(id, after: event > 0 ? event &- 1 : nil), context)
        } catch {
            throw error.code == .invalidRequest ? .eventNotSent : error
        }
    }

    /// Leaves the line that says who came for which question.
    @inline(never)
    private func record(_ context: AskContext, _ id: RequestID?, isElsewhere: Bool = false) {
        let isCancel = context.exchange.head.method == .delete
        var record = FollowRecord(
            isCancel ? .cancel : .follow, time: context.startedAt, requestID: context.id, outcome: context.outcome,
            total: context.now() - context.exchange.receivedAt)
        // Thirty-two digits can hold no text, but a stranger's are nobody's question.
        record.question = context.principal == nil ? nil : id
        record.tenant = context.principal?.tenant
        record.subject = context.principal?.subject
        record.plan = context.principal?.plan
        record.route = context.route?.template
        record.status = context.status
        record.isElsewhere = isElsewhere
        record.trace = context.trace
        record.refusal = context.refusal
        self.pipeline.accessLog.append(record)
    }
}
