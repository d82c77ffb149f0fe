package import Asking
package import GatewayTypes

/// A provider's wire format.
package enum ProviderDialect: String, Sendable, CaseIterable {
    case openai
    case anthropic
    case gemini
    /// The embedded provider: no network, no key.
    case demo

    /// Where the vendor itself answers; nil where there is no one vendor.
    package var defaultBaseURL: String? {
        switch self {
        case .openai, .demo: nil
        case .anthropic: "https://api.anthropic.com"
        case .gemini: "https://generativelanguage.googleapis.com"
        }
    }

    /// What follows the base URL. `{model}` stands for the model, `{method}` for gemini's name of the call.
    package var defaultPath: String {
        switch self {
        case .openai: "/chat/completions"
        case .anthropic: "/v1/messages"
        case .gemini: "/v1beta/models/{model}:{method}"
        case .demo: ""
        }
    }

    /// Where the vendor itself looks for the key.
    package var defaultKeyPlace: ProviderSettings.KeyPlace {
        switch self {
        case .openai, .demo: .header("Authorization", scheme: "Bearer")
        case .anthropic: .header("x-api-key", scheme: nil)
        case .gemini: .header("x-goog-api-key", scheme: nil)
        }
    }
}

/// Deadlines of one call to a provider.
package struct ProviderTimeouts: Sendable, Hashable {
    package var connect = TimeSpan.seconds(2)
    /// From the request to the first byte of the answer.
    package var firstByte = TimeSpan.seconds(30)
    /// Between two reads of an answer.
    package var idle = TimeSpan.seconds(30)
    /// The whole ask, over all its attempts.
    package var total = TimeSpan.seconds(90)

    package init() {}
}

/// A configured upstream.
package struct ProviderSettings: Sendable {
    /// Where the key goes in every call.
    package enum KeyPlace: Sendable, Hashable {
        /// The scheme is the word before the key.
        case header(String, scheme: String?)
        /// A parameter of the address.
        case query(String)
    }

    /// The value of a header or of a parameter that goes with every call.
    package enum HeaderValue: Sendable, Hashable {
        case literal(String)
        case secret(ResolvedSecret)
    }

    package struct Header: Sendable, Hashable {
        /// As the operator spelled it.
        package var name: String
        package var value: HeaderValue
    }

    package var name: ProviderName
    package var dialect: ProviderDialect
    /// Scheme, host, port and path without a slash at the end; nil for `demo` only.
    package var baseURL: String?
    /// What follows the base URL, with its placeholders.
    package var path: String
    /// Parameters of the address, in the order of the file.
    package var query: [Header]
    package var key: ResolvedSecret?
    package var keyPlace: KeyPlace
    package var timeouts: ProviderTimeouts
    /// Over all loops.
    package var maxConnections: Int
    /// What calls hold where servers of one dialect differ.
    package var options: Provider.CallOptions
    package var headers: [Header]
    package var position: SourcePosition
    /// Further keys, which share the work with `key`.
    package var spareKeys: [ResolvedSecret] = []
    package var retry = Provider.Retry()
    package var breaker = Provider.BreakerPolicy()
    /// Nil when as many calls may be open as asks come.
    package var concurrency: Provider.Concurrency?
}
