/// What a provider of the messages API puts on the wire, made by hand so that tests decide every byte.
package enum AnthropicShapes {
    private static func quoted(_ text: String) -> String { OpenAIShapes.quoted(text) }

    /// A whole answer.
    /// - Parameter usage: the JSON of its `usage` member.
    package static func message(
        _ text: String, stop: String = "end_turn", usage: String = #"{"input_tokens":10,"output_tokens":5}"#
    ) -> String {
        #"{"id":"msg_1","type":"message","role":"assistant","model":"m-small","content":[{"type":"text","text":"#
            + #"\#(self.quoted(text))}],"stop_reason":\#(self.quoted(stop)),"stop_sequence":null,"usage":\#(usage)}"#
    }

    /// An event with its type written twice, as the vendor does.
    package static func event(_ type: String, _ members: String = "") -> String {
        let rest = members.isEmpty ? "" : "," + members
        return "event: \(type)\ndata: {\"type\":\"\(type)\"\(rest)}\n\n"
    }

    package static func start(_ usage: String = #"{"input_tokens":10,"output_tokens":1}"#) -> String {
        self.event(
            "message_start",
            #""message":{"id":"msg_1","type":"message","role":"assistant","content":[],"usage":\#(usage)}"#)
            + self.event("content_block_start", #""index":0,"content_block":{"type":"text","text":""}"#)
    }

    package static func text(_ text: String) -> String {
        self.event("content_block_delta", #""index":0,"delta":{"type":"text_delta","text":\#(self.quoted(text))}"#)
    }

    /// The end of the text and the reason for it.
    package static func delta(_ stop: String = "end_turn", usage: String? = #"{"output_tokens":5}"#) -> String {
        let usage = usage.map { #","usage":\#($0)"# } ?? ""
        return self.event("content_block_stop", #""index":0"#)
            + self.event(
                "message_delta", #""delta":{"stop_reason":\#(self.quoted(stop)),"stop_sequence":null}\#(usage)"#)
    }

    package static let stop = Self.event("message_stop")

    package static func error(_ type: String, _ message: String = "secret words") -> String {
        self.event("error", #""error":{"type":\#(self.quoted(type)),"message":\#(self.quoted(message))}"#)
    }

    /// Every event of a whole streamed answer of 10 + 5 tokens.
    package static func stream(_ words: [String]) -> [String] {
        [self.start(), self.event("ping")] + words.map(self.text) + [self.delta(), self.stop]
    }
}

/// What a provider of generateContent puts on the wire, made by hand so that tests decide every byte.
package enum GeminiShapes {
    package static let usage = #"{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}"#

    /// An answer with these parts: a whole one, or one piece of a stream.
    /// - Parameters:
    ///   - parts: the elements of `parts`.
    ///   - usage: the JSON of `usageMetadata`; nil leaves the member out.
    package static func answer(parts: String, finish: String? = nil, usage: String? = nil) -> String {
        let finish = finish.map { #","finishReason":"\#($0)""# } ?? ""
        let usage = usage.map { #","usageMetadata":\#($0)"# } ?? ""
        return #"{"candidates":[{"content":{"parts":[\#(parts)],"role":"model"}\#(finish),"index":0}]\#(usage),"#
            + #""modelVersion":"m-small"}"#
    }

    /// An answer with one part of text.
    package static func text(_ text: String, finish: String? = nil, usage: String? = nil) -> String {
        self.answer(parts: #"{"text":\#(OpenAIShapes.quoted(text))}"#, finish: finish, usage: usage)
    }

    package static func event(_ data: String) -> String { OpenAIShapes.event(data, lineEnd: "\r\n") }

    /// Every event of a whole streamed answer of 10 + 5 tokens; each tells the sum so far.
    package static func stream(_ words: [String]) -> [String] {
        words.enumerated().map { index, word in
            let isLast = index == words.count - 1
            let usage = isLast ? self.usage : #"{"promptTokenCount":10,"totalTokenCount":10}"#
            return self.event(self.text(word, finish: isLast ? "STOP" : nil, usage: usage))
        }
    }
}
