package import GatewayTypes

/// An entry of a tenant's catalogue as the operator wrote it, checked and with every default filled in.
package struct TaskDefinition: Sendable {
    package var name: TaskName
    /// The opening of the system prompt; the words about the user's text follow it in any case.
    package var system: String
    package var instruction: String
    /// The language of the answer by its English name; nil answers in the language of the text.
    package var language: String?
    package var bounds: TextBounds
    /// Most tokens of the answer.
    package var outputCap: Int
    package var temperature: Double
    /// Tones a client may choose from, in the operator's order.
    package var tones: [Tone]
    /// The tone when the client names none.
    package var defaultTone: Tone?
    package var requiredScope: ByteString?
    package var disconnect: DisconnectPolicy
    package var chat = ChatRules()
    /// Nil keeps no answers.
    package var cache: CachePolicy?
    /// Nil keeps no answer beyond its connection.
    package var resume: ResumePolicy?
    package var routes: RouteList

    package init(
        name: TaskName, system: String = SystemPrompt.standard, instruction: String, language: String? = "Persian",
        bounds: TextBounds = TextBounds(), outputCap: Int = BuiltInTask.outputCap, temperature: Double = 0.2,
        tones: [Tone] = [], defaultTone: Tone? = nil, requiredScope: ByteString? = nil,
        disconnect: DisconnectPolicy = .abort, routes: RouteList
    ) {
        self.name = name
        self.system = system
        self.instruction = instruction
        self.language = language
        self.bounds = bounds
        self.outputCap = outputCap
        self.temperature = temperature
        self.tones = tones
        self.defaultTone = defaultTone
        self.requiredScope = requiredScope
        self.disconnect = disconnect
        self.routes = routes
    }

    /// A built-in task as it is when the operator gives it nothing but routes.
    package init(_ builtIn: BuiltInTask, name: TaskName? = nil, routes: RouteList) {
        self.init(
            name: name ?? TaskName(builtIn.rawValue), instruction: builtIn.instruction, bounds: builtIn.bounds,
            temperature: builtIn.temperature, tones: Tone.allCases, defaultTone: builtIn.defaultTone, routes: routes)
    }
}

/// The part of a plan that decides which tasks its subjects may use, and over which routes.
package struct RoutingPlan: Sendable {
    package var name: PlanName
    /// Nil allows every task of the tenant.
    package var tasks: Set<TaskName>?
    /// Routes that replace a task's own.
    package var routes: [TaskName: RouteList]

    package init(name: PlanName, tasks: Set<TaskName>? = nil, routes: [TaskName: RouteList] = [:]) {
        self.name = name
        self.tasks = tasks
        self.routes = routes
    }
}
