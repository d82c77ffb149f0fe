/// One way to answer a task: a provider, its model, and the share of asks that should go there.
package struct ProviderRoute: Hashable, Sendable {
    package var provider: ProviderName
    package var model: ModelName
    /// Relative share among the routes of a task; at least 1.
    package var weight: Int

    package init(provider: ProviderName, model: ModelName, weight: Int = 1) {
        self.provider = provider
        self.model = model
        self.weight = weight
    }
}

/// What is put to a model: the server's words and the user's, apart from each other. UTF-8.
package struct Prompt: Sendable {
    package var system: [UInt8]
    /// What was said before, oldest first; empty but for conversations.
    package var history: [Turn]
    package var user: [UInt8]

    package init(system: [UInt8], history: [Turn] = [], user: [UInt8]) {
        self.system = system
        self.history = history
        self.user = user
    }
}

/// What becomes of the provider's call when the client goes away in the middle.
package enum DisconnectPolicy: String, Sendable, CaseIterable {
    case abort
    case finish
}

/// A task made ready for one ask: everything the server decided, nothing the client could choose.
package struct ResolvedTask: Sendable {
    package var task: TaskName
    package var prompt: Prompt
    /// Characters of the trimmed text, as a person counts them; for the access record.
    package var textLength: Int
    /// Tokens that the prompt is expected to take.
    package var promptEstimate: Int
    /// Most tokens the answer may take.
    package var outputCap: Int
    package var temperature: Double
    /// Texts at which the model is to stop.
    package var stop: [[UInt8]] = []
    /// Nil where every ask is to reach a provider.
    package var cache: CachePolicy?
    /// Nil where an answer dies with the connection that it is read over.
    package var resume: ResumePolicy?
    /// Never empty; in the order they are to be tried.
    package var routes: [ProviderRoute]
    package var disconnect: DisconnectPolicy

    package init(
        task: TaskName, prompt: Prompt, textLength: Int, promptEstimate: Int, outputCap: Int, temperature: Double,
        routes: [ProviderRoute], disconnect: DisconnectPolicy = .abort
    ) {
        self.task = task
        self.prompt = prompt
        self.textLength = textLength
        self.promptEstimate = promptEstimate
        self.outputCap = outputCap
        self.temperature = temperature
        self.routes = routes
        self.disconnect = disconnect
    }
}
