import GatewayTypes
import HTTPClient
import HTTPCodec
import JSON

/// Reads a streamed answer: server-sent events, each with a piece of JSON.
final class StreamDecoder<Reader: AnswerReader>: AnswerDecoder {
    private var parser = EventParser()
    private var reader = Reader()
    private var refusal: RefusalBody?

    func receive(head: UpstreamHead) -> ProviderFailure? {
        if let failure = ProviderFailure(head) {
            self.refusal = RefusalBody(failure, status: head.status, isJSON: head.isJSON)
            return self.refusal == nil ? failure : nil
        }
        return head.contentType.hasPrefix("text/event-stream") ? nil : .unusableAnswer
    }

    func receive(_ bytes: UnsafeRawBufferPointer, into answer: any DecodedAnswer) -> ProviderFailure? {
        guard self.refusal == nil else { return self.refusal?.receive(bytes) }
        guard !self.reader.isDone else { return nil }
        var failure: ProviderFailure?
        do {
            let span = Span<UInt8>(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self))
            _ = try self.parser.feed(span) { type, data in
                failure = data.withUnsafeBufferPointer { self.take($0, type: type, into: answer) }
                return failure == nil && !self.reader.isDone
            }
        } catch {
            return .unusableAnswer
        }
        return failure
    }

    /// One event.
    private func take(
        _ data: UnsafeBufferPointer<UInt8>, type: Span<UInt8>, into answer: any DecodedAnswer
    ) -> ProviderFailure? {
        guard !data.isEmpty else { return nil }
        if data.count == 6, data.elementsEqual("[DONE]".utf8) {
            self.reader.readDone(into: answer)
            return nil
        }
        guard let document = try? JSONDocument(parsing: UnsafeRawBufferPointer(data)) else { return .unusableAnswer }
        return self.reader.readEvent(document.root, type: type, into: answer)
    }

    func finish(into answer: any DecodedAnswer) -> ProviderFailure? {
        if let refusal = self.refusal { return refusal.finish(with: self.reader, into: answer) }
        return self.reader.isDone || self.reader.isComplete ? nil : .incomplete
    }
}
