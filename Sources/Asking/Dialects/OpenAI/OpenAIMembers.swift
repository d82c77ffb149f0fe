import GatewayTypes
import JSON

/// Members that whole answers and streams of chat completions share.
enum OpenAIMembers {
    /// What `finish_reason` means.
    enum Stop {
        case reason(FinishReason)
        /// Some servers tell a failure there.
        case failed(ProviderFailure)
    }

    static func stop(in choice: JSONValue) -> Stop? {
        guard let reason = choice["finish_reason"], reason.kind == .string else { return nil }
        if reason.isString("stop") { return .reason(.stop) }
        if reason.isString(among: ["length", "max_tokens", "model_length"]) { return .reason(.length) }
        if reason.isString("content_filter") { return .reason(.contentFilter) }
        if reason.isString(among: ["tool_calls", "function_call"]) { return .reason(.toolCalls) }
        if reason.isString("refusal") { return .reason(.refusal) }
        if reason.isString("error") { return .failed(.errorInStream) }
        if reason.isString("insufficient_system_resource") { return .failed(.overloaded(retryAfterSeconds: nil)) }
        // Written by servers that send an empty word until there is a reason.
        if reason.isString("") { return nil }
        return .reason(.other)
    }

    // MARK: Usage

    /// Usage, when it is there and makes sense.
    ///
    /// - Parameter lastChoice: a choice that says why it ends; some vendors report there (Moonshot) or beside it (Groq),
    ///   and nowhere before, so other chunks are spared the search.
    static func usage(in root: JSONValue, lastChoice: JSONValue?) -> TokenUsage? {
        if let usage = root.present("usage") { return self.usage(usage) }
        guard let lastChoice else { return nil }
        if let usage = lastChoice.present("usage") { return self.usage(usage) }
        return root["x_groq"]?["usage"].flatMap(self.usage)
    }

    /// Cached and reasoning tokens are parts of the totals, not additions.
    private static func usage(_ usage: JSONValue) -> TokenUsage? {
        let input = usage["prompt_tokens"]?.tokenCount
        let output = usage["completion_tokens"]?.tokenCount
        let total = usage["total_tokens"]?.tokenCount
        guard var found = self.usage(input: input, output: output, total: total) else { return nil }
        let cached = usage["prompt_tokens_details"]?["cached_tokens"] ?? usage["prompt_cache_hit_tokens"]
        found.cachedInput = min(cached?.tokenCount ?? 0, found.input)
        let reasoning = usage["completion_tokens_details"]?["reasoning_tokens"]?.tokenCount
        // Some vendors count reasoning beside the output and some inside: it is at most what is no input.
        found.reasoning = min(reasoning ?? 0, max(found.output, found.total &- found.input))
        return found
    }

    private static func usage(input: Int?, output: Int?, total: Int?) -> TokenUsage? {
        if let input, let output {
            return TokenUsage(input: input, output: output, total: total ?? input + output, source: .provider)
        }
        guard let total else { return nil }
        let known = min(total, input ?? output ?? 0)
        return input != nil
            ? TokenUsage(input: known, output: total - known, total: total, source: .provider)
            : TokenUsage(input: total - known, output: known, total: total, source: .provider)
    }

    // MARK: Errors

    /// The error of an answer: an object or a word under `error`, or what has no choice and is an error itself (older
    /// vLLM).
    static func error(in root: JSONValue, choice: JSONValue?) -> JSONValue? {
        if let error = root.present("error") { return error }
        return choice == nil && root["object"]?.isString("error") == true ? root : nil
    }

    /// What an error means by its number or names; nil when they tell nothing beyond that it failed.
    static func failure(of error: JSONValue) -> ProviderFailure? {
        let code = error["code"]
        if let number = code?.int ?? error["status"]?.int ?? code?.string.flatMap({ Int($0) }) {
            if let failure = ProviderFailure(errorNumber: number, retryAfterSeconds: nil) { return failure }
        }
        return code.flatMap(self.failure(named:)) ?? error["type"].flatMap(self.failure(named:))
    }

    private static func failure(named name: JSONValue) -> ProviderFailure? {
        guard name.kind == .string else { return nil }
        if name.isString(among: self.ofAccount) { return .credentialsRefused }
        if name.isString(among: self.ofRate) { return .rateLimited(retryAfterSeconds: nil) }
        if name.isString(among: self.ofLoad) { return .overloaded(retryAfterSeconds: nil) }
        if name.isString(among: self.ofLength) { return .contextTooLong }
        if name.isString("model_not_found") { return .notOffered }
        if name.isString("invalid_request_error") { return .requestRefused }
        return nil
    }

    private static let ofAccount = [
        "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "access_terminated",
        "account_deactivated", "invalid_api_key", "authentication_error", "permission_error",
    ]
    private static let ofRate = ["rate_limit_exceeded", "rate_limit_error", "requests", "tokens"]
    private static let ofLoad = ["overloaded", "overloaded_error", "engine_overloaded", "service_unavailable"]
    private static let ofLength = ["context_length_exceeded", "string_above_max_length"]

    /// Whether the call was refused for what its prompt holds (Azure).
    static func isWithheld(_ error: JSONValue) -> Bool {
        error["code"]?.isString(among: ["content_filter", "content_policy_violation"]) == true
            || error["innererror"]?["code"]?.isString("ResponsibleAIPolicyViolation") == true
    }
}
