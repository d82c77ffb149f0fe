package import GatewayTypes

/// The frozen task catalogue of one tenant: turns what a client named into what is put to a provider.
///
/// Pure memory, safe to share between loops. The client chooses a task, a tone and a text; prompt, model, bounds and
/// caps are the server's.
package struct RoutingTable: Sendable {
    /// Tokens that UTF-8 text is expected to take.
    package typealias Estimate = @Sendable (_ text: Span<UInt8>) -> Int

    private let tasks: [PreparedTask]
    private let plans: [PlanName: PreparedPlan]
    private let defaultAgent: Int?
    private let estimate: Estimate
    /// The largest text that any task takes, in UTF-8 bytes after trimming.
    package let maxTextBytes: Int

    /// Prepares every prompt of every tone.
    ///
    /// Of tasks or plans with the same name the first counts; Configuration refuses such files.
    ///
    /// - Parameter pool: shared by the tables of one configuration, so that equal prompts take memory once.
    package init(
        tasks definitions: [TaskDefinition], plans: [RoutingPlan], defaultAgent: TaskName? = nil,
        pool: inout PromptPool, estimate: @escaping Estimate
    ) {
        var seen: Set<TaskName> = []
        var tasks: [PreparedTask] = []
        for definition in definitions where seen.insert(definition.name).inserted {
            tasks.append(PreparedTask(definition, pool: &pool, estimate: estimate))
        }
        tasks.sort { Bytes.precedes($0.name.span, $1.name.span) }
        self.tasks = tasks
        self.plans = Dictionary(
            plans.map { [tasks] plan in (plan.name, PreparedPlan(plan, tasks: tasks)) },
            uniquingKeysWith: { first, _ in first })
        self.defaultAgent = defaultAgent.flatMap { name in tasks.firstIndex { $0.definition.name == name } }
        self.estimate = estimate
        self.maxTextBytes = tasks.map(\.definition.bounds.maxBytes).max() ?? 0
    }

    /// Prepares one table by itself.
    package init(
        tasks: [TaskDefinition], plans: [RoutingPlan], defaultAgent: TaskName? = nil, estimate: @escaping Estimate
    ) {
        var pool = PromptPool()
        self.init(tasks: tasks, plans: plans, defaultAgent: defaultAgent, pool: &pool, estimate: estimate)
    }

    /// Decides everything about one ask but its admission.
    ///
    /// - Parameters:
    ///   - task: the task or agent the client named; nil asks the tenant's default agent.
    ///   - text: the client's text, valid UTF-8, not yet trimmed.
    ///   - tone: the tone the client named, if any.
    ///   - chat: the rest of a conversation, whose bounds are those of the one text; nil on routes without any.
    ///   - principal: whose plan and scopes count.
    ///   - choice: evenly distributed 64 bits that draw among weighted routes.
    package func resolve(
        task name: Span<UInt8>?, text: Span<UInt8>, tone: Span<UInt8>? = nil, chat: ChatAsk? = nil,
        for principal: borrowing Principal, choice: UInt64
    ) throws(RoutingFailure) -> ResolvedTask {
        let place = try self.place(of: name)
        let task = self.tasks[place]
        let routes = try self.routes(of: task.definition, at: place, for: principal)
        let system = try task.system(tone: tone)
        let trimmed = text.extracting(Trimming.bounds(of: text))
        let length = try task.definition.bounds.admit(trimmed)
        let user = UserText.element(around: trimmed)
        var resolved = ResolvedTask(
            task: task.definition.name, prompt: Prompt(system: system.bytes, user: user), textLength: length,
            promptEstimate: system.estimate &+ max(0, self.estimate(user.span)),
            outputCap: task.definition.outputCap, temperature: task.definition.temperature,
            routes: routes.ordered(by: choice), disconnect: task.definition.disconnect)
        resolved.cache = task.definition.cache
        resolved.resume = task.definition.resume
        if let chat { try self.add(chat, trimmedBytes: trimmed.count, by: task.definition, to: &resolved) }
        return resolved
    }

    /// The earlier messages share the bounds of the text with the last one.
    private func add(
        _ chat: ChatAsk, trimmedBytes: Int, by task: borrowing TaskDefinition, to resolved: inout ResolvedTask
    ) throws(RoutingFailure) {
        task.chat.apply(chat, to: &resolved)
        guard !chat.history.isEmpty else { return }
        var left = task.bounds
        left.maxBytes &-= trimmedBytes
        left.maxCharacters &-= resolved.textLength
        do throws(RoutingFailure) {
            let (turns, characters) = try task.chat.turns(of: chat.history, bounds: left)
            resolved.prompt.history = turns
            resolved.textLength &+= characters
            for turn in turns {
                resolved.promptEstimate &+= max(0, self.estimate(turn.text.span)) &+ RoutingTable.turnOverhead
            }
        } catch {
            switch error {
            case .textTooLarge: throw .textTooLarge(maxBytes: task.bounds.maxBytes)
            case .textTooLong: throw .textTooLong(maximum: task.bounds.maxCharacters)
            default: throw error
            }
        }
    }

    /// Tokens that the chat format adds around each message.
    private static let turnOverhead = 4

    /// The tasks that a principal may use, by name.
    package func tasks(for principal: borrowing Principal) -> [TaskName] {
        guard let plan = self.plans[principal.plan] else { return [] }
        let scopes = principal.scopes
        return zip(self.tasks, plan.entries).filter { task, entry in
            entry.allowed && (task.definition.requiredScope.map(scopes.contains) ?? true)
        }.map(\.0.definition.name).sorted()
    }

    /// The definition of a task, for operators to look at.
    package func definition(of name: TaskName) -> TaskDefinition? {
        self.tasks.first { $0.definition.name == name }?.definition
    }

    private func place(of name: Span<UInt8>?) throws(RoutingFailure) -> Int {
        if let name {
            guard let place = self.search(name) else { throw .unknownTask }
            return place
        }
        guard let place = self.defaultAgent else { throw .noDefaultAgent }
        return place
    }

    private func search(_ name: Span<UInt8>) -> Int? {
        var low = 0
        var high = self.tasks.count
        while low < high {
            let middle = (low &+ high) / 2
            let candidate = self.tasks[middle].name
            if Bytes.equal(candidate.span, name) { return middle }
            if Bytes.precedes(candidate.span, name) { low = middle &+ 1 } else { high = middle }
        }
        return nil
    }

    private func routes(
        of task: borrowing TaskDefinition, at place: Int, for principal: borrowing Principal
    ) throws(RoutingFailure) -> RouteList {
        guard let plan = self.plans[principal.plan] else { throw .unknownPlan }
        let entry = plan.entries[place]
        guard entry.allowed else { throw .taskNotInPlan }
        if let scope = task.requiredScope, !principal.scopes.contains(scope) {
            throw .insufficientScope(required: scope)
        }
        return entry.routes
    }
}
