import GatewayTypes
import Quota
import Testing

@Suite struct EstimateTests {
    @Test(
        arguments: [
            ("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("The quick brown fox jumps over it.", 9), ("سلام", 2),
            ("سلام دنیا", 5), ("می\u{200c}خواهم", 5), ("日本語", 3), ("\u{1f600}", 2), ("caf\u{e9}", 2), ("\0\0\0\0", 1),
        ] as [(String, Int)])
    func textIsWeighedByCharacterWidth(text: String, tokens: Int) {
        #expect(Estimate.tokens(forUTF8: Array(text.utf8)) == tokens)
    }

    @Test(arguments: [15, 16, 17, 495, 496, 497, 1000, 40_000])
    func longTextsAreAddedUpWithoutOverflow(count: Int) {
        #expect(Estimate.tokens(forUTF8: [UInt8](repeating: 0x61, count: count)) == (count + 3) / 4)
        #expect(Estimate.tokens(forUTF8: [UInt8](repeating: 0xF4, count: count)) == count * 2)
        #expect(Estimate.tokens(forUTF8: [UInt8](repeating: 0x80, count: count)) == 0)
    }

    @Test func piecesWeighAsMuchAsTheWhole() {
        let text = Array(String(repeating: "سلام world \u{1f469}\u{200d}\u{1f680} 語", count: 41).utf8)
        for size in [1, 2, 3, 7, 16, 31, 500] {
            var meter = TokenMeter()
            var start = 0
            while start < text.count {
                meter.add(Array(text[start..<min(start + size, text.count)]))
                start += size
            }
            #expect(meter.tokens == Estimate.tokens(forUTF8: text))
        }
    }

    @Test func promptAddsBothTextsAndTheFormat() {
        let prompt = Prompt(system: Array("abcdefgh".utf8), user: Array("سلام".utf8))
        #expect(Estimate.tokens(for: prompt) == 2 + 2 + Estimate.promptOverhead)
    }

    struct Row: Sendable {
        let reported: Int?
        let clientGone: Bool
        let charged: Int
        let source: TokenUsage.Source
    }

    /// Observed are 40 of prompt and 20 delivered.
    @Test(arguments: [
        Row(reported: 15, clientGone: false, charged: 15, source: .provider),
        Row(reported: 900, clientGone: false, charged: 900, source: .provider),
        Row(reported: 0, clientGone: false, charged: 0, source: .provider),
        Row(reported: nil, clientGone: false, charged: 60, source: .estimated),
        Row(reported: -7, clientGone: false, charged: 60, source: .estimated),
        Row(reported: 45, clientGone: true, charged: 60, source: .estimated),
        Row(reported: 75, clientGone: true, charged: 75, source: .provider),
        Row(reported: nil, clientGone: true, charged: 60, source: .estimated),
    ])
    func chargeRule(row: Row) {
        let reported = row.reported.map { TokenUsage(input: $0, output: 0, source: .provider) }
        let usage = Estimate.usage(reported: reported, promptEstimate: 40, delivered: 20, clientGone: row.clientGone)
        #expect(usage.total == row.charged)
        #expect(usage.source == row.source)
    }

    @Test func absurdEstimatesDoNotTrap() {
        let usage = Estimate.usage(reported: nil, promptEstimate: .max, delivered: .max, clientGone: true)
        #expect(usage.total > 0)
        #expect(Estimate.usage(reported: nil, promptEstimate: .min, delivered: -1, clientGone: true).total == 0)
    }
}
