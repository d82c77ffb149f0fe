import GatewayTypes
import HTTPClient
import JSON

/// Reads a chat completion that comes in one piece.
final class OpenAIAnswerDecoder: AnswerDecoder {
    /// Larger answers are refused.
    private static let largestBody = 4 << 20
    private var body: [UInt8] = []

    func receive(head: UpstreamHead) -> ProviderFailure? {
        if let failure = OpenAIMembers.failure(of: head) { return failure }
        // A portal's page is not an answer. Absence is tolerated: the JSON itself decides.
        guard head.isJSON else { return .unusableAnswer }
        return nil
    }

    func receive(_ bytes: UnsafeRawBufferPointer, into answer: any DecodedAnswer) -> ProviderFailure? {
        guard self.body.count + bytes.count <= Self.largestBody else { return .unusableAnswer }
        self.body.append(contentsOf: bytes)
        return nil
    }

    func finish(into answer: any DecodedAnswer) -> ProviderFailure? {
        let limits = JSONLimits(bytes: Self.largestBody, depth: 64)
        guard let document = try? JSONDocument(parsing: self.body, limits: limits) else { return .unusableAnswer }
        let root = document.root
        if let error = root["error"], !error.isNull { return .serverError }
        if let usage = OpenAIMembers.usage(in: root) { answer.decodedUsage(usage) }
        guard let choice = root["choices"]?[0] else { return .unusableAnswer }
        answer.decodedFinish(OpenAIMembers.finish(in: choice) ?? .other)
        choice["message"]?["content"]?.withString { answer.decodedText($0) }
        return nil
    }
}
