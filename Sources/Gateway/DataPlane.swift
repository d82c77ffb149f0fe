import EventLoops
import GatewayTypes
import HTTPCodec
package import HTTPServer
import JSON
package import Observability
import Quota

/// The handler of the `api` listener: finds the route and hands asks to the pipeline.
package struct DataPlane: HTTPHandler {
    private let loops: [GatewayLoop]
    private let snapshots: SnapshotStore
    let pipeline: RequestPipeline

    /// - Parameter loops: one for each event loop, in the order of their indexes.
    package init(loops: [GatewayLoop], snapshots: SnapshotStore, accessLog: AccessLog) {
        self.loops = loops
        self.snapshots = snapshots
        self.pipeline = RequestPipeline(accessLog: accessLog)
    }

    package func handle(_ exchange: Exchange) async {
        let loop = self.loops[exchange.loop.index]
        let snapshot = self.snapshots.current
        let route = Route(exchange.head)
        let context = AskContext(exchange: exchange, loop: loop, snapshot: snapshot, route: route)
        if let route, !route.takes(exchange.head.method) {
            self.refuseMethod(route, context)
        } else {
            await self.answer(route, context)
        }
        let duration = context.now() - exchange.receivedAt
        loop.metrics.requestAnswered(
            route: route.map { snapshot.labels.routes[$0.index] } ?? .other,
            method: MethodLabel(rawValue: exchange.head.method.rawValue) ?? .other,
            status: context.status, duration: duration)
    }

    private func answer(_ route: Route?, _ context: AskContext) async {
        switch route {
        case .process: await self.pipeline.run(context, as: .process)
        case .questions: await self.pipeline.run(context, as: .question)
        case .question: await self.answerQuestion(context)
        case .chat: await self.pipeline.run(context, as: .chat)
        case .quota: await self.answerQuota(context)
        case .models: await self.answerModels(context)
        case .model: await self.answerModel(context)
        case .health: self.answerHealth(context)
        case .guestSessions: await self.createGuestSession(context)
        case .guestClaim: await self.claimGuestSession(context)
        case nil: context.status = AskFailure(.notFound).respond(to: context)
        }
    }

    @inline(never)
    private func refuseMethod(_ route: Route, _ context: AskContext) {
        var failure = AskFailure(.methodNotAllowed)
        failure.allowed = route.allowed
        context.status = failure.respond(to: context)
    }

    @inline(never)
    private func answerHealth(_ context: AskContext) {
        var body: [UInt8] = Array(#"{"status":"ok","timestamp":""#.utf8)
        body.append(timestamp: context.startedAt)
        body.append(contentsOf: #""}"#.utf8)
        self.answer(200, body, context)
    }

    @inline(never)
    private func answerQuota(_ context: AskContext) async {
        do throws(AskFailure) {
            try await self.pipeline.authenticate(context)
            guard let principal = context.principal, let caller = context.caller(), let plan = context.plan,
                let tenant = context.tenant
            else {
                throw AskFailure(.internalError)
            }
            let question = QuotaQuestion(caller: caller, limits: plan.limits, calendar: tenant.calendar)
            let standing = try await self.look(question, context)
            context.states = standing.states
            let body = QuotaAnswer.body(plan: principal.plan, standing: standing, dayTurn: context.dayTurn)
            self.answer(200, body, context)
        } catch {
            context.status = error.respond(to: context)
        }
    }

    private func look(_ question: QuotaQuestion, _ context: AskContext) async throws(AskFailure) -> Standing {
        do throws(QuotaFailure) {
            return try await context.loop.gate.look(question)
        } catch {
            throw AskFailure(.quotaStoreUnavailable)
        }
    }

    func answer(_ status: Int, _ body: [UInt8], _ context: AskContext) {
        context.status = status
        context.exchange.respond(status, body: body) { head in
            MessageWriter.field("content-type", "application/json", to: &head)
            context.appendFields(to: &head)
            LimitHeaders.append(context.states, to: &head)
        }
    }

    /// A request that could not be read gets the same kind of error as any other.
    package func answer(to failure: HTTPServerFailure, fields: inout [UInt8]) -> [UInt8] {
        let id = RequestID.random()
        var body: [UInt8] = []
        AskFailure(failure).answer.appendBody(to: &body, format: .own, language: .english, requestID: id)
        MessageWriter.field("content-type", "application/problem+json", to: &fields)
        AskContext.appendIdentifiers(id, to: &fields)
        return body
    }
}
