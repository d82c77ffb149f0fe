import GatewayTypes
import HTTPClient
import JSON

/// Members of OpenAI answers that whole answers and streams share. Reading is by field: an odd member is passed over,
/// never a reason to drop the rest.
enum OpenAIMembers {
    /// Larger counts are taken for nonsense.
    private static let largestCount = 1_000_000_000

    /// Usage, when it is there and makes sense; cached and reasoning tokens are parts of the totals, not additions.
    static func usage(in root: JSONValue) -> TokenUsage? {
        guard let usage = root["usage"], usage.kind == .object else { return nil }
        let input = self.count(usage["prompt_tokens"])
        let output = self.count(usage["completion_tokens"])
        let total = self.count(usage["total_tokens"])
        if let input, let output {
            return TokenUsage(input: input, output: output, total: total ?? input + output, source: .provider)
        }
        guard let total else { return nil }
        let known = min(total, input ?? output ?? 0)
        return input != nil
            ? TokenUsage(input: known, output: total - known, total: total, source: .provider)
            : TokenUsage(input: total - known, output: known, total: total, source: .provider)
    }

    private static func count(_ value: JSONValue?) -> Int? {
        guard let count = value?.int, count >= 0, count <= self.largestCount else { return nil }
        return count
    }

    static func finish(in choice: JSONValue) -> FinishReason? {
        guard let reason = choice["finish_reason"], reason.kind == .string else { return nil }
        if reason.isString("stop") { return .stop }
        if reason.isString("length") { return .length }
        if reason.isString("content_filter") { return .contentFilter }
        if reason.isString("tool_calls") || reason.isString("function_call") { return .toolCalls }
        return .other
    }

    /// The failure that a status means, or nil for 200.
    static func failure(of head: UpstreamHead) -> ProviderFailure? {
        let wait = head.retryAfterSeconds
        switch head.status {
        case 200: return nil
        case 401, 402, 403: return .credentialsRefused
        case 408, 504: return .totalTimeout
        case 429: return .rateLimited(retryAfterSeconds: wait)
        case 503, 529: return .overloaded(retryAfterSeconds: wait)
        case 500...: return .serverError
        case 400..<500: return .requestRefused
        default: return .unusableAnswer
        }
    }
}
