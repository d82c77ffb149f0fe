import Testing

@testable import Gateway

@Suite("Language preference")
struct LanguagePreferenceTests {
    @Test(
        "follows what the client likes best",
        arguments: [
            ("", Language.english), ("fa", .persian), ("fa-IR", .persian), ("FA-ir", .persian),
            ("ru-RU,ru;q=0.9", .russian),
            ("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", .korean), ("en-GB", .english), ("de", .english),
            ("de,ru;q=0.1", .russian),
            ("de;q=1, fr;q=0.9, fa;q=0.2, ko;q=0.3", .korean), ("en;q=0.5,fa;q=0.5", .english),
            ("fa;q=0.5,en;q=0.5", .persian),
            ("fa;q=0", .english), ("fa;q=0, ru", .russian), ("fa;q=0.000,ko;q=0.001", .korean),
            ("ru;q=1.000", .russian),
            ("*", .english), ("fa, *", .persian), ("*, fa", .persian), ("fa;q=0.5, *;q=0.8", .english),
            ("en;q=0, *", .persian), ("en;q=0.1, *;q=0.5", .persian), (" ru ; q=0.4 ,\tko ; q=0.6 ", .korean),
        ])
    func wellFormed(field: String, language: Language) {
        #expect(LanguagePreference.choose(Array(field.utf8).span) == language)
    }

    @Test(
        "is not misled by what is malformed",
        arguments: [
            "fa;q=", "fa;q=2", "fa;q=1.1", "fa;q=-1", "fa;q=0.1234", "fa;q=x", "fa;level=1", "fa;q=1.5.", "far", "f",
            "-fa",
            "fa_IR", ",,,;;;", ";q=1", "fa;;q=1", "\u{0}\u{FF}", "q=1;fa",
        ])
    func malformed(field: String) { #expect(LanguagePreference.choose(Array(field.utf8).span) == .english) }

    @Test("reads a bounded part")
    func bounded() {
        let long = String(repeating: "xx;q=0.1,", count: 100_000) + "fa"
        #expect(LanguagePreference.choose(Array(long.utf8).span) == .english)
        #expect(LanguagePreference.choose(Array(("ko," + long).utf8).span) == .korean)
    }
}
