import GatewayTypes
import Testing

@testable import Gateway

@Suite("Numbers of events")
struct EventNumberTests {
    private static let question = RequestID(high: 0x0123_4567_89AB_CDEF, low: 42)

    @Test(arguments: [0, 1, 9, 10, 4711, 999_999_999])
    func `are read back as they were written`(number: Int) {
        var bytes: [UInt8] = []
        EventNumber(question: Self.question, number: number).append(to: &bytes)
        #expect(text(bytes) == "\(Self.question)-\(number)")
        #expect(EventNumber(bytes.span) == EventNumber(question: Self.question, number: number))
    }

    @Test(arguments: ["", "-", "1", "-1", "+1", "1 ", "0x1", "9999999999", "99999999999999999999999"])
    func `are nothing but digits behind the question`(number: String) {
        #expect(EventNumber(Array("\(Self.question)-\(number)".utf8).span) == nil || number == "1")
        #expect(EventNumber(Array("\(Self.question)\(number)".utf8).span) == nil || number == "-1")
        #expect(EventNumber(Array("\(Self.question)-\(number)".utf8.dropFirst()).span) == nil)
        #expect(EventNumber(Array("\(Self.question.description.uppercased())-1".utf8).span) == nil)
    }

    @Test func `name the instance of their question`() {
        var words = RandomWords()
        let id = RequestID.random(of: 0xFEDC_BA98, using: &words)
        #expect(id.instance == 0xFEDC_BA98 && id.description.hasPrefix("fedcba98"))
        #expect(RequestID(digits: Array(id.description.utf8).span) == id)
        let others = (0..<100).map { _ in RequestID.random(of: 1, using: &words) }
        #expect(Set(others).count == 100)
    }
}
