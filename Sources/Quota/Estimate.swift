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
        while bytes.count &- index >= 8 {
            // A byte of the lanes grows by at most 8 for each word: 31 words fit.
            let words = min(31, (bytes.count &- index) / 8)
            var lanes: UInt64 = 0
            for _ in 0..<words {
                lanes &+= Self.weights(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index &+= 8
            }
            sum &+= Self.addedUp(lanes)
        }
        var rest: UInt64 = 0
        var count = 0
        while index < bytes.count {
            rest |= UInt64(bytes[index]) << UInt64(count &* 8)
            index &+= 1
            count &+= 1
        }
        // The bytes that fill the word up are zero, which is ASCII and weighs one each.
        return count == 0 ? sum : sum &+ Self.addedUp(Self.weights(rest)) &- (8 &- count)
    }

    /// Eight bytes at once: in each byte of the result the quarters of a token that its character weighs, when it is
    /// the first byte of one. Bytes that continue a character weigh nothing.
    private static func weights(_ word: UInt64) -> UInt64 {
        let top: UInt64 = 0x8080_8080_8080_8080
        let first = word & (word << 1) & top  // 11xxxxxx
        let ofThree = first & (word << 2)  // 111xxxxx
        let ofFour = ofThree & (word << 3)  // 1111xxxx
        return ((~word & top) >> 7) &+ (first >> 6) &+ (ofThree >> 6) &+ (ofFour >> 5)
    }

    private static func addedUp(_ lanes: UInt64) -> Int {
        let pairs = (lanes & 0x00FF_00FF_00FF_00FF) &+ ((lanes >> 8) & 0x00FF_00FF_00FF_00FF)
        return Int(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) >> 48)
    }
}
