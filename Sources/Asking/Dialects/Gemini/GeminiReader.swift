import GatewayTypes
import JSON

/// Reads answers of generateContent, whole and streamed: the events of a stream are answers that each hold a piece.
struct GeminiReader: AnswerReader {
    /// The dialect has no mark behind its finish reason.
    let isDone = false
    private(set) var isComplete = false

    mutating func readWhole(_ root: JSONValue, into answer: any DecodedAnswer) -> ProviderFailure? {
        if let error = root.present("error") { return GeminiMembers.failure(of: error) ?? .serverError }
        guard self.read(root, into: answer) else { return .unusableAnswer }
        if !self.isComplete { answer.decodedFinish(.other) }
        return nil
    }

    mutating func readEvent(
        _ event: JSONValue, type: Span<UInt8>, into answer: any DecodedAnswer
    ) -> ProviderFailure? {
        if let error = event.present("error") { return GeminiMembers.failure(of: error) ?? .errorInStream }
        _ = self.read(event, into: answer)
        return nil
    }

    /// Not of this dialect; some proxies send it behind the end.
    func readDone(into answer: any DecodedAnswer) {}

    func readRefusal(
        _ root: JSONValue, status: ProviderFailure, into answer: any DecodedAnswer
    ) -> ProviderFailure? {
        // A refused stream wraps its error in an array.
        guard let error = (root[0] ?? root).present("error") else { return status }
        switch status {
        case .rateLimited(let wait?): return .rateLimited(retryAfterSeconds: wait)
        case .rateLimited(nil): return .rateLimited(retryAfterSeconds: GeminiMembers.retryDelay(in: error))
        default: return GeminiMembers.isBadKey(error) ? .credentialsRefused : status
        }
    }

    /// False when this is no answer at all.
    private mutating func read(_ root: JSONValue, into answer: any DecodedAnswer) -> Bool {
        if let usage = root["usageMetadata"].flatMap(GeminiMembers.usage) { answer.decodedUsage(usage) }
        if let candidate = root["candidates"]?[0] {
            self.readText(of: candidate, into: answer)
            if let reason = GeminiMembers.finish(in: candidate) { self.finish(reason, answer) }
            return candidate.kind == .object
        }
        // The prompt is withheld, and there is no candidate.
        guard root["promptFeedback"]?["blockReason"]?.kind == .string else { return false }
        self.finish(.contentFilter, answer)
        return true
    }

    private func readText(of candidate: JSONValue, into answer: any DecodedAnswer) {
        guard let parts = candidate["content"]?["parts"] else { return }
        // What the model thinks is marked, and no text of the answer.
        for part in parts.elements where part["thought"]?.bool != true {
            part["text"]?.withString { answer.decodedText($0) }
        }
    }

    private mutating func finish(_ reason: FinishReason, _ answer: any DecodedAnswer) {
        self.isComplete = true
        answer.decodedFinish(reason)
    }
}
