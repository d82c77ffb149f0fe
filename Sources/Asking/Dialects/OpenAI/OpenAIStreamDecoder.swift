import GatewayTypes
import HTTPClient
import HTTPCodec
import JSON

/// Reads a streamed chat completion: server-sent events, each with a piece of JSON.
final class OpenAIStreamDecoder: AnswerDecoder {
    private var parser = EventParser()
    private var isDone = false
    private var hasFinish = false
    private var failure: ProviderFailure?

    func receive(head: UpstreamHead) -> ProviderFailure? {
        if let failure = OpenAIMembers.failure(of: head) { return failure }
        guard head.contentType.hasPrefix("text/event-stream") else { return .unusableAnswer }
        return nil
    }

    func receive(_ bytes: UnsafeRawBufferPointer, into answer: any DecodedAnswer) -> ProviderFailure? {
        guard !self.isDone else { return nil }
        do {
            let span = Span<UInt8>(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self))
            _ = try self.parser.feed(span) { _, data in
                data.withUnsafeBufferPointer { self.take($0, into: answer) }
            }
        } catch {
            return .unusableAnswer
        }
        return self.failure
    }

    /// One event; false stops the parser.
    private func take(_ data: UnsafeBufferPointer<UInt8>, into answer: any DecodedAnswer) -> Bool {
        guard !data.isEmpty else { return true }
        if data.elementsEqual("[DONE]".utf8) {
            self.isDone = true
            answer.decodedEnd()
            return false
        }
        guard let document = try? JSONDocument(parsing: UnsafeRawBufferPointer(data)) else {
            self.failure = .unusableAnswer
            return false
        }
        return self.take(document.root, into: answer)
    }

    private func take(_ root: JSONValue, into answer: any DecodedAnswer) -> Bool {
        if let error = root["error"], !error.isNull {
            self.failure = .errorInStream
            return false
        }
        if let usage = OpenAIMembers.usage(in: root) { answer.decodedUsage(usage) }
        guard let choice = root["choices"]?[0] else { return true }
        choice["delta"]?["content"]?.withString { answer.decodedText($0) }
        if let reason = OpenAIMembers.finish(in: choice) {
            self.hasFinish = true
            answer.decodedFinish(reason)
        }
        return true
    }

    func finish(into answer: any DecodedAnswer) -> ProviderFailure? {
        self.isDone || self.hasFinish ? nil : .incomplete
    }
}
