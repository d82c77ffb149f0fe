import GatewayTypes
import Routing

let mainRoutes = routeList([ProviderRoute(provider: "main", model: "small")])

func routeList(_ routes: [ProviderRoute], order: RouteList.Order = .asWritten) -> RouteList {
    guard let list = RouteList(routes, order: order) else { preconditionFailure("a test needs a route") }
    return list
}

func principal(plan: PlanName = "free", scopes: Set<ByteString> = []) -> Principal {
    Principal(tenant: "acme", subject: "u1", plan: plan, scopes: scopes, expiresAt: WallTime(seconds: 0))
}

/// A table with the built-in tasks and one plan that allows all of them; an estimate is a byte for a token.
func table(
    _ tasks: [TaskDefinition] = BuiltInTask.allCases.map { TaskDefinition($0, routes: mainRoutes) },
    plans: [RoutingPlan] = [RoutingPlan(name: "free")], defaultAgent: TaskName? = nil
) -> RoutingTable {
    RoutingTable(tasks: tasks, plans: plans, defaultAgent: defaultAgent) { $0.count }
}

/// A task that only bounds its text.
func bounded(_ minimum: Int, _ maximum: Int, bytes: Int = 65_536) -> RoutingTable {
    let bounds = TextBounds(minCharacters: minimum, maxCharacters: maximum, maxBytes: bytes)
    return table([TaskDefinition(name: "t", instruction: "Do.", bounds: bounds, routes: mainRoutes)])
}

extension RoutingTable {
    func ask(
        _ task: String?, _ text: String, tone: String? = nil, _ principal: Principal = principal(), choice: UInt64 = 0
    ) throws(RoutingFailure) -> ResolvedTask {
        let text = Array(text.utf8)
        let tone = tone.map { Array($0.utf8) }
        guard let name = task.map({ Array($0.utf8) }) else {
            return try self.resolve(task: nil, text: text.span, tone: tone?.span, for: principal, choice: choice)
        }
        return try self.resolve(task: name.span, text: text.span, tone: tone?.span, for: principal, choice: choice)
    }

    func failure(
        _ task: String?, _ text: String, tone: String? = nil, _ principal: Principal = principal()
    ) -> RoutingFailure? {
        do throws(RoutingFailure) {
            _ = try self.ask(task, text, tone: tone, principal)
            return nil
        } catch { return error }
    }
}

extension ResolvedTask {
    var user: String { String(decoding: self.prompt.user, as: UTF8.self) }
    var system: String { String(decoding: self.prompt.system, as: UTF8.self) }

    /// What stands inside the element, when its two tags are where they belong.
    var inside: String? {
        let bytes = self.prompt.user
        let opening = Array("<user_text>\n".utf8)
        let closing = Array("\n</user_text>".utf8)
        guard bytes.starts(with: opening), bytes.reversed().starts(with: closing.reversed()) else { return nil }
        return String(decoding: bytes.dropFirst(opening.count).dropLast(closing.count), as: UTF8.self)
    }
}
