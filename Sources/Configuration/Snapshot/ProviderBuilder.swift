import Asking
import GatewayTypes
import HTTPClient

/// Turns a provider's settings into what calls are made with.
enum ProviderBuilder {
    /// Pace of the embedded provider's streams.
    private static let demoWordDelay = TimeSpan.milliseconds(20)

    static func provider(_ settings: ProviderSettings) -> Provider {
        // One for all keys and models.
        let cap = CallCap(settings.maxConnections)
        return Provider(
            name: settings.name, dialect: self.dialect(settings, cap),
            spares: settings.spareKeys.map { self.dialect(settings, key: $0, cap) },
            deadlines: self.deadlines(settings.timeouts), retry: settings.retry, breaker: settings.breaker,
            concurrency: settings.concurrency)
    }

    /// The same calls with another key.
    private static func dialect(_ settings: ProviderSettings, key: ResolvedSecret, _ cap: CallCap) -> Provider.Dialect {
        var settings = settings
        settings.key = key
        return self.dialect(settings, cap)
    }

    private static func deadlines(_ timeouts: ProviderTimeouts) -> Provider.Deadlines {
        Provider.Deadlines(
            connect: timeouts.connect, firstByte: timeouts.firstByte, idle: timeouts.idle, total: timeouts.total)
    }

    private static func dialect(_ settings: ProviderSettings, _ cap: CallCap) -> Provider.Dialect {
        switch settings.dialect {
        case .openai: .openAI(self.endpoints(settings, cap), settings.options)
        case .anthropic: .anthropic(self.endpoints(settings, cap), settings.options)
        case .gemini: .gemini(self.endpoints(settings, cap), settings.options)
        case .demo: .demo(wordDelay: self.demoWordDelay)
        }
    }

    private static func endpoints(_ settings: ProviderSettings, _ cap: CallCap) -> Endpoints {
        let headers = self.headers(settings)
        let connect = settings.timeouts.connect
        return Endpoints(ProviderAddress.addresses(of: settings)) { url in
            UpstreamEndpoint(url: url, headers: headers, connectTimeout: connect, cap: cap)
        }
    }

    /// Every header of a call, the key's among them.
    static func headers(_ settings: ProviderSettings) -> [(name: String, value: Secret)] {
        var headers: [(name: String, value: Secret)] = [
            ("Content-Type", Secret("application/json")), ("User-Agent", Secret("askgate")),
            // A gateway has to name itself (RFC 9110 §7.6.3).
            ("Via", Secret("1.1 askgate")),
        ]
        let isVersioned = settings.headers.contains { $0.name.lowercased() == "anthropic-version" }
        if settings.dialect == .anthropic, !isVersioned {
            // The only version of the messages API there is.
            headers.append(("anthropic-version", Secret("2023-06-01")))
        }
        if let key = settings.key, case .header(let name, let scheme) = settings.keyPlace {
            let start = scheme.map { Array("\($0) ".utf8) } ?? []
            headers.append((name, key.value.reveal { Secret(start + $0) }))
        }
        return headers + settings.headers.map { ($0.name, $0.value.secret) }
    }
}

/// The addresses of a provider's calls.
enum ProviderAddress {
    static func addresses(of settings: ProviderSettings) -> Endpoints.Addresses {
        let base = settings.baseURL ?? ""
        let query = self.query(of: settings)
        guard settings.dialect == .gemini else {
            return Endpoints.Addresses(base + settings.path + self.joined(query))
        }
        func path(_ method: String) -> String { settings.path.replacing("{method}", with: method) }
        return Endpoints.Addresses(
            base + path("generateContent") + self.joined(query),
            // Without it a stream is one array of JSON, whole only at its end.
            stream: base + path("streamGenerateContent") + self.joined(["alt=sse"] + query))
    }

    private static func query(of settings: ProviderSettings) -> [String] {
        var parameters = settings.query.map { self.parameter($0.name, $0.value.secret) }
        if let key = settings.key, case .query(let name) = settings.keyPlace {
            parameters.append(self.parameter(name, key.value))
        }
        return parameters
    }

    private static func parameter(_ name: String, _ value: Secret) -> String {
        let text = value.reveal { String(decoding: $0, as: UTF8.self) }
        return "\(Endpoints.segment(name))=\(Endpoints.segment(text))"
    }

    private static func joined(_ query: [String]) -> String {
        query.isEmpty ? "" : "?" + query.joined(separator: "&")
    }
}

extension ProviderSettings.HeaderValue {
    fileprivate var secret: Secret {
        switch self {
        case .literal(let text): Secret(text)
        case .secret(let secret): secret.value
        }
    }
}
