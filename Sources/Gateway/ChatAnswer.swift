package import GatewayTypes
import HTTPCodec
import JSON

/// Why an answer ends, in OpenAI's words.
package enum FinishWord: String, Sendable {
    case stop
    case length
    case contentFilter = "content_filter"

    fileprivate var text: StaticString {
        switch self {
        case .stop: "stop"
        case .length: "length"
        case .contentFilter: "content_filter"
        }
    }
}

/// Writes whole chat completions.
enum ChatAnswer {
    static func append(_ answer: WholeAnswer, to output: inout [UInt8]) {
        MessageWriter.append(#"{"id":""#, to: &output)
        self.append(answer.id, to: &output)
        MessageWriter.append(#"","object":"chat.completion","created":"#, to: &output)
        self.append(answer.createdAt, model: answer.task, to: &output)
        MessageWriter.append(
            #","choices":[{"index":0,"message":{"role":"assistant","content":""#, to: &output)
        answer.text.withUnsafeBufferPointer { appendEscaped($0, to: &output) }
        MessageWriter.append(#"","refusal":null},"logprobs":null,"finish_reason":""#, to: &output)
        MessageWriter.append(answer.finish.text, to: &output)
        MessageWriter.append(#""}],"usage":"#, to: &output)
        self.append(answer.usage, to: &output)
        MessageWriter.append("}", to: &output)
    }

    fileprivate static func append(_ id: RequestID, to output: inout [UInt8]) {
        MessageWriter.append("chatcmpl-", to: &output)
        id.append(to: &output)
    }

    fileprivate static func append(_ created: WallTime, model: TaskName, to output: inout [UInt8]) {
        Decimal.append(Int(created.seconds), to: &output)
        MessageWriter.append(#","model":""#, to: &output)
        var name = model.string
        name.withUTF8 { appendEscaped($0, to: &output) }
        MessageWriter.append(#"""#, to: &output)
    }

    fileprivate static func append(_ usage: TokenUsage, to output: inout [UInt8]) {
        MessageWriter.append(#"{"prompt_tokens":"#, to: &output)
        Decimal.append(usage.input, to: &output)
        MessageWriter.append(#","completion_tokens":"#, to: &output)
        Decimal.append(usage.output, to: &output)
        MessageWriter.append(#","total_tokens":"#, to: &output)
        Decimal.append(usage.total, to: &output)
        MessageWriter.append(#","prompt_tokens_details":{"cached_tokens":"#, to: &output)
        Decimal.append(usage.cachedInput, to: &output)
        MessageWriter.append(#"},"completion_tokens_details":{"reasoning_tokens":"#, to: &output)
        Decimal.append(usage.reasoning, to: &output)
        MessageWriter.append("}}", to: &output)
    }
}

/// Writes the chunks of one streamed chat completion: `data:` events only, no type and no identifier, since client
/// libraries read every event as a chunk.
package struct ChatChunks: Sendable {
    /// Everything up to the delta's members, made once, so that a chunk is a few copies.
    private let head: [UInt8]
    /// Everything up to the list of choices.
    private let shortHead: Int
    private let reportsUsage: Bool

    /// - Parameters:
    ///   - model: the task, by which the client asked.
    ///   - reportsUsage: adds a chunk with the usage behind the last, and says in all others that theirs is not known.
    package init(id: RequestID, created: WallTime, model: TaskName, reportsUsage: Bool) {
        var head: [UInt8] = []
        head.reserveCapacity(192)
        MessageWriter.append(#"data: {"id":""#, to: &head)
        ChatAnswer.append(id, to: &head)
        MessageWriter.append(#"","object":"chat.completion.chunk","created":"#, to: &head)
        ChatAnswer.append(created, model: model, to: &head)
        MessageWriter.append(#","choices":["#, to: &head)
        self.shortHead = head.count
        MessageWriter.append(#"{"index":0,"delta":{"#, to: &head)
        self.head = head
        self.reportsUsage = reportsUsage
    }

    /// Appends the chunk that says who speaks.
    package func appendStart(to output: inout [UInt8]) {
        output.append(contentsOf: self.head)
        MessageWriter.append(#""role":"assistant","content":""},"finish_reason":null}]"#, to: &output)
        self.appendEnd(to: &output)
    }

    /// Appends the next piece of text, UTF-8.
    package func appendAnswer(delta: Span<UInt8>, to output: inout [UInt8]) {
        output.append(contentsOf: self.head)
        MessageWriter.append(#""content":""#, to: &output)
        // JSON escapes line ends, so the data stays on its line.
        delta.withUnsafeBufferPointer { appendEscaped($0, to: &output) }
        MessageWriter.append(#""},"finish_reason":null}]"#, to: &output)
        self.appendEnd(to: &output)
    }

    /// Appends the reason, the usage where it is asked for, and `[DONE]`.
    package func appendFinish(_ finish: FinishWord, usage: TokenUsage, to output: inout [UInt8]) {
        output.append(contentsOf: self.head)
        MessageWriter.append(#"},"finish_reason":""#, to: &output)
        MessageWriter.append(finish.text, to: &output)
        MessageWriter.append(#""}]"#, to: &output)
        self.appendEnd(to: &output)
        if self.reportsUsage {
            output.append(contentsOf: self.head[..<self.shortHead])
            MessageWriter.append(#"],"usage":"#, to: &output)
            ChatAnswer.append(usage, to: &output)
            MessageWriter.append("}\n\n", to: &output)
        }
        MessageWriter.append("data: [DONE]\n\n", to: &output)
    }

    @inline(__always)
    private func appendEnd(to output: inout [UInt8]) {
        MessageWriter.append(self.reportsUsage ? ",\"usage\":null}\n\n" : "}\n\n", to: &output)
    }
}
