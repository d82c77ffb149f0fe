import GatewayTypes
import Routing
import Testing

@Suite struct TextBoundsTests {
    private static let family = "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}"

    /// Texts with the Characters a person sees in them.
    static let counted: [(String, Int)] = [
        ("plain words", 11), ("می\u{200C}خواهم کتاب\u{200C}ها را بخوانم", 24), ("کِتابِ مُقَدَّس", 9), ("سلامٌ", 4),
        (family + family + "ab", 4), ("🇮🇷🇮🇷🇩🇪x", 4), ("e\u{301}e\u{301}x", 3), ("a\r\nb", 3), ("a\n\rb", 4),
        ("a\r\n\nb", 4),
        ("\u{202E}abc\u{202C} \u{633}\u{644}\u{627}\u{645}\u{200F}", 11), ("👍🏽👍", 2), ("각각", 2),
        ("\u{1112}\u{1161}\u{11AB}x", 2), ("नमस्ते", 3), ("x\u{200B}y", 3), ("x\u{AD}y", 3), ("Ёжик й", 6),
        ("a\u{200D}b", 2), ("x\u{2028}y", 3), ("1\u{FE0F}\u{20E3}", 1), ("۱۲۳٬۴۵۶", 7),
    ]

    @Test(arguments: counted)
    func textIsCountedAsAPersonCounts(_ text: String, _ characters: Int) throws {
        #expect(text.count == characters)
        #expect(try bounded(1, 100).ask("t", text).textLength == characters)
        #expect(try bounded(characters, characters).ask("t", text).textLength == characters)
        #expect(bounded(characters + 1, 100).failure("t", text) == .textTooShort(minimum: characters + 1))
        if characters > 1 {
            #expect(bounded(1, characters - 1).failure("t", text) == .textTooLong(maximum: characters - 1))
        }
    }

    @Test func everyPairOfSignsIsCountedAsTheLanguageCountsThem() throws {
        let ranges: [ClosedRange<UInt32>] = [
            0x00...0x052F, 0x0531...0x058F, 0x0600...0x06FF, 0x0900...0x0950, 0x1100...0x1103, 0x1160...0x1163,
            0x2000...0x206F, 0x20D0...0x20E3, 0xFE00...0xFE0F, 0x1F1E6...0x1F1E9, 0x1F3FB...0x1F3FF, 0x1F466...0x1F469,
        ]
        let scalars = ranges.flatMap { $0.compactMap(Unicode.Scalar.init) }
        let table = bounded(1, 1000)
        for left in scalars {
            // A fixed walk over the others: each sign meets every kind of neighbour.
            var text = "x"
            for step in stride(from: Int(left.value % 7), to: scalars.count, by: 97) {
                text.unicodeScalars.append(left)
                text.unicodeScalars.append(scalars[step])
                text.unicodeScalars.append(left)
            }
            text += "x"
            #expect(try table.ask("t", text).textLength == text.count)
        }
    }

    @Test func bytesAreBoundedBeforeAnyCharacterIsCounted() throws {
        let bomb = "a" + String(repeating: "\u{301}", count: 50_000)
        #expect(bomb.count == 1)
        #expect(bounded(1, 10, bytes: 65_536).failure("t", bomb) == .textTooLarge(maxBytes: 65_536))
        #expect(try bounded(1, 10, bytes: 200_000).ask("t", bomb).textLength == 1)
        let emoji = String(repeating: Self.family, count: 100)
        #expect(bounded(1, 99, bytes: 65_536).failure("t", emoji) == .textTooLong(maximum: 99))
        #expect(bounded(1, 100, bytes: 2499).failure("t", emoji) == .textTooLarge(maxBytes: 2499))
        #expect(try bounded(1, 100, bytes: 2500).ask("t", emoji).textLength == 100)
    }

    @Test(arguments: [
        " ", "\n", "\r\n", "\t", "\u{B}\u{C}", "\u{85}", "\u{A0}", "\u{1680}", "\u{2003}", "\u{2028}\u{2029}",
        "\u{202F}\u{205F}", "\u{3000}",
    ])
    func whiteSpaceAtBothEndsIsNoPartOfTheText(_ space: String) throws {
        let answer = try bounded(4, 4).ask("t", space + "سلام" + space + space)
        #expect(answer.textLength == 4)
        #expect(answer.inside == "سلام")
        #expect(bounded(1, 4).failure("t", space + space) == .textTooShort(minimum: 1))
        #expect(try bounded(1, 100).ask("t", "a" + space + "b").inside == "a" + space + "b")
    }

    @Test(arguments: ["\u{200B}", "\u{200C}", "\u{FEFF}", "\u{1F}"])
    func otherInvisibleSignsStay(_ sign: String) throws {
        #expect(try bounded(1, 10).ask("t", sign + "a" + sign).inside == sign + "a" + sign)
    }

    @Test func builtInTasksTakeTwentyToTwelveThousandCharacters() throws {
        for task in ["summarize", "rewrite", "key-points", "titles"] {
            #expect(table().failure(task, String(repeating: "ب", count: 19) + "  ") == .textTooShort(minimum: 20))
            #expect(try table().ask(task, String(repeating: "ب", count: 20)).textLength == 20)
            #expect(try table().ask(task, String(repeating: "ب", count: 12_000)).textLength == 12_000)
            #expect(table().failure(task, String(repeating: "ب", count: 12_001)) == .textTooLong(maximum: 12_000))
        }
    }

    @Test func wrongUTF8IsCountedAndNeverTraps() throws {
        let pieces: [[UInt8]] = [
            [0xFF], [0xC2], [0xE2, 0x80], [0xF0, 0x9F], [0xED, 0xA0, 0x80], [0x80], [0x61], [0x3C],
        ]
        for first in pieces {
            for second in pieces {
                let bytes = [0x61] + first + second + [0x3C] + first
                let name = Array("t".utf8)
                let answer = try bounded(1, 100).resolve(
                    task: name.span, text: bytes.span, for: principal(), choice: 0)
                #expect(answer.textLength > 0)
            }
        }
    }
}

/// The quick count against the language's own, over long mixtures.
@Suite struct CharacterMixtureTests {
    private static let pieces: [String] = [
        "س", "ل", "ا", " ", "a", "z9", "\u{200C}", "\u{200D}", "\u{301}", "\u{64B}", "\r", "\n", "\r\n", "\u{1F469}",
        "\u{1F3FD}",
        "\u{FE0F}", "\u{1F1EE}", "\u{1F1F7}", "\u{600}", "\u{6DD}", "©", "‼", "\u{AD}", "\u{200E}", "क", "\u{94D}",
        "\u{1100}", "\u{1161}",
        "\u{11A8}", "각", "\u{0}", "é", "ё", "…", "\u{2028}", "\u{7F}", "\u{E0062}", "plain words here",
    ]

    @Test(arguments: 0..<200)
    func countsTheSame(_ seed: Int) throws {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
        var text = "x"
        for _ in 0..<80 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text += Self.pieces[Int((state >> 33) % UInt64(Self.pieces.count))]
        }
        text += "x"
        let expected = text.count
        #expect(try bounded(1, 10_000).ask("t", text).textLength == expected)
        #expect(try bounded(expected, expected).ask("t", text).textLength == expected)
        #expect(bounded(1, expected - 1).failure("t", text) == .textTooLong(maximum: expected - 1))
    }
}
