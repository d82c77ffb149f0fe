import GatewayTypes
import JSON

/// Reads answers of the messages API, whole and streamed.
struct AnthropicReader: AnswerReader {
    private(set) var isDone = false
    /// Only `message_stop` ends a stream.
    let isComplete = false
    private var counts = AnthropicUsage()
    private var reason: FinishReason?

    mutating func readWhole(_ root: JSONValue, into answer: any DecodedAnswer) -> ProviderFailure? {
        if let error = root.present("error") { return AnthropicMembers.failure(of: error) ?? .serverError }
        if let usage = root["usage"] { self.report(usage, to: answer) }
        guard let content = root["content"], content.kind == .array else { return .unusableAnswer }
        for block in content.elements { self.readText(of: block, ifType: "text", into: answer) }
        answer.decodedFinish(AnthropicMembers.finish(in: root) ?? .other)
        return nil
    }

    mutating func readEvent(
        _ event: JSONValue, type: Span<UInt8>, into answer: any DecodedAnswer
    ) -> ProviderFailure? {
        // The JSON names its own type; the line before it is for those who left that out.
        let kind = AnthropicEvent(event["type"]) ?? AnthropicEvent(type)
        switch kind {
        case .contentBlockDelta:
            if let delta = event["delta"] { self.readText(of: delta, ifType: "text_delta", into: answer) }
        case .contentBlockStart:
            if let block = event["content_block"] { self.readText(of: block, ifType: "text", into: answer) }
        case .messageStart:
            if let usage = event["message"]?["usage"] { self.report(usage, to: answer) }
        case .messageDelta:
            if let usage = event["usage"] { self.report(usage, to: answer) }
            if let delta = event["delta"], let reason = AnthropicMembers.finish(in: delta) { self.reason = reason }
        case .messageStop:
            self.isDone = true
            if let reason = self.reason { answer.decodedFinish(reason) }
            answer.decodedEnd()
        case .error:
            return event["error"].flatMap(AnthropicMembers.failure(of:)) ?? .errorInStream
        case nil:
            // A proxy's error object has no type of this dialect.
            if let error = event.present("error") { return AnthropicMembers.failure(of: error) ?? .errorInStream }
        }
        return nil
    }

    /// Not of this dialect; some proxies send it behind the end.
    func readDone(into answer: any DecodedAnswer) {}

    func readRefusal(
        _ root: JSONValue, status: ProviderFailure, into answer: any DecodedAnswer
    ) -> ProviderFailure? {
        guard let error = root.present("error"), AnthropicMembers.failure(of: error) == .credentialsRefused else {
            return status
        }
        return .credentialsRefused
    }

    private func readText(of block: JSONValue, ifType type: String, into answer: any DecodedAnswer) {
        // Thinking, signatures and arguments of tools are no text of the answer.
        guard block["type"]?.isString(type) == true else { return }
        block["text"]?.withString { answer.decodedText($0) }
    }

    private mutating func report(_ usage: JSONValue, to answer: any DecodedAnswer) {
        if let usage = self.counts.update(with: usage) { answer.decodedUsage(usage) }
    }
}

/// The events that matter; others (`ping`, `content_block_stop`, those to come) are passed over.
enum AnthropicEvent {
    case contentBlockDelta
    case contentBlockStart
    case messageStart
    case messageDelta
    case messageStop
    case error

    init?(_ type: JSONValue?) {
        guard let found = type?.withString({ Self(utf8: $0) }) else { return nil }
        guard let found else { return nil }
        self = found
    }

    init?(_ type: Span<UInt8>) {
        guard let found = type.withUnsafeBufferPointer({ Self(utf8: $0) }) else { return nil }
        self = found
    }

    /// Told apart by length first: one comparison for the commonest.
    private init?(utf8: UnsafeBufferPointer<UInt8>) {
        switch utf8.count {
        case 19:
            if utf8.elementsEqual("content_block_delta".utf8) { self = .contentBlockDelta; return }
            guard utf8.elementsEqual("content_block_start".utf8) else { return nil }
            self = .contentBlockStart
        case 13:
            if utf8.elementsEqual("message_delta".utf8) { self = .messageDelta; return }
            guard utf8.elementsEqual("message_start".utf8) else { return nil }
            self = .messageStart
        case 12:
            guard utf8.elementsEqual("message_stop".utf8) else { return nil }
            self = .messageStop
        case 5:
            guard utf8.elementsEqual("error".utf8) else { return nil }
            self = .error
        default: return nil
        }
    }
}
