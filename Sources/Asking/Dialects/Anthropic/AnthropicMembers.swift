import GatewayTypes
import JSON

/// Members that whole answers and streams of the messages API share.
enum AnthropicMembers {
    static func finish(in message: JSONValue) -> FinishReason? {
        guard let reason = message["stop_reason"], reason.kind == .string else { return nil }
        if reason.isString(among: ["end_turn", "stop_sequence"]) { return .stop }
        if reason.isString(among: ["max_tokens", "model_context_window_exceeded"]) { return .length }
        if reason.isString("refusal") { return .refusal }
        if reason.isString("tool_use") { return .toolCalls }
        // `pause_turn` among them: the turn of a server's tool that nobody asked for.
        return .other
    }

    /// What an error means by its type; nil when that tells nothing beyond that it failed.
    static func failure(of error: JSONValue) -> ProviderFailure? {
        guard let type = error["type"], type.kind == .string else { return nil }
        if type.isString("overloaded_error") { return .overloaded(retryAfterSeconds: nil) }
        if type.isString("rate_limit_error") { return .rateLimited(retryAfterSeconds: nil) }
        if type.isString(among: ["authentication_error", "permission_error", "billing_error"]) {
            return .credentialsRefused
        }
        if type.isString("timeout_error") { return .totalTimeout }
        if type.isString("not_found_error") { return .notOffered }
        if type.isString("request_too_large") { return .contextTooLong }
        if type.isString("invalid_request_error") { return .requestRefused }
        return nil
    }
}

/// The counts of one answer. Every report is the sum so far, and may leave out what another one told.
struct AnthropicUsage {
    private var input: Int?
    private var cacheCreation = 0
    private var cacheRead = 0
    private var output: Int?

    /// Takes a report in; nil as long as one of the two sides is unknown.
    mutating func update(with usage: JSONValue) -> TokenUsage? {
        func larger(_ known: Int?, _ name: String) -> Int? {
            guard let count = usage[name]?.tokenCount else { return known }
            return max(known ?? 0, count)
        }
        self.input = larger(self.input, "input_tokens")
        self.output = larger(self.output, "output_tokens")
        self.cacheCreation = larger(self.cacheCreation, "cache_creation_input_tokens") ?? 0
        self.cacheRead = larger(self.cacheRead, "cache_read_input_tokens") ?? 0
        guard let input = self.input, let output = self.output else { return nil }
        return TokenUsage(
            input: input + self.cacheCreation + self.cacheRead, output: output, cachedInput: self.cacheRead,
            source: .provider)
    }
}
