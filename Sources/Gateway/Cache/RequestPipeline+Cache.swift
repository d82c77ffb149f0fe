import Asking
import GatewayTypes
import Observability

/// Tasks that keep answers: the same ask again is answered from memory, and asks that come while it is on its way wait
/// for the same call. Each caller was admitted before, and is settled after, like any other.
extension RequestPipeline {
    /// Nil when the task keeps none, so that the ask goes its own way.
    @inline(never)
    func fromCache(
        _ request: AskRequest, over routes: AskRoutes, _ receiver: any AnswerReceiver, _ context: AskContext
    ) -> AskOnItsWay? {
        guard let policy = context.task?.cache, let tenant = context.tenant, let cache = tenant.cache,
            let provider = routes.routes.first?.provider,
            let key = cache.key(request, of: tenant.id, from: provider)
        else { return nil }
        let found = cache.find(
            key, streams: request.streams, lifetime: policy.lifetime, now: context.now(), on: context.loop.loop,
            reporter: context.reporter, receiver: receiver)
        switch found {
        case .kept(let answer):
            self.count(.hit, context)
            return .kept(self.replay(answer, to: receiver, context))
        case .shared(let subscription):
            self.count(.shared, context)
            return .shared(subscription)
        case .mine(let call, let subscription):
            self.count(.miss, context)
            call.attach(.own(context.loop.core.ask(request, over: routes, receiver: call)))
            return .shared(subscription)
        }
    }

    private func count(_ use: CacheUse, _ context: AskContext) {
        context.cacheUse = use
        let labels = context.snapshot.labels
        context.loop.metrics.answerCacheAsked(
            use, tenant: context.tenant?.label ?? .other, task: labels.task(context.task?.task))
    }

    private func replay(_ answer: KeptAnswer, to receiver: any AnswerReceiver, _ context: AskContext) -> AskEnd {
        // No provider was called, so all of the ask's time is the gateway's.
        context.asked = nil
        context.calledAt = nil
        receiver.answerStarted()
        answer.text.withUnsafeBufferPointer { receiver.answerGrew($0) }
        receiver.answerPaused()
        let end = AskEnd(
            failure: nil, wasCancelled: false, finish: answer.finish, usage: answer.usage, attempts: 0)
        receiver.answerEnded(end)
        return end
    }

    /// Whether an ask that made no call is free, as its task says.
    func isFree(_ end: AskEnd, _ context: AskContext) -> Bool {
        context.cacheUse != nil && end.attempts == 0 && context.task?.cache?.charge == CachePolicy.Charge.none
    }
}
