import GatewayTypes
import Testing

@testable import Gateway

@Suite("Answers of the OpenAI-compatible route")
struct ChatAnswerTests {
    private let id = RequestID(high: 0xAB, low: 0xCD)
    private let usage = TokenUsage(
        input: 141, output: 37, total: 190, cachedInput: 100, reasoning: 12, source: .provider)
    private static let texts = [
        "", "plain", "quote \" back \\ slash / ", "line\nfeed\r\ntab\t\u{0}\u{1F}", "خلاصهٔ متن", "👩‍👩‍👧 \u{2028}",
        "\n\ndata: [DONE]\n\n", String(repeating: "long ", count: 10_000),
    ]

    private func chunks(_ usage: Bool = false, model: TaskName = "summarize") -> ChatChunks {
        ChatChunks(id: self.id, created: WallTime(seconds: 1_750_000_000), model: model, reportsUsage: usage)
    }

    /// The data of each event; fails on anything that is not one line of data and an empty line.
    private func events(_ write: (inout [UInt8]) -> Void) throws -> [String] {
        var bytes: [UInt8] = []
        write(&bytes)
        let all = text(bytes)
        try #require(all.hasSuffix("\n\n"))
        return try all.dropLast(2).split(separator: "\n\n", omittingEmptySubsequences: false).map { event in
            try #require(event.hasPrefix("data: ") && !event.contains("\n"))
            return String(event.dropFirst(6))
        }
    }

    private func choice(_ chunk: [String: Any]) throws -> [String: Any] {
        let choices = try #require(chunk["choices"] as? [[String: Any]])
        try #require(choices.count == 1 && choices[0]["index"] as? Int == 0)
        return choices[0]
    }

    @Test(arguments: texts)
    func `A whole answer has every member that client libraries read`(answer: String) throws {
        var bytes: [UInt8] = []
        ChatAnswer.append(
            WholeAnswer(
                id: self.id, task: "a\"b", createdAt: WallTime(seconds: 1_750_000_000), text: Array(answer.utf8),
                finish: .length, usage: self.usage),
            to: &bytes)
        let told = try object(text(bytes))
        #expect(told["id"] as? String == "chatcmpl-\(self.id)")
        #expect(told["object"] as? String == "chat.completion")
        #expect(told["created"] as? Int == 1_750_000_000)
        #expect(told["model"] as? String == "a\"b")
        let choice = try self.choice(told)
        #expect(choice["finish_reason"] as? String == "length")
        let message = try #require(choice["message"] as? [String: Any])
        #expect(message["role"] as? String == "assistant")
        #expect(message["content"] as? String == answer)
        let usage = try #require(told["usage"] as? [String: Any])
        #expect(usage["prompt_tokens"] as? Int == 141 && usage["completion_tokens"] as? Int == 37)
        #expect(usage["total_tokens"] as? Int == 190)
        #expect((usage["prompt_tokens_details"] as? [String: Int])?["cached_tokens"] == 100)
        #expect((usage["completion_tokens_details"] as? [String: Int])?["reasoning_tokens"] == 12)
    }

    @Test(arguments: texts, [true, false])
    func `A piece of text cannot leave its chunk`(delta: String, usage: Bool) throws {
        let events = try self.events { self.chunks(usage).appendAnswer(delta: Array(delta.utf8).span, to: &$0) }
        try #require(events.count == 1)
        let chunk = try object(events[0])
        #expect(chunk["object"] as? String == "chat.completion.chunk")
        #expect((try self.choice(chunk)["delta"] as? [String: String]) == ["content": delta])
        #expect(chunk.keys.contains("usage") == usage)
    }

    @Test func `The first chunk says who speaks`() throws {
        let events = try self.events { self.chunks().appendStart(to: &$0) }
        try #require(events.count == 1)
        let delta = try self.choice(try object(events[0]))["delta"] as? [String: String]
        #expect(delta == ["role": "assistant", "content": ""])
    }

    @Test(arguments: [FinishWord.stop, .length, .contentFilter])
    func `The end is the reason and the mark of the end`(finish: FinishWord) throws {
        let events = try self.events { self.chunks().appendFinish(finish, usage: self.usage, to: &$0) }
        try #require(events.count == 2)
        let choice = try self.choice(try object(events[0]))
        #expect(choice["finish_reason"] as? String == finish.rawValue)
        #expect((choice["delta"] as? [String: Any])?.isEmpty == true)
        #expect(events[1] == "[DONE]")
    }

    @Test func `Usage comes in a chunk of its own before the mark, for those who asked`() throws {
        let events = try self.events { self.chunks(true).appendFinish(.stop, usage: self.usage, to: &$0) }
        try #require(events.count == 3)
        let last = try object(events[1])
        #expect((last["choices"] as? [Any])?.isEmpty == true)
        #expect((last["usage"] as? [String: Any])?["total_tokens"] as? Int == 190)
        #expect(last["id"] as? String == "chatcmpl-\(self.id)")
        #expect(events[2] == "[DONE]")
    }
}
