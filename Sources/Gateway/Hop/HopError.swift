import GatewayTypes
import HTTPClient
import HTTPCodec
import HTTPServer

/// How the holder of a question says that something is wrong: by the code alone, since the message for the client is
/// written by the instance that the client called.
enum HopError {
    static let codeField: StaticString = "askgate-code"
    /// Present when the question itself ended so, rather than that it can't be had.
    static let replayedField: StaticString = "askgate-replayed"
    static let fields = [Self.codeField.description, Self.replayedField.description]
    /// The question is not one of the instance that was called (RFC 9110 §15.5.20).
    static let notHere = 421

    static func send(_ failure: AskFailure, isReplayed: Bool, over exchange: Exchange) {
        exchange.respond(failure.code.face.status, body: []) { head in
            MessageWriter.field(Self.codeField, bytes: Array(failure.code.rawValue.utf8).span, to: &head)
            if isReplayed { MessageWriter.field(Self.replayedField, "true", to: &head) }
            if let seconds = failure.retryAfterSeconds { MessageWriter.field("retry-after", seconds, to: &head) }
        }
    }

    /// What the client is to be told; nil when the head is none that `send` writes.
    static func failure(in head: UpstreamHead) -> (AskFailure, isReplayed: Bool)? {
        guard let code = head.fields[Self.codeField.description].flatMap(ErrorCode.init(rawValue:)),
            code.face.status == head.status, head.status != 401
        else { return nil }
        var failure = AskFailure(code)
        failure.retryAfterSeconds = head.retryAfterSeconds
        return (failure, head.fields[Self.replayedField.description] != nil)
    }
}
