import Configuration
import GatewayTypes

/// A small good configuration that tests break in one place at a time.
let goodConfiguration = """
    listeners: {api: {}}
    providers:
      main: {dialect: openai, base_url: "https://api.example.com/v1", key: {env: MAIN_KEY}}
      demo: {dialect: demo}
    tenants:
      acme:
        default_plan: free
        issuers:
          - issuer: https://id.example.test
            audience: gw
            algorithms: [RS256]
            keys: {jwks_file: keys.json}
        plans:
          free:
            limits:
              - {name: requests_per_minute, limit: 20}
        tasks:
          summarize:
            routes: [{provider: main, model: small}]

    """

let testEnvironment = [
    "MAIN_KEY": "sk-canary-main", "REDIS_PASSWORD": "canary-redis", "SPARE_KEY": "sk-canary-spare", "EMPTY": "",
    "SPLIT": "sk-canary\nX-Injected: yes",
    "ASKGATE_DEVELOPMENT_SECRET": "canary-development-secret-32-bytes",
    "OPENAI_KEY": "sk-canary-openai", "DARVAREH_KEY": "canary-darvareh", "OPENROUTER_KEY": "canary-openrouter",
    "AZURE_KEY": "canary-azure", "ANTHROPIC_KEY": "canary-anthropic", "GEMINI_KEY": "canary gemini&",
    "SHORT_NAMES": "canary-few", "GUEST_NAMES": "canary-names-of-guests-32-bytes!",
    "GUEST_SECRET_2026": "canary-guest-secret-of-2026-bytes", "GUEST_SECRET_2025": "canary-guest-secret-of-2025-bytes",
    "HOP_SECRET": "canary-secret-of-hops-of-32-bytes!!", "HOP_SECRET_BEFORE": "canary-older-secret-of-hops-32-bytes",
    "DIGEST": String(repeating: "ab", count: 32), "SHORT": "sixteen-bytes-ok",
    "GUEST_SECRET": "Y2FuYXJ5LWd1ZXN0LXNlY3JldC1vZi0zMi1ieXRlcyEh",
]

let testFiles: [String: ConfigurationSources.File] = [
    "keys.json": .init(bytes: Array(#"{"keys":[]}"#.utf8)),
    "keys/acme.pem": .init(bytes: Array("-----BEGIN PUBLIC KEY-----\nAA\n-----END PUBLIC KEY-----\n".utf8)),
    "keys/vllm.secret": .init(bytes: Array("canary-vllm\n".utf8)),
    "keys/vertex.secret": .init(bytes: Array("canary-vertex\n".utf8)),
    "private.pem": .init(bytes: Array("-----BEGIN EC PRIVATE KEY-----\nAA\n".utf8)),
    "digest": .init(bytes: Array((String(repeating: "CD", count: 32) + "\n").utf8)),
    "text.txt": .init(bytes: Array("words\n".utf8)),
    "open.secret": .init(bytes: Array("canary-secret-of-thirty-two-bytes\n".utf8), isReadableByAll: true),
    "crlf.secret": .init(bytes: Array("canary-secret-of-thirty-two-bytes\r\n".utf8)),
]

let testSources = ConfigurationSources(
    environment: testEnvironment, read: { path, _ in testFiles[path].map { .success($0) } ?? .failure(.missing) },
    appendProblem: { $0.hasPrefix("/nonexistent/") ? .noFolder : nil })

func load(_ bytes: [UInt8], limits: YAMLLimits = YAMLLimits()) throws(ConfigurationFailure) -> LoadedConfiguration {
    try ConfigurationLoader.load(text: bytes, name: "c.yaml", sources: testSources, limits: limits)
}

func load(_ text: String) throws(ConfigurationFailure) -> LoadedConfiguration { try load(Array(text.utf8)) }

/// Every problem of a text, one line each; empty when it loads.
func problems(_ text: String) -> [String] {
    do throws(ConfigurationFailure) {
        return try load(text).warnings.map(\.description)
    } catch {
        return error.problems.map(\.description)
    }
}

extension String {
    /// The text with one part of it replaced; records nothing when the part is missing, so callers compare the result.
    func replacing(only part: String, by other: String) -> String {
        guard let range = self.firstRange(of: part) else { return "the part to replace is missing: \(part)" }
        return self.replacingCharacters(in: range, by: other)
    }

    private func replacingCharacters(in range: Range<String.Index>, by other: String) -> String {
        self[..<range.lowerBound] + other + self[range.upperBound...]
    }

    private func firstRange(of part: String) -> Range<String.Index>? { self.ranges(of: part).first }
}
