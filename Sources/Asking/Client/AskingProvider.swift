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

    /// The wire formats that services speak.
    fileprivate enum Wire {
        case openAI
        case anthropic
        case gemini
    }

    private enum Service {
        case remote(Wire, baseURL: String, keys: [Secret])
        case own(any AskingService)
        case demo
    }

    /// What `select` calls it; a provider registered later under the same name takes its place.
    public let name: String
    private let service: Service
    private let agents: [String: Agent]
    private let defaultAgent: String

    /// A provider of chat completions: OpenAI and the many that speak its format.
    ///
    /// - Parameters:
    ///   - baseURL: what stands before `/chat/completions`, without a slash at its end.
    ///   - keys: share the work and stand in for each other; empty for servers that want none.
    ///   - defaultAgent: who answers a question that names no agent.
    public static func openAI(
        name: String, baseURL: String, keys: [String] = [], agents: [String: Agent], defaultAgent: String
    ) -> AskingProvider {
        self.remote(.openAI, name, baseURL, keys, agents, defaultAgent)
    }

    /// A provider of Anthropic's messages.
    ///
    /// - Parameters:
    ///   - baseURL: what stands before `/v1/messages`, without a slash at its end.
    ///   - keys: share the work and stand in for each other.
    ///   - defaultAgent: who answers a question that names no agent.
    public static func anthropic(
        name: String, baseURL: String = "https://api.anthropic.com", keys: [String], agents: [String: Agent],
        defaultAgent: String
    ) -> AskingProvider {
        self.remote(.anthropic, name, baseURL, keys, agents, defaultAgent)
    }

    /// A provider of Gemini's generateContent.
    ///
    /// - Parameters:
    ///   - baseURL: what stands before `/v1beta/models/`, without a slash at its end.
    ///   - keys: share the work and stand in for each other.
    ///   - defaultAgent: who answers a question that names no agent.
    public static func gemini(
        name: String, baseURL: String = "https://generativelanguage.googleapis.com", keys: [String],
        agents: [String: Agent], defaultAgent: String
    ) -> AskingProvider {
        self.remote(.gemini, name, baseURL, keys, agents, defaultAgent)
    }

    private static func remote(
        _ wire: Wire, _ name: String, _ baseURL: String, _ keys: [String], _ agents: [String: Agent],
        _ defaultAgent: String
    ) -> AskingProvider {
        AskingProvider(
            name: name, service: .remote(wire, baseURL: baseURL, keys: keys.map { Secret($0) }), agents: agents,
            defaultAgent: defaultAgent)
    }

    /// A provider that is code of the app's own.
    ///
    /// - Parameters:
    ///   - agents: what the service may be asked as.
    ///   - defaultAgent: who answers a question that names no agent.
    public static func service(
        name: String, _ service: any AskingService, agents: [String: Agent], defaultAgent: String
    ) -> AskingProvider {
        AskingProvider(name: name, service: .own(service), agents: agents, defaultAgent: defaultAgent)
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
        switch self.service {
        case .remote(let wire, let baseURL, let keys): return self.remote(wire, baseURL, keys)
        case .own(let service):
            return Provider(name: ProviderName(self.name), dialect: .service(service, Provider.Deadlines()))
        case .demo: return Provider(name: ProviderName(self.name), dialect: .demo(wordDelay: .milliseconds(20)))
        }
    }

    private func remote(_ wire: Wire, _ baseURL: String, _ keys: [Secret]) -> Provider? {
        let isAddress = baseURL.hasPrefix("https://") || baseURL.hasPrefix("http://")
        guard isAddress, baseURL.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x40 && $0 != 0x23 }) else {
            return nil
        }
        let dialects = keys.isEmpty ? [wire.dialect(baseURL, key: nil)] : keys.map { wire.dialect(baseURL, key: $0) }
        guard let first = dialects.first else { return nil }
        return Provider(
            name: ProviderName(self.name), dialect: first, spares: Array(dialects.dropFirst()),
            retry: Provider.Retry(retries: 1))
    }
}

extension AskingProvider.Wire {
    /// Calls with one key, at the places where the vendors want address and key.
    fileprivate func dialect(_ baseURL: String, key: Secret?) -> Provider.Dialect {
        var headers: [(name: String, value: Secret)] = [("Content-Type", Secret("application/json"))]
        let options = Provider.CallOptions()
        switch self {
        case .openAI:
            if let key { headers.append(("Authorization", key.prefixed(with: "Bearer "))) }
            return .openAI(self.endpoints(.init(baseURL + "/chat/completions"), headers), options)
        case .anthropic:
            headers.append(("anthropic-version", Secret("2023-06-01")))
            if let key { headers.append(("x-api-key", key)) }
            return .anthropic(self.endpoints(.init(baseURL + "/v1/messages"), headers), options)
        case .gemini:
            if let key { headers.append(("x-goog-api-key", key)) }
            let model = baseURL + "/v1beta/models/" + Endpoints.Addresses.model
            let addresses = Endpoints.Addresses(
                model + ":generateContent", stream: model + ":streamGenerateContent?alt=sse")
            return .gemini(self.endpoints(addresses, headers), options)
        }
    }

    private func endpoints(_ addresses: Endpoints.Addresses, _ headers: [(name: String, value: Secret)]) -> Endpoints {
        Endpoints(addresses) { UpstreamEndpoint(url: $0, headers: headers) }
    }
}
