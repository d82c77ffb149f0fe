import GatewayTypes

/// A task with its prompts assembled and estimated, so that an ask only copies the user's text.
struct PreparedTask: Sendable {
    struct System: Sendable {
        var bytes: [UInt8]
        var estimate: Int
    }

    let definition: TaskDefinition
    /// UTF-8 of the name, to be compared with what a client wrote.
    let name: [UInt8]
    /// By `Tone.index`, 0 being the task's default; nil where the tone is not allowed.
    private let systems: [System?]
    private let plain: System

    init(_ definition: TaskDefinition, pool: inout PromptPool, estimate: RoutingTable.Estimate) {
        func prepare(_ tone: Tone?, _ pool: inout PromptPool) -> System {
            let bytes = pool.shared(SystemPrompt.assemble(definition, tone: tone))
            return System(bytes: bytes, estimate: max(0, estimate(bytes.span)))
        }
        self.definition = definition
        self.name = Array(definition.name.string.utf8)
        self.plain = prepare(definition.defaultTone, &pool)
        var systems: [System?] = [nil]
        for tone in Tone.allCases { systems.append(definition.tones.contains(tone) ? prepare(tone, &pool) : nil) }
        self.systems = systems
    }

    /// The system prompt in the tone the client named, or in the task's own.
    func system(tone: Span<UInt8>?) throws(RoutingFailure) -> System {
        guard let tone else { return self.plain }
        guard let named = Tone(utf8: tone), self.systems.indices.contains(named.index),
            let system = self.systems[named.index]
        else { throw .toneNotAllowed }
        return system
    }
}

/// A plan laid over the prepared tasks, by their places.
struct PreparedPlan: Sendable {
    struct Entry: Sendable {
        var allowed: Bool
        var routes: RouteList
    }

    let entries: [Entry]

    init(_ plan: RoutingPlan?, tasks: [PreparedTask]) {
        self.entries = tasks.map { task in
            Entry(
                allowed: plan?.tasks?.contains(task.definition.name) ?? true,
                routes: plan?.routes[task.definition.name] ?? task.definition.routes)
        }
    }
}
