import GatewayTypes
import HTTPClient

/// Who answers: a provider with its agents.
public struct AskingProvider: Sendable {
    /// A model and how it is to behave.
    public struct Agent: Hashable, Sendable {
        /// The provider's own name for the model.
        public var model: String
        /// The system prompt.
        public var instructions: String
        /// Most tokens of an answer.
        public var maxOutputTokens: Int
        /// From 0, steady, to 2, playful.
        public var temperature: Double

        /// An agent with the usual bounds.
        public init(
            model: String, instructions: String = "You are a helpful assistant.", maxOutputTokens: Int = 1200,
            temperature: Double = 0.2
        ) {
            self.model = model
            self.instructions = instructions
            self.maxOutputTokens = maxOutputTokens
            self.temperature = temperature
        }
    }

    private enum Service {
        case openAI(baseURL: String, keys: [Secret])
        case demo
    }

    /// What `select` calls it; a provider registered later under the same name takes its place.
    public let name: String
    private let service: Service
    private let agents: [String: Agent]
    private let defaultAgent: String

    /// A provider of chat completions.
    ///
    /// - Parameters:
    ///   - baseURL: what stands before `/chat/completions`, without a slash at its end.
    ///   - keys: share the work and stand in for each other; empty for servers that want none.
    ///   - defaultAgent: who answers a question that names no agent.
    public static func openAI(
        name: String, baseURL: String, keys: [String] = [], agents: [String: Agent], defaultAgent: String
    ) -> AskingProvider {
        AskingProvider(
            name: name, service: .openAI(baseURL: baseURL, keys: keys.map { Secret($0) }), agents: agents,
            defaultAgent: defaultAgent)
    }

    /// The embedded provider: answers with the question's own words, needs no network and costs nothing.
    public static func demo(name: String = "demo") -> AskingProvider {
        AskingProvider(name: name, service: .demo, agents: ["demo": Agent(model: "demo")], defaultAgent: "demo")
    }

    /// The agent of this name, or the provider's own choice.
    func agent(_ name: String?) -> Agent? { self.agents[name ?? self.defaultAgent] }

    /// This provider as the core knows it; nil when its address cannot be one.
    func built() -> Provider? {
        guard !self.name.isEmpty, self.agent(nil) != nil else { return nil }
        guard case .openAI(let baseURL, let keys) = self.service else {
            return Provider(name: ProviderName(self.name), dialect: .demo(wordDelay: .milliseconds(20)))
        }
        let isAddress = baseURL.hasPrefix("https://") || baseURL.hasPrefix("http://")
        guard isAddress, baseURL.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x40 && $0 != 0x23 }) else {
            return nil
        }
        let dialects = keys.isEmpty ? [Self.dialect(baseURL, key: nil)] : keys.map { Self.dialect(baseURL, key: $0) }
        guard let first = dialects.first else { return nil }
        return Provider(
            name: ProviderName(self.name), dialect: first, spares: Array(dialects.dropFirst()),
            retry: Provider.Retry(retries: 1))
    }

    private static func dialect(_ baseURL: String, key: Secret?) -> Provider.Dialect {
        var headers: [(name: String, value: Secret)] = [("Content-Type", Secret("application/json"))]
        if let key { headers.append(("Authorization", key.prefixed(with: "Bearer "))) }
        return .openAI(
            UpstreamEndpoint(url: baseURL + "/chat/completions", headers: headers), asksForUsage: true)
    }
}
