import GatewayTypes
import HTTPCodec
import JSON

/// What one dialect makes of the JSON of one answer; bytes, events and limits are the decoders' business.
///
/// Reading is by member: an odd one is passed over, never a reason to drop the rest.
protocol AnswerReader {
    init()
    /// Whether the dialect's mark for the end has come, so that nothing more is read.
    var isDone: Bool { get }
    /// Whether the body of a stream may end here.
    var isComplete: Bool { get }

    /// Reads the answer that came in one piece.
    mutating func readWhole(_ root: JSONValue, into answer: any DecodedAnswer) -> ProviderFailure?
    /// Reads one event of a stream.
    mutating func readEvent(
        _ event: JSONValue, type: Span<UInt8>, into answer: any DecodedAnswer
    ) -> ProviderFailure?
    /// Reads the event `[DONE]`, the one that holds no JSON.
    mutating func readDone(into answer: any DecodedAnswer)
    /// Reads what came with a status that refuses the call.
    ///
    /// - Parameter status: the failure that the status means; it stands unless the body knows better. Nil when the
    ///   call was answered after all: the provider withholds what was asked for.
    func readRefusal(
        _ root: JSONValue, status: ProviderFailure, into answer: any DecodedAnswer
    ) -> ProviderFailure?
}

/// A refused call whose body may tell more than its status: a used-up account, a wait, a prompt that is withheld.
struct RefusalBody {
    /// More than an error object needs; what is longer is not read.
    private static let largestBody = 65536
    private let failure: ProviderFailure
    private var bytes: [UInt8] = []

    /// Nil when the status says it all.
    init?(_ failure: ProviderFailure, status: Int, isJSON: Bool) {
        guard status == 400 || status == 422 || status == 429, isJSON else { return nil }
        self.failure = failure
    }

    /// Takes more of the body; the failure to end with when it is too long to be read.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> ProviderFailure? {
        guard self.bytes.count + bytes.count <= Self.largestBody else { return self.failure }
        self.bytes.append(contentsOf: bytes)
        return nil
    }

    /// What the call ended with; nil when it was answered after all.
    func finish(with reader: some AnswerReader, into answer: any DecodedAnswer) -> ProviderFailure? {
        if self.failure == .requestRefused, ContextSigns.areIn(self.bytes) { return .contextTooLong }
        guard let document = try? JSONDocument(parsing: self.bytes) else { return self.failure }
        return reader.readRefusal(document.root, status: self.failure, into: answer)
    }
}
