import GatewayTypes
import Testing

@testable import Gateway

@Suite("Answers of our own routes")
struct ProcessAnswerTests {
    private let id = RequestID(high: 0xAB, low: 0xCD)
    private let usage = TokenUsage(input: 141, output: 37, source: .provider)
    private static let texts = [
        "", "plain", "quote \" back \\ slash / ", "line\nfeed\r\ntab\t\u{0}\u{1F}", "خلاصهٔ متن", "👩‍👩‍👧 \u{2028}",
        "\n\ndata: forged\n\nevent: finish\n", String(repeating: "long ", count: 10_000),
    ]

    @Test("tell result, request and usage", arguments: texts)
    func process(answer: String) throws {
        var bytes: [UInt8] = []
        ProcessAnswer.append(result: Array(answer.utf8).span, requestID: self.id, usage: self.usage, to: &bytes)
        let told = try object(text(bytes))
        #expect(told["success"] as? Bool == true)
        #expect(told["result"] as? String == answer)
        #expect(told["requestId"] as? String == self.id.description)
        #expect(told["usage"] as? [String: Int] == ["inputTokens": 141, "outputTokens": 37, "totalTokens": 178])
        #expect(told.count == 4)
    }

    @Test("tell answer, question and usage", arguments: texts)
    func question(answer: String) throws {
        var bytes: [UInt8] = []
        ProcessAnswer.append(answer: Array(answer.utf8).span, questionID: self.id, usage: nil, to: &bytes)
        let told = try object(text(bytes))
        #expect(told["answer"] as? String == answer)
        #expect(told["questionId"] as? String == self.id.description)
        #expect(told.count == 2, "usage that is not known is left out")
    }

    @Test("append to what is there")
    func appends() {
        var bytes = Array("head".utf8)
        ProcessAnswer.append(result: [UInt8]().span, requestID: self.id, usage: nil, to: &bytes)
        #expect(text(bytes).hasPrefix("head{"))
    }

    @Test("stream a start")
    func start() throws {
        var bytes: [UInt8] = []
        AnswerEvents(questionID: self.id).appendStart(to: &bytes)
        let event = try ReceivedEvent(text(bytes))
        #expect(event.type == "start")
        #expect(event.data["questionId"] as? String == self.id.description)
        #expect(event.data.count == 1)
    }

    @Test("stream pieces that cannot leave their event", arguments: texts, [true, false])
    func answer(delta: String, isFinal: Bool) throws {
        var bytes: [UInt8] = []
        AnswerEvents(questionID: self.id).appendAnswer(
            delta: Array(delta.utf8).span, isFinal: isFinal, to: &bytes)
        let event = try ReceivedEvent(text(bytes))
        #expect(event.type == "answer")
        #expect(event.data["deltaText"] as? String == delta)
        #expect(event.data["isFinal"] as? Bool == isFinal)
        #expect(event.data["questionId"] as? String == self.id.description)
        #expect(event.data.count == 3)
    }

    @Test("stream one end, with usage where it is known")
    func finish() throws {
        var known: [UInt8] = []
        AnswerEvents(questionID: self.id).appendFinish(usage: self.usage, to: &known)
        let event = try ReceivedEvent(text(known))
        #expect(event.type == "finish")
        #expect(event.data["usage"] as? [String: Int] == ["inputTokens": 141, "outputTokens": 37, "totalTokens": 178])
        var unknown: [UInt8] = []
        AnswerEvents(questionID: self.id).appendFinish(usage: nil, to: &unknown)
        #expect(try ReceivedEvent(text(unknown)).data.count == 1)
    }

    @Test("take no memory for an event that fits the buffer")
    func noAllocation() {
        let events = AnswerEvents(questionID: self.id)
        let delta = Array("some words \"quoted\"".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4096)
        let before = bytes.withUnsafeBufferPointer { $0.baseAddress }
        for _ in 0..<20 { events.appendAnswer(delta: delta.span, isFinal: false, to: &bytes) }
        #expect(bytes.withUnsafeBufferPointer { $0.baseAddress } == before)
    }
}
