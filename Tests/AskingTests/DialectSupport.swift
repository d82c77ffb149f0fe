import GatewayTesting
import GatewayTypes
import HTTPClient
import Testing

@testable import Asking

extension TestDialect {
    func decoder(streams: Bool) -> any AnswerDecoder {
        switch (self, streams) {
        case (.openai, true): StreamDecoder<OpenAIReader>()
        case (.openai, false): WholeAnswerDecoder<OpenAIReader>()
        case (.anthropic, true): StreamDecoder<AnthropicReader>()
        case (.anthropic, false): WholeAnswerDecoder<AnthropicReader>()
        case (.gemini, true): StreamDecoder<GeminiReader>()
        case (.gemini, false): WholeAnswerDecoder<GeminiReader>()
        }
    }
}

/// What a decoder found in an answer.
final class Reading: DecodedAnswer {
    var text: [UInt8] = []
    var usage: TokenUsage?
    var finish: FinishReason?
    var ends = 0
    /// Set when something came behind the end.
    var isOutOfOrder = false
    /// What the answer ended with: found while reading, or at the end of the body.
    var failure: ProviderFailure?

    func decodedText(_ text: UnsafeBufferPointer<UInt8>) {
        self.isOutOfOrder = self.isOutOfOrder || self.ends > 0
        self.text.append(contentsOf: text)
    }

    func decodedUsage(_ usage: TokenUsage) {
        self.isOutOfOrder = self.isOutOfOrder || self.ends > 0
        self.usage = usage
    }

    func decodedFinish(_ reason: FinishReason) {
        self.isOutOfOrder = self.isOutOfOrder || self.ends > 0
        self.finish = reason
    }

    func decodedEnd() { self.ends += 1 }

    /// Feeds a body to a decoder, so many bytes at a time.
    init(
        _ wire: [UInt8], of dialect: TestDialect, streams: Bool, every step: Int = .max, status: Int = 200,
        wait: Int? = nil
    ) {
        let decoder = dialect.decoder(streams: streams)
        let type = streams && status == 200 ? "text/event-stream" : "application/json"
        let head = UpstreamHead(status: status, contentType: type, retryAfterSeconds: wait)
        if let failure = decoder.receive(head: head) {
            self.failure = failure
            return
        }
        var start = 0
        while start < wire.count {
            let end = start + min(step, wire.count - start)
            let failure = wire[start..<end].withUnsafeBytes { decoder.receive($0, into: self) }
            if let failure {
                self.failure = failure
                return
            }
            start = end
        }
        self.failure = decoder.finish(into: self)
    }
}

/// A body, and everything that is to be found in it.
struct Wire: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: String
    var text = ""
    var failure: ProviderFailure?
    var usage: TokenUsage?
    var finish: FinishReason?

    init(
        _ name: String, _ body: String, text: String = "", failure: ProviderFailure? = nil, usage: TokenUsage? = nil,
        finish: FinishReason? = nil
    ) {
        self.testDescription = name
        self.body = body
        self.text = text
        self.failure = failure
        self.usage = usage
        self.finish = finish
    }

    /// Reads the body in one piece, byte by byte and in odd pieces; all must agree.
    func check(_ dialect: TestDialect, streams: Bool) {
        for step in [Int.max, 1, 2, 3, 7, 64] {
            let reading = Reading(Array(self.body.utf8), of: dialect, streams: streams, every: step)
            #expect(reading.text == Array(self.text.utf8), "\(step)")
            #expect(reading.failure == self.failure, "\(step)")
            #expect(reading.usage == self.usage, "\(step)")
            #expect(reading.finish == self.finish, "\(step)")
            #expect(!reading.isOutOfOrder && reading.ends <= 1, "\(step)")
        }
    }
}

extension TokenUsage {
    /// What a provider reported.
    static func reported(
        _ input: Int, _ output: Int, total: Int? = nil, cached: Int = 0, reasoning: Int = 0
    ) -> Self {
        Self(
            input: input, output: output, total: total, cachedInput: cached, reasoning: reasoning, source: .provider)
    }
}
