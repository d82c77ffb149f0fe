import GatewayTypes
import JSON

/// Members that whole answers and streams of generateContent share.
enum GeminiMembers {
    static func finish(in candidate: JSONValue) -> FinishReason? {
        guard let reason = candidate["finishReason"], reason.kind == .string else { return nil }
        if reason.isString("STOP") { return .stop }
        if reason.isString("MAX_TOKENS") { return .length }
        if reason.isString(among: self.withholding) { return .contentFilter }
        if reason.isString(among: ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"]) {
            return .toolCalls
        }
        // The zero of its enum: not stopped yet.
        if reason.isString("FINISH_REASON_UNSPECIFIED") { return nil }
        return .other
    }

    private static let withholding = [
        "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "MODEL_ARMOR", "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
    ]

    // MARK: Usage

    /// Usage, when it is there and makes sense. Every report is the sum so far; a count of zero is left out.
    static func usage(_ usage: JSONValue) -> TokenUsage? {
        let total = usage["totalTokenCount"]?.tokenCount
        let prompt = usage["promptTokenCount"]?.tokenCount
        let answer = usage["candidatesTokenCount"]?.tokenCount
        let thoughts = usage["thoughtsTokenCount"]?.tokenCount ?? 0
        guard total != nil || prompt != nil && answer != nil else { return nil }
        let input: Int
        if let prompt {
            input = prompt + (usage["toolUsePromptTokenCount"]?.tokenCount ?? 0)
        } else {
            input = max(0, (total ?? 0) - (answer ?? 0) - thoughts)
        }
        let output = answer.map { $0 + thoughts } ?? max(thoughts, (total ?? 0) - input)
        return TokenUsage(
            input: input, output: output, total: total, cachedInput: min(usage.cachedContent, input),
            reasoning: min(thoughts, output), source: .provider)
    }

    // MARK: Errors

    /// What an error means by its status and number; nil when they tell nothing beyond that it failed.
    static func failure(of error: JSONValue) -> ProviderFailure? {
        if self.isBadKey(error) { return .credentialsRefused }
        if let status = error["status"], status.kind == .string {
            if status.isString("RESOURCE_EXHAUSTED") {
                return .rateLimited(retryAfterSeconds: self.retryDelay(in: error))
            }
            if status.isString("UNAVAILABLE") { return .overloaded(retryAfterSeconds: self.retryDelay(in: error)) }
            if status.isString(among: ["UNAUTHENTICATED", "PERMISSION_DENIED"]) { return .credentialsRefused }
            if status.isString("DEADLINE_EXCEEDED") { return .totalTimeout }
            if status.isString(among: ["INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"]) {
                return .requestRefused
            }
            if status.isString("NOT_FOUND") { return .notOffered }
        }
        return error["code"]?.int.flatMap {
            ProviderFailure(errorNumber: $0, retryAfterSeconds: self.retryDelay(in: error))
        }
    }

    /// Whether the call was refused for its key, which this vendor tells by a 400.
    static func isBadKey(_ error: JSONValue) -> Bool {
        guard let details = error["details"] else { return false }
        return details.elements.contains { detail in
            detail["reason"]?.isString(among: ["API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED"]) == true
        }
    }

    /// The wait that a `RetryInfo` asks for (`"17s"`, `"0.5s"`), in whole seconds, 30 at most, as with `Retry-After`.
    static func retryDelay(in error: JSONValue) -> Int? {
        guard let details = error["details"] else { return nil }
        for detail in details.elements {
            if let seconds = detail["retryDelay"]?.withString(self.seconds) { return seconds }
        }
        return nil
    }

    private static func seconds(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard text.last == UInt8(ascii: "s"), text.count <= 20 else { return nil }
        var whole = 0
        var digits = 0
        var hasFraction = false
        for byte in text.dropLast() {
            if byte == UInt8(ascii: "."), !hasFraction, digits > 0 {
                hasFraction = true
            } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                digits &+= 1
                // Any part of a second is waited for whole; beyond 30 it makes no difference.
                if !hasFraction { whole = min(1000, whole * 10 + Int(byte) - 0x30) }
            } else {
                return nil
            }
        }
        guard digits > 0 else { return nil }
        return min(30, hasFraction ? whole + 1 : whole)
    }
}

extension JSONValue {
    fileprivate var cachedContent: Int { self["cachedContentTokenCount"]?.tokenCount ?? 0 }
}
