import GatewayTesting
import GatewayTypes
import Testing

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
