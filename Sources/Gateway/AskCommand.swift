import GatewayTypes
import JSON
import Routing

/// What the body of an ask says, whichever route it came by. Members that no route knows are passed over and never
/// forwarded.
struct AskCommand {
    /// The text to work on.
    enum Text {
        case value(JSONValue)
        /// UTF-8, put together from parts.
        case bytes([UInt8])
    }

    /// The task or agent; nil asks the tenant's default agent.
    var task: JSONValue?
    var text: Text
    var tone: JSONValue?
    /// Nil where the body does not say.
    var streams: Bool?
    /// Of the OpenAI-compatible route only.
    var chat: ChatAsk?
    /// Whether a stream is to end with its usage, where that is the client's choice.
    var reportsUsage = false

    /// Reads a body that has to be one JSON object.
    static func root(of body: [UInt8], limit: Int) throws(AskFailure) -> JSONValue {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: body, limits: JSONLimits(bytes: limit, depth: 32))
        } catch {
            throw AskFailure(.invalidRequest, detail: error.description)
        }
        guard document.root.kind == .object else {
            throw AskFailure(.invalidRequest, detail: "The body has to be a JSON object.")
        }
        return document.root
    }

    /// Lends the three strings that routing looks at.
    func withNames<Value>(
        _ body: (_ task: Span<UInt8>?, _ text: Span<UInt8>, _ tone: Span<UInt8>?) -> Value
    ) -> Value? {
        guard let task = self.task else { return self.withText(task: nil, body) }
        return task.withString { self.withText(task: $0.span, body) } ?? nil
    }

    private func withText<Value>(
        task: Span<UInt8>?, _ body: (_ task: Span<UInt8>?, _ text: Span<UInt8>, _ tone: Span<UInt8>?) -> Value
    ) -> Value? {
        switch self.text {
        case .value(let value): value.withString { self.withTone(task, $0.span, body) }
        case .bytes(let bytes): self.withTone(task, bytes.span, body)
        }
    }

    private func withTone<Value>(
        _ task: Span<UInt8>?, _ text: Span<UInt8>,
        _ body: (_ task: Span<UInt8>?, _ text: Span<UInt8>, _ tone: Span<UInt8>?) -> Value
    ) -> Value {
        guard let tone = self.tone else { return body(task, text, nil) }
        return tone.withString { body(task, text, $0.span) } ?? body(task, text, nil)
    }
}

// MARK: Our own routes

extension AskCommand {
    /// `{task, text, tone?, stream?}`
    init(process root: JSONValue) throws(AskFailure) {
        try Self.refuseModel(root)
        self.task = try root.requiredString("task")
        self.text = .value(try root.requiredString("text"))
        self.tone = try root.optionalString("tone")
        self.streams = try root.optionalFlag("stream")
    }

    /// `{question, agent?, stream?}`
    init(question root: JSONValue) throws(AskFailure) {
        try Self.refuseModel(root)
        self.task = try root.optionalString("agent")
        self.text = .value(try root.requiredString("question"))
        self.streams = try root.optionalFlag("stream")
    }

    /// Whoever names a model expects it to be used, so silence would mislead.
    private static func refuseModel(_ root: JSONValue) throws(AskFailure) {
        if root["model"] != nil { throw AskFailure(.modelNotSelectable) }
    }
}

// MARK: Members

extension JSONValue {
    func requiredString(_ name: String) throws(AskFailure) -> JSONValue {
        guard let value = try self.optionalString(name) else {
            throw AskFailure(.invalidRequest, detail: "The member \"\(name)\" is missing.", parameter: name)
        }
        return value
    }

    /// A string; null counts as absent.
    func optionalString(_ name: String) throws(AskFailure) -> JSONValue? {
        guard let value = self[name], !value.isNull else { return nil }
        guard value.kind == .string else { throw .wrongKind(name, "a string") }
        return value
    }

    /// True or false; null counts as absent.
    func optionalFlag(_ name: String) throws(AskFailure) -> Bool? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let flag = value.bool else { throw .wrongKind(name, "true or false") }
        return flag
    }
}

extension AskFailure {
    /// - Parameter name: one of ours, never what a client wrote.
    static func wrongKind(_ name: String, _ kind: String) -> AskFailure {
        AskFailure(.invalidRequest, detail: "The member \"\(name)\" has to be \(kind).", parameter: name)
    }
}
