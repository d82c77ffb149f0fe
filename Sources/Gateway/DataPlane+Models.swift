import GatewayTypes
import HTTPCodec
import HTTPServer
import Routing

/// What a caller may name as a model. Costs nothing and counts against no limit.
extension DataPlane {
    @inline(never)
    func answerModels(_ context: AskContext) async {
        do throws(AskFailure) {
            let (tenant, tasks) = try await self.tasks(of: context)
            self.answer(200, ModelsAnswer.list(tasks, of: tenant), context)
        } catch {
            context.status = error.respond(to: context)
        }
    }

    @inline(never)
    func answerModel(_ context: AskContext) async {
        do throws(AskFailure) {
            let (tenant, tasks) = try await self.tasks(of: context)
            guard let task = tasks.first(where: { self.isNamed($0, in: context) }) else {
                throw AskFailure(.unknownTask)
            }
            self.answer(200, ModelsAnswer.one(task, of: tenant), context)
        } catch {
            context.status = error.respond(to: context)
        }
    }

    private func tasks(of context: AskContext) async throws(AskFailure) -> (TenantID, [TaskName]) {
        try await self.pipeline.authenticate(context)
        guard let principal = context.principal, let tenant = context.tenant else { throw AskFailure(.internalError) }
        return (principal.tenant, tenant.routing.tasks(for: principal))
    }

    private func isNamed(_ task: TaskName, in context: AskContext) -> Bool {
        let head = context.exchange.head
        guard let name = Route.modelName(in: head) else { return false }
        return task.string.utf8.elementsEqual(head.bytes[name])
    }
}
