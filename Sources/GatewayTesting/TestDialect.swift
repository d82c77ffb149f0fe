/// A dialect with a wire, as tests choose among them; what its provider writes. A gateway under test names a provider
/// and a task like it.
package enum TestDialect: String, CaseIterable, Sendable {
    case openai, anthropic, gemini

    /// Every write of a whole streamed answer of 10 + 5 tokens.
    package func stream(_ words: [String]) -> [String] {
        switch self {
        case .openai: OpenAIShapes.stream(words)
        case .anthropic: AnthropicShapes.stream(words)
        case .gemini: GeminiShapes.stream(words)
        }
    }

    /// The writes of a stream up to these words, without any mark of an end.
    package func start(_ words: [String]) -> [String] {
        switch self {
        case .openai: words.map { OpenAIShapes.event(OpenAIShapes.delta($0)) }
        case .anthropic: [AnthropicShapes.start()] + words.map(AnthropicShapes.text)
        case .gemini: words.map { GeminiShapes.event(GeminiShapes.text($0)) }
        }
    }

    /// An answer in one piece, of 10 + 5 tokens.
    package func whole(_ text: String) -> String {
        switch self {
        case .openai: OpenAIShapes.completion(text)
        case .anthropic: AnthropicShapes.message(text)
        case .gemini: GeminiShapes.text(text, finish: "STOP", usage: GeminiShapes.usage)
        }
    }

    /// The vendor's way to say in a stream that it has too much to do.
    package var overload: String {
        switch self {
        case .openai: OpenAIShapes.event(#"{"error":{"message":"secret words","code":503}}"#)
        case .anthropic: AnthropicShapes.error("overloaded_error")
        case .gemini:
            GeminiShapes.event(#"{"error":{"code":503,"message":"secret words","status":"UNAVAILABLE"}}"#)
        }
    }
}
