package import GatewayTypes

/// Tokens of a text, guessed from its UTF-8 without a tokenizer: an ASCII byte is a quarter of a token, a character of
/// two bytes (Persian, Arabic, Greek, Cyrillic) a half, of three bytes (Chinese, Japanese, Hindi, the Persian
/// half-space) a whole one, of four bytes (emoji) two.
///
/// The error: vocabularies differ. For English prose expect to be within about a quarter of what providers count; code
/// and digits take up to twice the estimate. For Persian, vocabularies of 200,000 entries take a quarter to a half
/// less than estimated, those of 100,000 and fewer up to twice as much. Settlement replaces the estimate by what the
/// provider reports, so only a day's last ask can overrun it, by this error.
package enum Estimate {
    /// Tokens that the chat format adds around a system and a user message.
    package static let promptOverhead = 8

    package static func tokens(forUTF8 bytes: Span<UInt8>) -> Int {
        var meter = TokenMeter()
        meter.add(bytes)
        return meter.tokens
    }

    package static func tokens(forUTF8 bytes: [UInt8]) -> Int { Self.tokens(forUTF8: bytes.span) }

    package static func tokens(for prompt: Prompt) -> Int {
        Self.tokens(forUTF8: prompt.system) &+ Self.tokens(forUTF8: prompt.user) &+ Self.promptOverhead
    }

    /// What an ask is charged.
    ///
    /// The provider's report counts, also when it says zero; without one (or with a negative one) the estimate of what
    /// went each way. A client that left is charged the larger of the two: the report may have been on its way when
    /// the call was broken off.
    /// - Parameters:
    ///   - promptEstimate: tokens of the prompt, as estimated.
    ///   - delivered: tokens of the output that came from the provider, as estimated.
    package static func usage(
        reported: TokenUsage?, promptEstimate: Int, delivered: Int, clientGone: Bool
    ) -> TokenUsage {
        let observed = TokenUsage(
            input: QuotaAsk.bounded(promptEstimate), output: QuotaAsk.bounded(delivered), source: .estimated)
        guard let reported, reported.total >= 0 else { return observed }
        return clientGone && observed.total > reported.total ? observed : reported
    }
}

/// Adds up the estimate of a text that comes in pieces; a piece may end inside a character.
package struct TokenMeter: Sendable {
    private var quarters = 0

    package init() {}

    /// Rounded up.
    package var tokens: Int { (self.quarters &+ 3) / 4 }

    package mutating func add(_ bytes: Span<UInt8>) {
        self.quarters &+= bytes.withUnsafeBytes { Self.quarters(of: $0) }
    }

    package mutating func add(_ bytes: [UInt8]) { self.add(bytes.span) }

    private static func quarters(of bytes: UnsafeRawBufferPointer) -> Int {
        var sum = 0
        var index = 0
        while bytes.count &- index >= 16 {
            // At most 8 a byte and round: 31 rounds fit a lane.
            let rounds = min(31, (bytes.count &- index) / 16)
            var lanes = SIMD16<UInt8>.zero
            for _ in 0..<rounds {
                lanes &+= Self.weights(bytes.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self))
                index &+= 16
            }
            for lane in 0..<16 { sum &+= Int(lanes[lane]) }
        }
        while index < bytes.count {
            sum &+= Int(Self.weights(SIMD16(repeating: bytes[index]))[0])
            index &+= 1
        }
        return sum
    }

    /// Quarters of a token by first byte; bytes that continue a character weigh nothing.
    @inline(__always)
    private static func weights(_ bytes: SIMD16<UInt8>) -> SIMD16<UInt8> {
        let none = SIMD16<UInt8>.zero
        var weights = none.replacing(with: 1, where: bytes .< 0x80)
        weights.replace(with: 2, where: bytes .>= 0xC0)
        weights.replace(with: 4, where: bytes .>= 0xE0)
        weights.replace(with: 8, where: bytes .>= 0xF0)
        return weights
    }
}
