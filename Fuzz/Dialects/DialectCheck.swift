import GatewayTypes
import HTTPClient

@testable import Asking

/// The dialect that a fuzzer feeds.
package enum FuzzedDialect: Sendable {
    case openAI, anthropic, gemini

    /// Reads the input as a stream, as an answer in one piece and as a refusal, each cut in several ways, and checks
    /// that the cuts change nothing and that what was found makes sense.
    package func check(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        for (streams, status) in [(true, 200), (false, 200), (true, 400), (false, 429)] {
            let whole = self.read(bytes, streams: streams, status: status, step: max(1, bytes.count))
            precondition(whole.isSound(status: status))
            precondition(whole == self.read(bytes, streams: streams, status: status, step: 1))
            guard let byte = bytes.last else { continue }
            precondition(whole == self.read(bytes, streams: streams, status: status, step: 2 + Int(byte % 31)))
        }
    }

    private func read(_ bytes: [UInt8], streams: Bool, status: Int, step: Int) -> Found {
        switch self {
        case .openAI: Self.read(bytes, OpenAIReader.self, streams, status, step)
        case .anthropic: Self.read(bytes, AnthropicReader.self, streams, status, step)
        case .gemini: Self.read(bytes, GeminiReader.self, streams, status, step)
        }
    }

    private static func read<Reader: AnswerReader>(
        _ bytes: [UInt8], _: Reader.Type, _ streams: Bool, _ status: Int, _ step: Int
    ) -> Found {
        let decoder: any AnswerDecoder = streams ? StreamDecoder<Reader>() : WholeAnswerDecoder<Reader>()
        let answer = FuzzedAnswer()
        let type = streams && status == 200 ? "text/event-stream" : "application/json"
        var failure = decoder.receive(head: UpstreamHead(status: status, contentType: type, retryAfterSeconds: 5))
        var start = 0
        while start < bytes.count, failure == nil {
            let end = min(start + step, bytes.count)
            failure = bytes[start..<end].withUnsafeBytes { decoder.receive($0, into: answer) }
            start = end
        }
        answer.found.failure = failure ?? decoder.finish(into: answer)
        return answer.found
    }
}

/// What reading an answer gave.
private struct Found: Equatable {
    var text: [UInt8] = []
    var usage: TokenUsage?
    var finish: FinishReason?
    var ends = 0
    var isOutOfOrder = false
    var failure: ProviderFailure?

    func isSound(status: Int) -> Bool {
        guard self.ends <= 1, !self.isOutOfOrder, self.ends == 0 || self.failure == nil else { return false }
        // A call that was refused has no words.
        if status != 200, !self.text.isEmpty || self.failure == nil && self.finish == nil { return false }
        guard String(validating: self.text, as: UTF8.self) != nil else { return false }
        guard let usage = self.usage else { return true }
        return usage.input >= 0 && usage.output >= 0 && usage.total >= 0
            && (0...usage.input).contains(usage.cachedInput) && usage.reasoning >= 0
    }
}

private final class FuzzedAnswer: DecodedAnswer {
    var found = Found()

    private func note() { if self.found.ends > 0 { self.found.isOutOfOrder = true } }

    func decodedText(_ text: UnsafeBufferPointer<UInt8>) {
        self.note()
        self.found.text.append(contentsOf: text)
    }

    func decodedUsage(_ usage: TokenUsage) {
        self.note()
        self.found.usage = usage
    }

    func decodedFinish(_ reason: FinishReason) {
        self.note()
        self.found.finish = reason
    }

    func decodedEnd() { self.found.ends += 1 }
}
