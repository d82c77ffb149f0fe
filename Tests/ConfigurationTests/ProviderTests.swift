import Asking
import GatewayTypes
import Testing

@testable import Configuration

/// What the sample of providers turns into.
@Suite struct ProviderTests {
    private func settings(_ name: ProviderName) throws -> ProviderSettings {
        let document = try load(SampleTests.sample("providers.yaml")).document
        return try #require(document.providers.first { $0.name == name })
    }

    private static let gemini = "https://generativelanguage.googleapis.com/v1beta/models/{model}"
    private static let vertex =
        "https://europe-west4-aiplatform.googleapis.com/v1/projects/example/locations/europe-west4/publishers/google"
        + "/models/{model}"

    @Test(
        arguments: [
            ("openai", "https://api.openai.com/v1/chat/completions", nil),
            ("darvareh", "https://api.darvareh.example/v1/chat/completions", nil),
            ("openrouter", "https://openrouter.ai/api/v1/chat/completions", nil),
            ("ollama", "http://127.0.0.1:11434/v1/chat/completions", nil),
            ("vllm", "https://vllm.internal.example/v1/chat/completions", nil),
            (
                "azure",
                "https://example.openai.azure.com/openai/deployments/{model}/chat/completions?api-version=2024-10-21",
                nil
            ),
            ("anthropic", "https://api.anthropic.com/v1/messages", nil),
            ("gemini", gemini + ":generateContent", gemini + ":streamGenerateContent?alt=sse"),
            ("vertex", vertex + ":generateContent", vertex + ":streamGenerateContent?alt=sse"),
            (
                "gemini-query-key",
                "https://gemini-proxy.example.net/v1beta/models/{model}:generateContent?key=canary%20gemini%26",
                "https://gemini-proxy.example.net/v1beta/models/{model}:streamGenerateContent?alt=sse&key=canary%20gemini%26"
            ),
        ] as [(ProviderName, String, String?)])
    func callsGoWhereTheVendorAnswers(_ name: ProviderName, whole: String, stream: String?) throws {
        let addresses = ProviderAddress.addresses(of: try self.settings(name))
        #expect(addresses.whole == whole)
        #expect(addresses.stream == stream ?? whole)
    }

    private func headers(_ name: ProviderName) throws -> [String] {
        ProviderBuilder.headers(try self.settings(name)).map { name, value in
            "\(name): \(value.reveal { String(decoding: $0, as: UTF8.self) })"
        }
    }

    @Test func everyDialectHasItsOwnPlaceForTheKey() throws {
        let always = ["Content-Type: application/json", "User-Agent: askgate", "Via: 1.1 askgate"]
        #expect(try self.headers("openai") == always + ["Authorization: Bearer sk-canary-openai"])
        #expect(try self.headers("ollama") == always)
        #expect(try self.headers("azure") == always + ["api-key: canary-azure"])
        #expect(
            try self.headers("anthropic") == always + ["anthropic-version: 2023-06-01", "x-api-key: canary-anthropic"])
        #expect(try self.headers("gemini") == always + ["x-goog-api-key: canary gemini&"])
        #expect(try self.headers("gemini-query-key") == always)
        #expect(try self.headers("vertex") == always + ["Authorization: Bearer canary-vertex"])
    }

    @Test func aVersionOfTheOperatorsOwnIsTheOnlyOne() throws {
        let text = goodConfiguration.replacing(
            only: "{dialect: openai, base_url: \"https://api.example.com/v1\"",
            by: "{dialect: anthropic, headers: {Anthropic-Version: 2030-01-01}")
        let provider = try load(text).document.providers[0]
        let versions = ProviderBuilder.headers(provider).filter { $0.name.lowercased() == "anthropic-version" }
        #expect(versions.map { $0.value } == [Secret("2030-01-01")])
    }

    @Test func optionsAreWhatTheFileSays() throws {
        #expect(try self.settings("openai").options == Provider.CallOptions())
        let reasoning = Provider.CallOptions(outputCapMember: .maxCompletionTokens, sendsTemperature: false)
        #expect(try self.settings("openai-reasoning").options == reasoning)
    }
}
