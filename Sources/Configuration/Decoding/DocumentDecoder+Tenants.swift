import GatewayTypes
import Routing

extension DocumentDecoder {
    private static let tenantKeys = [
        "zone", "default_plan", "guest_plan", "default_agent", "answer_cache", "issuers", "plans", "tasks",
    ]

    /// Nil when the entry cannot be a tenant at all.
    func tenant(_ entry: YAMLNode.Entry, id: TenantID, scope: TenantScope) -> TenantSettings? {
        let reader = MappingReader(entry.value, "a tenant", keys: Self.tenantKeys, self.diagnostics)
        guard let reader else { return nil }
        let plans = self.plans(reader, scope)
        let guestPlan = reader.optional("guest_plan")?
            .reference("plan", to: scope.plans, definedUnder: "plans", self.diagnostics)
        let tasks = self.tasks(reader, scope)
        var tenant = TenantSettings(
            id: id, zone: self.zone(reader),
            defaultPlan: PlanName(self.defaultPlan(reader, scope) ?? ""), guestPlan: guestPlan.map { PlanName($0) },
            issuers: self.issuers(reader, scope), plans: plans, tasks: tasks,
            defaultAgent: self.defaultAgent(reader, tasks, scope), position: entry.keyPosition)
        if let bounds = reader.optional("answer_cache") { tenant.cacheBounds = self.cacheBounds(bounds) }
        self.checkGuests(tenant, reader)
        return tenant
    }

    private func zone(_ reader: MappingReader) -> String {
        guard let node = reader.optional("zone") else { return "UTC" }
        let advice = "write an IANA name such as Asia/Tehran or UTC"
        guard let text = node.text("`zone`", advice: advice, self.diagnostics) else { return "UTC" }
        if Zones.isKnown(text) { return text }
        let near = self.diagnostics.nearest(to: text, among: Zones.names).map { ", did you mean `\($0)`?" } ?? ""
        self.diagnostics.error(node.position, "there is no zone \(quoted(text))\(near)", advice)
        return "UTC"
    }

    private func defaultPlan(_ reader: MappingReader, _ scope: TenantScope) -> String? {
        reader.required("default_plan", "write `default_plan:` and the name of one of its plans")?
            .reference("plan", to: scope.plans, definedUnder: "plans", self.diagnostics)
    }

    /// The agent the operator names, else the only task made from the built-in `answer`.
    private func defaultAgent(
        _ reader: MappingReader, _ tasks: [TaskDefinition], _ scope: TenantScope
    ) -> TaskName? {
        if let node = reader.optional("default_agent") {
            return node.reference("task", to: scope.tasks, definedUnder: "tasks", self.diagnostics)
                .map { TaskName($0) }
        }
        let agents = tasks.filter { $0.instruction == BuiltInTask.answer.instruction }
        if agents.count > 1 {
            self.diagnostics.warning(
                reader.place(of: "tasks"),
                "questions that name no agent are refused, since \(listed(agents.map(\.name.string))) are all made "
                    + "from `answer`", "write `default_agent:` and one of them")
        }
        return agents.count == 1 ? agents.first?.name : nil
    }

    private func checkGuests(_ tenant: TenantSettings, _ reader: MappingReader) {
        let issuers = tenant.issuers.filter(\.isGuest)
        if let first = issuers.first, tenant.guestPlan == nil, !reader.has("guest_plan") {
            self.diagnostics.error(
                first.position, "an issuer of guests needs a plan for them", "write `guest_plan:` in the tenant")
        }
        for other in issuers.dropFirst() {
            self.diagnostics.error(
                other.position, "the tenant has a second issuer of guests", "write `guest: true` at one issuer only")
        }
    }

    // MARK: plans

    private func plans(_ reader: MappingReader, _ scope: TenantScope) -> [PlanSettings] {
        let advice = "write at least one plan, such as `free: {limits: [{name: requests_per_minute, limit: 20}]}`"
        guard let node = reader.required("plans", advice),
            let entries = node.entries("`plans`", advice: advice, self.diagnostics)
        else { return [] }
        if entries.isEmpty { self.diagnostics.error(node.position, "there is no plan", advice) }
        return entries.compactMap { entry in
            guard let name = self.key(entry, "a plan's name") else { return nil }
            return self.plan(entry.value, name: PlanName(name), scope)
        }
    }

