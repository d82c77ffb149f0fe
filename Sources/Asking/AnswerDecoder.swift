import GatewayTypes
import HTTPClient

/// What a dialect's decoder finds in the provider's bytes.
protocol DecodedAnswer: AnyObject {
    func decodedText(_ text: UnsafeBufferPointer<UInt8>)
    /// Replaces what was reported before: providers repeat cumulative numbers.
    func decodedUsage(_ usage: TokenUsage)
    /// Why the model stopped. What comes behind it takes nothing from the answer, so a dialect that has a mark for the
    /// end tells the reason no earlier than that.
    func decodedFinish(_ reason: FinishReason)
    /// The dialect's mark that nothing follows.
    func decodedEnd()
}

/// Reads one answer of a dialect. A failure ends the attempt.
protocol AnswerDecoder: AnyObject {
    /// Judges status and media type; a head it accepts is followed by bytes.
    func receive(head: UpstreamHead) -> ProviderFailure?
    func receive(_ bytes: UnsafeRawBufferPointer, into answer: any DecodedAnswer) -> ProviderFailure?
    /// The body came to its end; decides whether the answer is whole.
    func finish(into answer: any DecodedAnswer) -> ProviderFailure?
}
