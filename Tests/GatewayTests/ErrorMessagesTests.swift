import GatewayTypes
import Testing

@testable import Gateway

@Suite("Messages for users")
struct ErrorMessagesTests {
    /// All sentences of one language.
    private func sentences(_ language: Language) -> [String] {
        let codes = ErrorCode.allCases.map { ErrorMessages.message(for: $0, in: language) }
        let limits = LimitKind.allCases.flatMap { kind in
            LimitScope.allCases.flatMap { scope in
                [1, 2, 5, 90, 4000, 90_000].map { wait in
                    ErrorMessages.message(
                        for: Limit(kind, scope: scope, quantity: 3), waitSeconds: wait, in: language)
                }
            }
        }
        return codes + limits
    }

    @Test(
        "are written in the script of their language",
        arguments: [
            (Language.english, 0x41...0x7A), (.persian, 0x600...0x6FF), (.russian, 0x400...0x4FF),
            (.korean, 0xAC00...0xD7A3),
        ])
    func scripts(language: Language, script: ClosedRange<Int>) {
        for sentence in self.sentences(language) {
            let letters = sentence.unicodeScalars.filter { $0.properties.isAlphabetic }
            let own = letters.filter { script.contains(Int($0.value)) }
            #expect(own.count * 10 >= letters.count * 8, "\(sentence)")
            #expect(sentence.hasSuffix("."), "\(sentence)")
            #expect(sentence.count <= 120, "\(sentence)")
        }
    }

    @Test("show nothing of the inside", arguments: Language.allCases)
    func noInternals(language: Language) {
        let words = ["redis", "jwt", "http", "provider", "token", "quota", "upstream", "gateway", "_", "null"]
        for sentence in self.sentences(language) {
            for word in words { #expect(!sentence.lowercased().contains(word), "\(sentence)") }
        }
    }

    @Test(
        "say how long, in units a person uses",
        arguments: [
            (1, "1 second."), (2, "2 seconds."), (119, "119 seconds."), (120, "2 minutes."), (121, "3 minutes."),
            (7200, "120 minutes."), (7201, "3 hours."), (82_800, "23 hours."), (0, "1 second."),
        ])
    func waits(seconds: Int, end: String) {
        let limit = Limit(.tokensPerDay, quantity: 3)
        #expect(ErrorMessages.message(for: limit, waitSeconds: seconds, in: .english).hasSuffix(" " + end))
    }

    @Test(
        "use the right form after a Russian number",
        arguments: [
            (1, "1 секунду"), (2, "2 секунды"), (5, "5 секунд"), (11, "11 секунд"), (12, "12 секунд"),
            (14, "14 секунд"),
            (21, "21 секунду"), (22, "22 секунды"), (111, "111 секунд"), (120, "2 минуты"), (1260, "21 минуту"),
            (7201, "3 часа"), (75_600, "21 час"), (18_000, "5 часов"),
        ])
    func russianForms(seconds: Int, time: String) {
        let limit = Limit(.tokensPerDay, quantity: 3)
        #expect(ErrorMessages.message(for: limit, waitSeconds: seconds, in: .russian).contains("через \(time)."))
    }

    @Test("use Persian digits in Persian")
    func persianDigits() {
        let limit = Limit(.requestsPerMinute, quantity: 60)
        let sentence = ErrorMessages.message(for: limit, waitSeconds: 12, in: .persian)
        #expect(sentence.contains("۶۰ پرسش"))
        #expect(sentence.contains("۱۲ ثانیه"))
        #expect(!sentence.utf8.contains { $0 >= 48 && $0 <= 57 })
    }

    @Test("name no wait where a plan allows none", arguments: Language.allCases)
    func zeroLimit(language: Language) {
        for kind in LimitKind.allCases {
            let sentence = ErrorMessages.message(for: Limit(kind, quantity: 0), waitSeconds: 60, in: language)
            #expect(sentence == ErrorMessages.message(for: .taskNotInPlan, in: language))
        }
    }
}