    private func plan(_ node: YAMLNode, name: PlanName, _ scope: TenantScope) -> PlanSettings? {
        let reader = MappingReader(node, "a plan", keys: ["limits", "tasks", "routes"], self.diagnostics)
        guard let reader else { return nil }
        // An absent list is an error, so that a slip cannot leave a plan without limits.
        let limits = reader.required("limits", "write `limits: [{name: requests_per_minute, limit: 20}]`, or `[]`")
        let tasks = reader.optional("tasks").map { self.planTasks($0, scope) }
        return PlanSettings(
            name: name, limits: limits.map(self.limits) ?? [], tasks: tasks,
            routes: reader.optional("routes").map { self.planRoutes($0, tasks, scope) } ?? [:])
    }

    private func planTasks(_ node: YAMLNode, _ scope: TenantScope) -> Set<TaskName> {
        let advice = "write a list such as [summarize, rewrite], or leave `tasks` out to allow all"
        var tasks: Set<TaskName> = []
        for item in node.items("`tasks`", advice: advice, self.diagnostics) ?? [] {
            let name = item.reference("task", to: scope.tasks, definedUnder: "tasks", self.diagnostics)
            guard let name else { continue }
            if !tasks.insert(TaskName(name)).inserted {
                self.diagnostics.error(item.position, "\(quoted(name)) stands here twice", "write it once")
            }
        }
        return tasks
    }

    private func planRoutes(
        _ node: YAMLNode, _ allowed: Set<TaskName>?, _ scope: TenantScope
    ) -> [TaskName: RouteList] {
        let advice = "write `summarize: [{provider: main, model: small}]`"
        var routes: [TaskName: RouteList] = [:]
        for entry in node.entries("`routes`", advice: advice, self.diagnostics) ?? [] {
            let key = YAMLNode(position: entry.keyPosition, content: .scalar(entry.key, isPlain: true), size: 1)
            let name = key.reference("task", to: scope.tasks, definedUnder: "tasks", self.diagnostics)
            let list = self.routes(entry.value, scope)
            guard let name else { continue }
            if let allowed, !allowed.contains(TaskName(name)) {
                self.diagnostics.error(
                    entry.keyPosition, "the plan has routes for \(quoted(name)) but does not allow this task",
                    "add it to the plan's `tasks` or remove its routes")
            }
            routes[TaskName(name)] = list
        }
        return routes
    }

    private func limits(_ node: YAMLNode) -> [Limit] {
        let advice = "write a list such as [{name: requests_per_minute, limit: 20}]"
        var limits: [Limit] = []
        for item in node.items("`limits`", advice: advice, self.diagnostics) ?? [] {
            guard let limit = self.limit(item) else { continue }
            if limits.contains(where: { $0.kind == limit.kind && $0.scope == limit.scope }) {
                self.diagnostics.error(
                    item.position,
                    "a second limit `\(limit.kind.rawValue)` with the scope `\(limit.scope.rawValue)`",
                    "write one limit of each name and scope")
            } else {
                limits.append(limit)
            }
        }
        return limits
    }

    private func limit(_ node: YAMLNode) -> Limit? {
        let keys = ["name", "scope", "limit", "observe", "on_outage"]
        guard let reader = MappingReader(node, "a limit", keys: keys, self.diagnostics) else { return nil }
        let names = listed(LimitKind.allCases.map(\.rawValue))
        let kind = reader.required("name", "write `name:` and one of \(names)")?
            .word("limit", of: LimitKind.self, self.diagnostics)
        let quantity = reader.required("limit", "write `limit: 20`; 0 refuses everything")?
            .integer("`limit`", in: 0...1_000_000_000_000, self.diagnostics)
        let scope = reader.optional("scope")?.word("scope", of: LimitScope.self, self.diagnostics)
        let observe = reader.optional("observe")?.boolean("`observe`", self.diagnostics)
        let stance = reader.optional("on_outage")?
            .word("stance for an outage", of: OutageStance.self, self.diagnostics)
        guard let kind, let quantity else { return nil }
        return Limit(
            kind, scope: scope ?? .subject, quantity: quantity, observe: observe ?? false, stance: stance ?? .deny)
    }
}
