import GatewayTypes
import Testing

@testable import Quota

@Suite("The first answer of a store")
struct FirstAnswerTests {
    private static let start = MonotonicTime(nanoseconds: 7)

    private static func isAwaited(
        _ answer: inout FirstAnswer, hasAnswered: Bool = false, failure: QuotaFailure? = .unreachable,
        canServeAlone: Bool = false, after seconds: Int64
    ) -> Bool {
        answer.isAwaited(
            hasAnswered: hasAnswered, failure: failure, canServeAlone: canServeAlone,
            at: Self.start + .seconds(seconds))
    }

    @Test func `It is waited for without an end where nobody could be let in`() {
        var answer = FirstAnswer(start: Self.start)
        #expect(Self.isAwaited(&answer, after: 0) && Self.isAwaited(&answer, after: 86_400))
        #expect(!Self.isAwaited(&answer, hasAnswered: true, failure: nil, after: 86_401))
        #expect(!Self.isAwaited(&answer, after: 86_402), "what has answered once is waited for no more")
    }

    @Test func `Where asks may go on without it, the wait ends`() {
        var answer = FirstAnswer(start: Self.start)
        #expect(Self.isAwaited(&answer, canServeAlone: true, after: 29))
        #expect(!Self.isAwaited(&answer, canServeAlone: true, after: 30))
        #expect(!Self.isAwaited(&answer, canServeAlone: false, after: 31))
    }

    @Test func `A store that refuses us is a mistake and no outage`() {
        var answer = FirstAnswer(start: Self.start)
        #expect(Self.isAwaited(&answer, failure: .notPermitted, canServeAlone: true, after: 86_400))
        #expect(!Self.isAwaited(&answer, failure: .timedOut, canServeAlone: true, after: 86_401))
    }
}
