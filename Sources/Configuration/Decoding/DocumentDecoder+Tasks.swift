import GatewayTypes
import Routing

extension DocumentDecoder {
    private static let taskKeys = [
        "builtin", "prompt", "language", "text", "max_output_tokens", "temperature", "tones", "default_tone",
        "required_scope", "on_disconnect", "chat", "cache", "resume", "routes",
    ]

    func tasks(_ reader: MappingReader, _ scope: TenantScope) -> [TaskDefinition] {
        let advice = "write at least one task, such as `summarize: {routes: [{provider: main, model: small}]}`"
        guard let node = reader.required("tasks", advice),
            let entries = node.entries("`tasks`", advice: advice, self.diagnostics)
        else { return [] }
        if entries.isEmpty { self.diagnostics.error(node.position, "there is no task", advice) }
        return entries.compactMap { entry in
            guard let name = self.key(entry, "a task's name") else { return nil }
            return self.task(entry.value, name: TaskName(name), scope)
        }
    }

    /// Nil when the entry cannot be a task at all.
    private func task(_ node: YAMLNode, name: TaskName, _ scope: TenantScope) -> TaskDefinition? {
        guard let reader = MappingReader(node, "a task", keys: Self.taskKeys, self.diagnostics) else { return nil }
        let routes = reader.required("routes", "write `routes: [{provider: main, model: small}]`")
            .flatMap { self.routes($0, scope) }
        guard let routes, var task = self.blank(reader, name: name, routes: routes) else { return nil }
        if let language = reader.optional("language") { task.language = self.language(language, task.language) }
        if let text = reader.optional("text") { task.bounds = self.bounds(text, task.bounds) }
        if task.bounds.maxBytes > scope.maxBodyBytes {
            self.diagnostics.error(
                reader.place(of: "text"),
                "a text of \(task.bounds.maxBytes) bytes cannot come in a body of \(scope.maxBodyBytes)",
                "write a smaller `max_bytes` or a larger `http.limits.body_bytes`")
        }
        task.outputCap =
            reader.optional("max_output_tokens")?
            .integer("`max_output_tokens`", in: 1...1_000_000, self.diagnostics) ?? task.outputCap
        task.temperature =
            reader.optional("temperature")?.decimal("`temperature`", in: 0...2, self.diagnostics) ?? task.temperature
        self.tones(reader, &task)
        task.requiredScope = reader.optional("required_scope").flatMap(self.scopeToken)
        task.disconnect =
            reader.optional("on_disconnect")?
            .word("policy for a client that leaves", of: DisconnectPolicy.self, self.diagnostics) ?? .abort
        if let chat = reader.optional("chat") { task.chat = self.chatRules(chat, task.chat) }
        task.cache = reader.optional("cache").flatMap(self.cachePolicy)
        task.resume = reader.optional("resume").flatMap(self.resumePolicy)
        return task
    }

    /// The task by its prompt alone: a built-in one, or the operator's own words.
    private func blank(_ reader: MappingReader, name: TaskName, routes: RouteList) -> TaskDefinition? {
        let names = listed(BuiltInTask.allCases.map(\.rawValue))
        if reader.has("builtin") && reader.has("prompt") {
            self.diagnostics.error(
                reader.place(of: "prompt"), "a task has both `builtin` and `prompt`", "write one of the two")
        }
        if let node = reader.optional("builtin") {
            let builtIn = node.word("built-in task", of: BuiltInTask.self, self.diagnostics)
            return builtIn.map { TaskDefinition($0, name: name, routes: routes) }
        }
        if let node = reader.optional("prompt") { return self.prompt(node, name: name, routes: routes) }
        if let builtIn = BuiltInTask(rawValue: name.string) {
            return TaskDefinition(builtIn, name: name, routes: routes)
        }
        self.diagnostics.error(
            reader.position, "a task has neither `builtin` nor `prompt`",
            "write `builtin:` and one of \(names), or `prompt: {instruction: …}`")
        return nil
    }

