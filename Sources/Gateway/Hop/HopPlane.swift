import EventLoops
import GatewayTypes
import HTTPCodec
package import HTTPServer
package import Observability

/// The handler of the `internal` listener: what other instances ask of the questions that this one holds, and nothing
/// else. It asks no other instance in turn.
package struct HopPlane: HTTPHandler {
    private let loops: [GatewayLoop]
    private let snapshots: SnapshotStore
    private let pipeline: RequestPipeline
    private let door = HopGuard()

    /// - Parameter loops: one for each event loop, in the order of their indexes.
    package init(loops: [GatewayLoop], snapshots: SnapshotStore, accessLog: AccessLog) {
        self.loops = loops
        self.snapshots = snapshots
        self.pipeline = RequestPipeline(accessLog: accessLog)
    }

    package func handle(_ exchange: Exchange) async {
        let loop = self.loops[exchange.loop.index]
        let snapshot = self.snapshots.current
        let clock = loop.loop.clock
        do throws(HopGuard.Refusal) {
            guard let keys = snapshot.hopKeys else { throw .badSignature }
            let request = try self.door.judge(
                exchange.head, keys: keys, wall: clock.wallTime(), now: clock.monotonicTime())
            guard request.command.question.instance == loop.questions.instance else {
                return self.refuse(HopError.notHere, .notHere, exchange, loop)
            }
            loop.metrics.hopEnded(.served, await self.answer(request, exchange, loop, snapshot))
        } catch {
            self.refuse(error.status, error.outcome, exchange, loop)
        }
    }

    /// Counts first, so that who hears of it finds it counted.
    private func refuse(_ status: Int, _ outcome: HopOutcome, _ exchange: Exchange, _ loop: GatewayLoop) {
        loop.metrics.hopEnded(.served, outcome)
        exchange.respond(status, body: []) { _ in }
    }

    private func answer(
        _ request: HopRequest, _ exchange: Exchange, _ loop: GatewayLoop, _ snapshot: GatewaySnapshot
    ) async -> HopOutcome {
        let context = AskContext(exchange: exchange, loop: loop, snapshot: snapshot, route: request.command.route)
        context.outcome = .answered
        var isReplayed = false
        do throws(AskFailure) {
            try await self.answer(request, context, &isReplayed)
        } catch {
            HopError.send(error, isReplayed: isReplayed, over: exchange)
        }
        return exchange.isClientGone ? .clientGone : .answered
    }

    private func answer(
        _ request: HopRequest, _ context: AskContext, _ isReplayed: inout Bool
    ) async throws(AskFailure) {
        let owner = request.owner
        switch request.command {
        case .follow(let id, let last):
            let first = last.map { $0 &+ 1 } ?? 0
            guard try await self.pipeline.follow(id, of: owner, from: first, context) else {
                throw AskFailure(.notFound)
            }
        case .cancel(let id):
            guard self.pipeline.cancel(id, of: owner, context) else { throw AskFailure(.notFound) }
        case .repeated(let id, let wanted):
            guard let question = try self.pipeline.joinable(id, of: owner, context) else {
                throw AskFailure(.notFound)
            }
            isReplayed = true
            context.streams = wanted.streams
            context.reportsUsage = wanted.reportsUsage
            context.task = ResolvedTask(
                task: wanted.task, prompt: Prompt(system: [], user: []), textLength: 0, promptEstimate: 0,
                outputCap: 0, temperature: 0, routes: [])
            guard wanted.streams else {
                return try await WholeAnswerSender(question, wanted, context).run()
            }
            try await self.pipeline.read(question, from: 0, as: wanted.form, beginsAtOnce: false, context)
        }
    }

    /// A request that could not be read gets no word beyond its status.
    package func answer(to failure: HTTPServerFailure, fields: inout [UInt8]) -> [UInt8] { [] }
}

extension HopCommand {
    /// The client's route, which gives errors their format.
    fileprivate var route: Route {
        guard case .repeated(_, let wanted) = self else { return .question }
        return switch wanted.form {
        case .process: .process
        case .question: .questions
        case .chat: .chat
        }
    }
}
