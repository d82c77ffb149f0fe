import GatewayTypes
import JSON

/// Reads chat completions, whole and streamed.
struct OpenAIReader: AnswerReader {
    private(set) var isDone = false
    private(set) var isComplete = false
    /// The model said in words that it will not answer.
    private var hasRefused = false

    mutating func readWhole(_ root: JSONValue, into answer: any DecodedAnswer) -> ProviderFailure? {
        let choice = root["choices"]?[0]
        if let error = OpenAIMembers.error(in: root, choice: choice) {
            return OpenAIMembers.failure(of: error) ?? .serverError
        }
        if let usage = OpenAIMembers.usage(in: root, lastChoice: choice) { answer.decodedUsage(usage) }
        guard let choice else { return .unusableAnswer }
        let stop = OpenAIMembers.stop(in: choice)
        if case .failed(let failure) = stop { return failure }
        if let message = choice["message"] { self.readText(message, into: answer) }
        if case .reason(let reason) = stop {
            answer.decodedFinish(self.finish(reason))
        } else {
            answer.decodedFinish(self.finish(.other))
        }
        return nil
    }

    mutating func readEvent(
        _ event: JSONValue, type: Span<UInt8>, into answer: any DecodedAnswer
    ) -> ProviderFailure? {
        let choice = event["choices"]?[0]
        if let error = OpenAIMembers.error(in: event, choice: choice) {
            return OpenAIMembers.failure(of: error) ?? .errorInStream
        }
        let stop = choice.flatMap(OpenAIMembers.stop)
        if let usage = OpenAIMembers.usage(in: event, lastChoice: stop == nil ? nil : choice) {
            answer.decodedUsage(usage)
        }
        if let delta = choice?["delta"] { self.readText(delta, into: answer) }
        switch stop {
        case .reason(let reason):
            self.isComplete = true
            answer.decodedFinish(self.finish(reason))
        case .failed(let failure): return failure
        case nil: break
        }
        return nil
    }

    mutating func readDone(into answer: any DecodedAnswer) {
        self.isDone = true
        answer.decodedEnd()
    }

    func readRefusal(
        _ root: JSONValue, status: ProviderFailure, into answer: any DecodedAnswer
    ) -> ProviderFailure? {
        guard let error = OpenAIMembers.error(in: root, choice: nil) else { return status }
        if OpenAIMembers.isWithheld(error) {
            answer.decodedFinish(.contentFilter)
            return nil
        }
        switch OpenAIMembers.failure(of: error) {
        case .credentialsRefused: return .credentialsRefused
        case .notOffered where status == .requestRefused: return .notOffered
        // The status keeps the wait that came with it.
        default: return status
        }
    }

    /// Text of a message or of a piece of one; words of refusal are the answer's words too.
    private mutating func readText(_ message: JSONValue, into answer: any DecodedAnswer) {
        if let content = message["content"] {
            if content.kind == .array {
                for part in content.elements where part["type"]?.isString("text") == true {
                    part["text"]?.withString { answer.decodedText($0) }
                }
            } else {
                content.withString { answer.decodedText($0) }
            }
        }
        guard let refusal = message["refusal"] else { return }
        refusal.withString { words in
            if !words.isEmpty { self.hasRefused = true }
            answer.decodedText(words)
        }
    }

    private func finish(_ reason: FinishReason) -> FinishReason {
        self.hasRefused && (reason == .stop || reason == .other) ? .refusal : reason
    }
}