    private func prompt(_ node: YAMLNode, name: TaskName, routes: RouteList) -> TaskDefinition? {
        let reader = MappingReader(node, "`prompt`", keys: ["system", "instruction"], self.diagnostics)
        let advice = "write what the model is to do with the user's text"
        let instruction = reader?.required("instruction", "write `instruction:` and \(advice.dropFirst(6))")?
            .text("`instruction`", advice: advice, maxBytes: 16_384, multiline: true, self.diagnostics)
        let system = reader?.optional("system")?
            .text("`system`", advice: "write who the model is", maxBytes: 16_384, multiline: true, self.diagnostics)
        guard let instruction else { return nil }
        return TaskDefinition(
            name: name, system: system ?? SystemPrompt.standard, instruction: instruction, routes: routes)
    }

    /// A language by its English name; `same` follows the text.
    private func language(_ node: YAMLNode, _ standard: String?) -> String? {
        let advice = "write the English name of a language, such as Persian, or `same` for the language of the text"
        guard let text = node.text("`language`", advice: advice, maxBytes: 64, self.diagnostics) else {
            return standard
        }
        if text == "same" { return nil }
        let isName = text.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || " -()".unicodeScalars.contains($0) }
        if !isName {
            self.diagnostics.error(node.position, "`language` is \(quoted(text)), which is not a name", advice)
        }
        return text
    }

    private func bounds(_ node: YAMLNode, _ standard: TextBounds) -> TextBounds {
        var bounds = standard
        let keys = ["min_characters", "max_characters", "max_bytes"]
        guard let reader = MappingReader(node, "`text`", keys: keys, self.diagnostics) else { return bounds }
        let characters = 1...10_000_000
        let minimum = reader.optional("min_characters")
        let maximum = reader.optional("max_characters")
        bounds.minCharacters =
            minimum?.integer("`min_characters`", in: characters, self.diagnostics) ?? bounds.minCharacters
        bounds.maxCharacters =
            maximum?.integer("`max_characters`", in: characters, self.diagnostics) ?? bounds.maxCharacters
        bounds.maxBytes =
            reader.optional("max_bytes")?.byteSize("`max_bytes`", in: 1...67_108_864, self.diagnostics)
            ?? bounds.maxBytes
        if bounds.minCharacters > bounds.maxCharacters {
            self.diagnostics.error(
                (maximum ?? minimum ?? node).position,
                "`max_characters` (\(bounds.maxCharacters)) is below `min_characters` (\(bounds.minCharacters))",
                "write a larger `max_characters` or a smaller `min_characters`")
        }
        if bounds.maxBytes < bounds.maxCharacters {
            self.diagnostics.error(
                reader.place(of: "max_bytes"),
                "`max_bytes` (\(bounds.maxBytes)) cannot hold `max_characters` (\(bounds.maxCharacters))",
                "write a larger `max_bytes` (4 bytes for each Character leave room) or a smaller `max_characters`")
        }
        return bounds
    }

    private func tones(_ reader: MappingReader, _ task: inout TaskDefinition) {
        if let node = reader.optional("tones") {
            let advice = "write a list of \(listed(Tone.allCases.map(\.rawValue))), or [] for none"
            var tones: [Tone] = []
            for item in node.items("`tones`", advice: advice, self.diagnostics) ?? [] {
                guard let tone = item.word("tone", of: Tone.self, self.diagnostics) else { continue }
                if tones.contains(tone) {
                    self.diagnostics.error(item.position, "`\(tone.rawValue)` stands here twice", "write it once")
                } else {
                    tones.append(tone)
                }
            }
            task.tones = tones
        }
        if let node = reader.optional("default_tone") {
            task.defaultTone = node.word("tone", of: Tone.self, self.diagnostics) ?? task.defaultTone
        }
    }

    /// RFC 6749 §3.3: a scope is printable ASCII without spaces, quotes and backslashes.
    private func scopeToken(_ node: YAMLNode) -> ByteString? {
        let advice = "write one scope, such as ask"
        guard let text = node.text("`required_scope`", advice: advice, self.diagnostics) else { return nil }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) else {
            self.diagnostics.error(node.position, "`required_scope` is \(quoted(text)), which is no scope", advice)
            return nil
        }
        return ByteString(text)
    }
}
