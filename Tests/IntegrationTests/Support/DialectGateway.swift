import GatewayTesting
import GatewayTypes
import Testing

/// A dialect as the gateway under test is configured with it: a provider, and a task of the same name.
enum TestDialect: String, CaseIterable, Sendable {
    case openai, anthropic, gemini

    /// Every write of a whole streamed answer of 10 + 5 tokens.
    func stream(_ words: [String]) -> [String] {
        switch self {
        case .openai: OpenAIShapes.stream(words)
        case .anthropic: AnthropicShapes.stream(words)
        case .gemini: GeminiShapes.stream(words)
        }
    }

    /// The writes of a stream up to these words, without any mark of an end.
    func start(_ words: [String]) -> [String] {
        switch self {
        case .openai: words.map { OpenAIShapes.event(OpenAIShapes.delta($0)) }
        case .anthropic: [AnthropicShapes.start()] + words.map(AnthropicShapes.text)
        case .gemini: words.map { GeminiShapes.event(GeminiShapes.text($0)) }
        }
    }

    /// An answer in one piece, of 10 + 5 tokens.
    func whole(_ text: String) -> String {
        switch self {
        case .openai: OpenAIShapes.completion(text)
        case .anthropic: AnthropicShapes.message(text)
        case .gemini: GeminiShapes.text(text, finish: "STOP", usage: GeminiShapes.usage)
        }
    }

    /// The vendor's way to say in a stream that it has too much to do.
    var overload: String {
        switch self {
        case .openai: OpenAIShapes.event(#"{"error":{"message":"secret words","code":503}}"#)
        case .anthropic: AnthropicShapes.error("overloaded_error")
        case .gemini:
            GeminiShapes.event(#"{"error":{"code":503,"message":"secret words","status":"UNAVAILABLE"}}"#)
        }
    }
}

extension Trait where Self == GatewayTrait {
    /// One gateway with a provider of every dialect for the tests of the suite.
    static var dialects: Self {
        Self {
            let gateway = try TestGateway()
            try gateway.serveDialects(at: String(gateway.provider.baseURL.dropLast("/v1".count)))
            return gateway
        }
    }
}

extension TestGateway {
    /// Reloads with a provider and a task of each dialect.
    ///
    /// - Parameters:
    ///   - address: scheme, host and port of all the providers.
    ///   - anthropic: what follows it at that provider.
    ///   - gemini: what follows it at that provider.
    ///   - geminiMembers: members of that provider besides, each behind a comma.
    func serveDialects(
        at address: String, anthropic: String = "", gemini: String = "", geminiMembers: String = ""
    ) throws {
        let timeouts = "timeouts: {connect: 2s, first_byte: 3s, idle: 3s, total: 20s}"
        // One fake plays the failing and the working providers of many tests.
        let key = "key: {env: TEST_PROVIDER_KEY}, breaker: off, \(timeouts)"
        let providers = """
            providers:
              openai: {dialect: openai, base_url: "\(address)/v1", \(key)}
              anthropic: {dialect: anthropic, base_url: "\(address)\(anthropic)", \(key)}
              gemini: {dialect: gemini, base_url: "\(address)\(gemini)", \(key)\(geminiMembers)}
              azure:
                dialect: openai
                base_url: \(address)
                path: /openai/deployments/{model}/chat/completions
                query: {api-version: "2024-10-21"}
                key_in: {header: api-key}
                output_cap_member: max_completion_tokens
                send_temperature: false
                headers: {X-Team: mobile}
                key: {env: TEST_PROVIDER_KEY}
              proxied: {dialect: gemini, base_url: "\(address)/proxy", key_in: {query: key}, \(key)}

            """
        let tasks = ["openai", "anthropic", "gemini", "azure", "proxied"].map {
            "      \($0): {builtin: summarize, text: {min_characters: 1}, routes: [{provider: \($0), model: m-\($0)}]}\n"
        }
        var yaml = self.settings.yaml(
            api: self.process.port, admin: self.process.adminPort, provider: self.provider.baseURL)
        yaml = yaml.replacing("providers:\n", with: providers, maxReplacements: 1)
        yaml = yaml.replacing("    tasks:\n", with: "    tasks:\n" + tasks.joined(), maxReplacements: 1)
        try self.reload(yaml: yaml)
        let refused = "no dialects: \(self.process.child.standardError)"
        try #require(try self.ask(Ask("ready", task: "openai")).code != "unknown_task", "\(refused)")
    }
}
