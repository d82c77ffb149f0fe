import Asking
import GatewayTypes
import HTTPClient

/// Turns a provider's settings into what calls are made with.
enum ProviderBuilder {
    /// Pace of the embedded provider's streams.
    private static let demoWordDelay = TimeSpan.milliseconds(20)

    static func provider(_ settings: ProviderSettings) -> Provider {
        Provider(
            name: settings.name, dialect: self.dialect(settings),
            spares: settings.spareKeys.map { self.dialect(settings, key: $0) },
            deadlines: self.deadlines(settings.timeouts), retry: settings.retry, breaker: settings.breaker,
            concurrency: settings.concurrency)
    }

    /// The same calls with another key.
    private static func dialect(_ settings: ProviderSettings, key: ResolvedSecret) -> Provider.Dialect {
        var settings = settings
        settings.key = key
        return self.dialect(settings)
    }

    private static func deadlines(_ timeouts: ProviderTimeouts) -> Provider.Deadlines {
        Provider.Deadlines(
            connect: timeouts.connect, firstByte: timeouts.firstByte, idle: timeouts.idle, total: timeouts.total)
    }

    private static func dialect(_ settings: ProviderSettings) -> Provider.Dialect {
        guard settings.dialect == .openai else { return .demo(wordDelay: self.demoWordDelay) }
        let endpoint = UpstreamEndpoint(
            url: "\(settings.baseURL ?? "")/chat/completions", headers: self.headers(settings),
            connectTimeout: settings.timeouts.connect, maxConcurrentCalls: settings.maxConnections)
        return .openAI(endpoint, asksForUsage: settings.usageInStream)
    }

    private static func headers(_ settings: ProviderSettings) -> [(name: String, value: Secret)] {
        var headers: [(name: String, value: Secret)] = [
            ("Content-Type", Secret("application/json")), ("User-Agent", Secret("askgate")),
            // A gateway has to name itself (RFC 9110 §7.6.3).
            ("Via", Secret("1.1 askgate")),
        ]
        if let key = settings.key { headers.append(("Authorization", key.value.prefixed(with: "Bearer "))) }
        for header in settings.headers {
            switch header.value {
            case .literal(let text): headers.append((header.name, Secret(text)))
            case .secret(let secret): headers.append((header.name, secret.value))
            }
        }
        return headers
    }
}
