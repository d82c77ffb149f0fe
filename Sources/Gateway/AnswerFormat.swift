/// Which family of routes an answer belongs to; its errors keep the family's format, whatever goes wrong.
package enum AnswerFormat: String, Sendable, CaseIterable {
    /// Our own routes: `application/problem+json` (RFC 9457).
    case own
    /// The OpenAI-compatible routes: OpenAI's error object.
    case openAI = "openai"

    /// The media type of an error's body.
    var errorContentType: StaticString {
        switch self {
        case .own: "application/problem+json"
        case .openAI: "application/json"
        }
    }
}
