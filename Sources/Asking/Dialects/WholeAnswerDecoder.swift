import GatewayTypes
import HTTPClient
import JSON

/// Reads an answer that comes in one piece.
final class WholeAnswerDecoder<Reader: AnswerReader>: AnswerDecoder {
    /// Larger answers are refused.
    private let limits = JSONLimits(bytes: 4 << 20, depth: 64)
    private var reader = Reader()
    private var body: [UInt8] = []
    private var refusal: RefusalBody?

    func receive(head: UpstreamHead) -> ProviderFailure? {
        if let failure = ProviderFailure(head) {
            self.refusal = RefusalBody(failure, status: head.status, isJSON: head.isJSON)
            return self.refusal == nil ? failure : nil
        }
        // A portal's page is not an answer. Absence is tolerated: the JSON itself decides.
        return head.isJSON ? nil : .unusableAnswer
    }

    func receive(_ bytes: UnsafeRawBufferPointer, into answer: any DecodedAnswer) -> ProviderFailure? {
        guard self.refusal == nil else { return self.refusal?.receive(bytes) }
        guard self.body.count + bytes.count <= self.limits.bytes else { return .unusableAnswer }
        self.body.append(contentsOf: bytes)
        return nil
    }

    func finish(into answer: any DecodedAnswer) -> ProviderFailure? {
        if let refusal = self.refusal { return refusal.finish(with: self.reader, into: answer) }
        guard let document = try? JSONDocument(parsing: self.body, limits: self.limits) else { return .unusableAnswer }
        return self.reader.readWhole(document.root, into: answer)
    }
}
