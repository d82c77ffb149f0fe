import GatewayTypes
import JSON
import Routing

/// Reads the body of a chat completion.
///
/// What would change the answer's shape is refused, since an answer without it would mislead; what only tunes the
/// model is the operator's to decide and passed over.
extension AskCommand {
    /// `{model, messages, stream?, stream_options?, max_tokens?, max_completion_tokens?, temperature?, stop?, n?}`
    init(chat root: JSONValue) throws(AskFailure) {
        self.task = try root.requiredString("model")
        guard let messages = root["messages"], messages.kind == .array, messages.count > 0 else {
            throw .wrongKind("messages", "a list of at least one message")
        }
        var chat = ChatAsk()
        var text: Text?
        var place = 0
        for message in messages.elements {
            let (role, content) = try ChatMessage.read(message, at: place)
            if place == messages.count &- 1 {
                guard role == .user else { throw ChatMessage.refused("The last message has to be the user's.", place) }
                text = content
            } else if let bytes = content.copy {
                chat.history.append(ChatAsk.Message(role, bytes))
            }
            place &+= 1
        }
        guard let text else { throw .wrongKind("messages", "a list of at least one message") }
        self.text = text
        self.streams = try root.optionalFlag("stream")
        if let options = root["stream_options"], !options.isNull {
            guard options.kind == .object else { throw .wrongKind("stream_options", "an object") }
            self.reportsUsage = try options.optionalFlag("include_usage") ?? false
        }
        try ChatParameters.read(root, into: &chat)
        try ChatParameters.refuseUnsupported(root)
        self.chat = chat
    }
}

extension AskCommand.Text {
    fileprivate var copy: [UInt8]? {
        switch self {
        case .value(let value): value.bytes
        case .bytes(let bytes): bytes
        }
    }
}

/// One message of a conversation.
private enum ChatMessage {
    static func read(_ message: JSONValue, at place: Int) throws(AskFailure) -> (ChatRules.Role, AskCommand.Text) {
        guard message.kind == .object else { throw self.refused("A message has to be an object.", place) }
        guard let role = self.role(of: message) else {
            throw self.refused("The role has to be user, assistant, system or developer.", place, "role")
        }
        if let calls = message["tool_calls"], calls.count > 0 {
            throw self.refused("Calls of tools are not supported.", place, "tool_calls")
        }
        guard let content = message["content"] else {
            throw self.refused("The content of a message is missing.", place, "content")
        }
        switch content.kind {
        case .string: return (role, .value(content))
        case .array: return (role, try self.parts(content, at: place))
        default: throw self.refused("The content has to be a string or a list of parts.", place, "content")
        }
    }

    static func refused(_ detail: String, _ place: Int, _ member: String? = nil) -> AskFailure {
        let member = member.map { ".\($0)" } ?? ""
        return AskFailure(.invalidRequest, detail: detail, parameter: "messages[\(place)]\(member)")
    }

    private static func role(of message: JSONValue) -> ChatRules.Role? {
        guard let role = message["role"] else { return nil }
        if role.isString("user") { return .user }
        if role.isString("assistant") { return .assistant }
        return role.isString("system") || role.isString("developer") ? .system : nil
    }

    /// Parts of text, each on lines of its own. Pictures, sound and files are refused: nothing here fetches or holds
    /// them.
    private static func parts(_ content: JSONValue, at place: Int) throws(AskFailure) -> AskCommand.Text {
        var only: JSONValue?
        var bytes: [UInt8] = []
        for part in content.elements {
            let isText = part["type"]?.isString("text") == true
            guard isText || part["type"]?.isString("refusal") == true else {
                throw self.refused("Only parts of type text are supported.", place, "content")
            }
            guard let text = part[isText ? "text" : "refusal"], text.kind == .string else {
                throw self.refused("A part of type text has to have a text.", place, "content")
            }
            if content.count == 1 { only = text }
            if !bytes.isEmpty { bytes.append(0x0A) }
            text.withString { bytes.append(contentsOf: $0) }
        }
        return only.map { .value($0) } ?? .bytes(bytes)
    }
}

/// The members beside model and messages.
private enum ChatParameters {
    private static let mostStops = 4
    private static let mostStopBytes = 256

    static func read(_ root: JSONValue, into chat: inout ChatAsk) throws(AskFailure) {
        for name in ["max_tokens", "max_completion_tokens"] {
            guard let value = root[name], !value.isNull else { continue }
            guard let cap = value.int, cap >= 1 else { throw .wrongKind(name, "a whole number of at least 1") }
            chat.outputCap = min(chat.outputCap ?? cap, cap)
        }
        if let value = root["temperature"], !value.isNull {
            guard let temperature = value.number, temperature >= 0, temperature <= 2 else {
                throw .wrongKind("temperature", "a number from 0 to 2")
            }
            chat.temperature = temperature
        }
        if let value = root["stop"], !value.isNull { chat.stop = try self.stops(value) }
    }

    private static func stops(_ value: JSONValue) throws(AskFailure) -> [[UInt8]] {
        let wrong = AskFailure.wrongKind("stop", "one to four strings of 1 to 256 bytes")
        if let bytes = value.bytes {
            guard !bytes.isEmpty, bytes.count <= self.mostStopBytes else { throw wrong }
            return [bytes]
        }
        guard value.kind == .array, value.count <= self.mostStops else { throw wrong }
        var stops: [[UInt8]] = []
        for element in value.elements {
            guard let bytes = element.bytes, !bytes.isEmpty, bytes.count <= self.mostStopBytes else { throw wrong }
            stops.append(bytes)
        }
        return stops
    }

    /// One answer of plain text is all there is.
    static func refuseUnsupported(_ root: JSONValue) throws(AskFailure) {
        if let count = root["n"], !count.isNull, count.int != 1 { throw .wrongKind("n", "1") }
        for name in ["tools", "functions"] where (root[name]?.count ?? 0) > 0 {
            throw .unsupported(name, "Tools are not supported.")
        }
        if let format = root["response_format"], !format.isNull, format["type"]?.isString("text") != true {
            throw .unsupported("response_format", "Only answers of type text are supported.")
        }
        if root["logprobs"]?.bool == true || (root["top_logprobs"]?.int ?? 0) > 0 {
            throw .unsupported("logprobs", "Probabilities of tokens are not supported.")
        }
        if let kinds = root["modalities"], kinds.elements.contains(where: { !$0.isString("text") }) {
            throw .unsupported("modalities", "Only answers of text are supported.")
        }
        for name in ["audio", "web_search_options"] where root[name].map({ !$0.isNull }) == true {
            throw .unsupported(name, "This is not supported.")
        }
    }
}

extension AskFailure {
    fileprivate static func unsupported(_ name: String, _ detail: String) -> AskFailure {
        AskFailure(.invalidRequest, detail: detail, parameter: name)
    }
}
