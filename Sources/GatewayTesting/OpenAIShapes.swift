import JSON

/// What a chat-completions provider puts on the wire, made by hand so that tests decide every byte.
package enum OpenAIShapes {
    /// Reported token counts.
    package struct Usage: Sendable {
        package var prompt: Int
        package var completion: Int
        package var total: Int { self.prompt + self.completion }

        package init(_ prompt: Int, _ completion: Int) {
            self.prompt = prompt
            self.completion = completion
        }

        package var json: String {
            #"{"prompt_tokens":\#(self.prompt),"completion_tokens":\#(self.completion),"total_tokens":\#(self.total)}"#
        }
    }

    /// A JSON string literal, quotes included.
    package static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A whole plain answer.
    /// - Parameter usage: the JSON of its `usage` member; nil leaves the member out.
    package static func completion(_ text: String, usage: String? = Usage(10, 5).json, finish: String = "stop")
        -> String
    {
        let usage = usage.map { #","usage":\#($0)"# } ?? ""
        return
            #"{"id":"cmpl-7","object":"chat.completion","created":1750000000,"model":"m-small","choices":[{"index":0,"#
            + #""message":{"role":"assistant","content":\#(self.quoted(text))},"finish_reason":\#(self.quoted(finish))}]"#
            + usage + "}"
    }

    /// The JSON of one chunk.
    /// - Parameters:
    ///   - choices: the elements of `choices`.
    ///   - usage: the JSON of its `usage` member; nil leaves the member out.
    package static func chunk(choices: String, usage: String? = nil) -> String {
        let usage = usage.map { #","usage":\#($0)"# } ?? ""
        return #"{"id":"cmpl-7","object":"chat.completion.chunk","created":1750000000,"model":"m-small","#
            + #""choices":[\#(choices)]\#(usage)}"#
    }

    /// The JSON of a chunk that carries text.
    package static func delta(_ text: String, usage: String? = nil) -> String {
        self.chunk(
            choices: #"{"index":0,"delta":{"content":\#(self.quoted(text))},"finish_reason":null}"#, usage: usage)
    }

    /// The JSON of the chunk that ends the text.
    package static func finish(_ reason: String = "stop", usage: String? = nil) -> String {
        self.chunk(choices: #"{"index":0,"delta":{},"finish_reason":\#(self.quoted(reason))}"#, usage: usage)
    }

    /// The JSON of the chunk that only reports usage.
    package static func usage(_ usage: Usage) -> String { self.chunk(choices: "", usage: usage.json) }

    /// An event with the given data; lines end as asked.
    package static func event(_ data: String, lineEnd: String = "\n") -> String { "data: \(data)\(lineEnd)\(lineEnd)" }

    /// Every event of a whole streamed answer, `[DONE]` included.
    package static func stream(_ words: [String], usage: Usage? = Usage(10, 5), lineEnd: String = "\n") -> [String] {
        var events = words.map { self.delta($0) }
        events.append(self.finish())
        if let usage { events.append(self.usage(usage)) }
        events.append("[DONE]")
        return events.map { self.event($0, lineEnd: lineEnd) }
    }
}

extension ProviderReply {
    /// A stream of one word that ends once the gate is opened.
    package static func heldStream(_ gate: Gate) -> Self {
        .events([
            .send(OpenAIShapes.event(OpenAIShapes.delta("a"))), .wait(gate), .send(OpenAIShapes.event("[DONE]")),
        ])
    }

    /// A plain answer of chat completions.
    package static func answer(
        _ text: String = "ok", usage: OpenAIShapes.Usage? = .init(10, 5), delay: Int = 0
    ) -> Self {
        .body(OpenAIShapes.completion(text, usage: usage?.json), delay: delay)
    }

    /// A streamed answer, one write for each event.
    /// - Parameter gap: milliseconds of silence after each word.
    package static func stream(
        _ words: [String] = ["o", "k"], usage: OpenAIShapes.Usage? = .init(10, 5), gap: Int = 0
    ) -> Self {
        var steps: [ProviderStep] = []
        for (index, event) in OpenAIShapes.stream(words, usage: usage).enumerated() {
            steps.append(.send(event))
            if gap > 0 && index < words.count { steps.append(.hold(milliseconds: gap)) }
        }
        return .events(steps)
    }

    /// The usual answer, "ok" for 10 + 5 tokens, in the form that the request asked for.
    package static func usual(for call: ProviderCall) -> Self { call.wantsStream ? .stream() : .answer() }

    /// A response head, then silence.
    package static let stall = Self.events([.hold(milliseconds: 120_000), .send(OpenAIShapes.event("[DONE]"))])
}
