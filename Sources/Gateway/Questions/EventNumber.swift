import GatewayTypes
import HTTPCodec

/// The place of one event in the stream of a question: 0 for `start`, then one more for each, the end among them.
///
/// Written `<question>-<number>`, as the `id` of an event and as the `Last-Event-ID` of a client that comes back.
struct EventNumber: Hashable {
    let question: RequestID
    let number: Int

    init(question: RequestID, number: Int) {
        self.question = question
        self.number = number
    }

    /// Nil for anything that `append` doesn't write.
    init?(_ text: Span<UInt8>) {
        let length = RequestID.textLength
        guard text.count > length &+ 1, text.count <= length &+ 10, text[length] == 0x2D,
            let question = RequestID(digits: text.extracting(0..<length))
        else { return nil }
        var number = 0
        for index in (length &+ 1)..<text.count {
            guard (0x30...0x39).contains(text[index]) else { return nil }
            number = number &* 10 &+ Int(text[index] &- 0x30)
        }
        self.init(question: question, number: number)
    }

    func append(to output: inout [UInt8]) {
        self.question.append(to: &output)
        output.append(0x2D)
        Decimal.append(self.number, to: &output)
    }
}
