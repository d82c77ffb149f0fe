import GatewayTypes
import HTTPCodec

/// How an answer in one piece crosses a hop: the head goes out at once, line feeds while the answer is on its way, and
/// then a line that says what became of it, with the body of the client's answer behind it when it is good.
///
/// So the instance that waits can tell one that is still at work from one that is gone.
enum HopFrame {
    static let contentType: StaticString = "application/x-askgate-answer"
    /// What a kept answer of the largest size may take as JSON.
    static let mostBytes = 134_217_728

    static func heartbeat(to output: inout [UInt8]) { output.append(0x0A) }

    static func append(answer body: [UInt8], to output: inout [UInt8]) {
        MessageWriter.append("answer\n", to: &output)
        output.append(contentsOf: body)
    }

    /// - Parameter failure: its code goes over; messages are the other side's.
    static func append(_ failure: AskFailure, to output: inout [UInt8]) {
        MessageWriter.append("failure ", to: &output)
        output.append(contentsOf: failure.code.rawValue.utf8)
        output.append(0x20)
        Decimal.append(failure.retryAfterSeconds ?? 0, to: &output)
        output.append(0x0A)
    }

    enum Content {
        case answer([UInt8])
        case failure(AskFailure)
    }

    /// Reads a whole frame; nil for anything else.
    static func content(of bytes: [UInt8]) -> Content? {
        let text = bytes.drop { $0 == 0x0A }
        if text.starts(with: "answer\n".utf8) { return .answer(Array(text.dropFirst(7))) }
        guard text.starts(with: "failure ".utf8), text.last == 0x0A, text.count <= 128 else { return nil }
        let words = text.dropFirst(8).dropLast().split(separator: 0x20)
        guard words.count == 2, let code = ErrorCode(rawValue: String(decoding: words[0], as: UTF8.self)),
            let seconds = Int(String(decoding: words[1], as: UTF8.self))
        else { return nil }
        var failure = AskFailure(code)
        if seconds > 0 { failure.retryAfterSeconds = seconds }
        return .failure(failure)
    }
}
