package import GatewayTypes
import HTTPCodec
import JSON

/// Writes the whole answers of our own routes. Texts are UTF-8 and are escaped as JSON asks.
package enum ProcessAnswer {
    /// Appends `{"success":true,"result":…,"requestId":…,"usage":…}`; without usage that member is left out.
    package static func append(
        result: Span<UInt8>, requestID: RequestID, usage: TokenUsage?, to output: inout [UInt8]
    ) {
        MessageWriter.append(#"{"success":true,"result":""#, to: &output)
        appendJSON(result, to: &output)
        MessageWriter.append(#"","requestId":""#, to: &output)
        requestID.append(to: &output)
        MessageWriter.append("\"", to: &output)
        appendMember(usage, to: &output)
        MessageWriter.append("}", to: &output)
    }

    /// Appends `{"questionId":…,"answer":…,"usage":…}`; without usage that member is left out.
    package static func append(
        answer: Span<UInt8>, questionID: RequestID, usage: TokenUsage?, to output: inout [UInt8]
    ) {
        MessageWriter.append(#"{"questionId":""#, to: &output)
        questionID.append(to: &output)
        MessageWriter.append(#"","answer":""#, to: &output)
        appendJSON(answer, to: &output)
        MessageWriter.append("\"", to: &output)
        appendMember(usage, to: &output)
        MessageWriter.append("}", to: &output)
    }
}

/// Writes the events of one ask on our own routes: `start`, any number of `answer`, then `finish`, or the `error` that
/// `ErrorAnswer.appendEvent` writes.
package struct AnswerEvents: Sendable {
    package let questionID: RequestID
    /// The beginning of every `answer` event, so that one event is three copies.
    private let answerHead: [UInt8]

    package init(questionID: RequestID) {
        self.questionID = questionID
        var head: [UInt8] = []
        head.reserveCapacity(96)
        MessageWriter.append("event: answer\ndata: {\"questionId\":\"", to: &head)
        questionID.append(to: &head)
        MessageWriter.append(#"","deltaText":""#, to: &head)
        self.answerHead = head
    }

    /// Appends the line that a client may come back with, `id: <question>-<number>`, of the event that follows it.
    func appendNumber(_ number: Int, to output: inout [UInt8]) {
        MessageWriter.append("id: ", to: &output)
        EventNumber(question: self.questionID, number: number).append(to: &output)
        MessageWriter.append("\n", to: &output)
    }

    /// Appends `start`, which tells the question's identifier.
    package func appendStart(to output: inout [UInt8]) {
        MessageWriter.append("event: start\ndata: {\"questionId\":\"", to: &output)
        self.questionID.append(to: &output)
        MessageWriter.append("\"}\n\n", to: &output)
    }

    /// Appends `answer` with the next piece of text, whole characters of UTF-8.
    ///
    /// - Parameter isFinal: no further text comes. It is not the end of the ask: `finish` or `error` still follows.
    package func appendAnswer(delta: Span<UInt8>, isFinal: Bool, to output: inout [UInt8]) {
        output.append(contentsOf: self.answerHead)
        // JSON escapes line ends, so the data stays on its line.
        appendJSON(delta, to: &output)
        MessageWriter.append(isFinal ? "\",\"isFinal\":true}\n\n" : "\",\"isFinal\":false}\n\n", to: &output)
    }

    /// Appends `finish`, the end of an ask that was answered.
    package func appendFinish(usage: TokenUsage?, to output: inout [UInt8]) {
        MessageWriter.append("event: finish\ndata: {\"questionId\":\"", to: &output)
        self.questionID.append(to: &output)
        MessageWriter.append("\"", to: &output)
        appendMember(usage, to: &output)
        MessageWriter.append("}\n\n", to: &output)
    }
}

private func appendJSON(_ text: Span<UInt8>, to output: inout [UInt8]) {
    text.withUnsafeBufferPointer { appendEscaped($0, to: &output) }
}

private func appendMember(_ usage: TokenUsage?, to output: inout [UInt8]) {
    guard let usage else { return }
    MessageWriter.append(#","usage":{"inputTokens":"#, to: &output)
    Decimal.append(usage.input, to: &output)
    MessageWriter.append(#","outputTokens":"#, to: &output)
    Decimal.append(usage.output, to: &output)
    MessageWriter.append(#","totalTokens":"#, to: &output)
    Decimal.append(usage.total, to: &output)
    MessageWriter.append("}", to: &output)
}
