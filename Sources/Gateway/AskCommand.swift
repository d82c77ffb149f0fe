import GatewayTypes
import JSON

/// What the body of an ask says: `{task, text, tone?, stream?}`. Other members are passed over and never forwarded.
struct AskCommand {
    let task: JSONValue
    let text: JSONValue
    let tone: JSONValue?
    let streams: Bool?

    init(parsing body: [UInt8], limit: Int) throws(AskFailure) {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: body, limits: JSONLimits(bytes: limit, depth: 32))
        } catch {
            throw AskFailure(.invalidRequest, detail: error.description)
        }
        let root = document.root
        guard root.kind == .object else {
            throw AskFailure(.invalidRequest, detail: "The body has to be a JSON object.")
        }
        // Whoever names a model expects it to be used, so silence would mislead.
        if root["model"] != nil { throw AskFailure(.modelNotSelectable) }
        self.task = try Self.string("task", in: root)
        self.text = try Self.string("text", in: root)
        self.tone = try Self.optional("tone", .string, in: root)
        self.streams = try Self.stream(in: root)
    }

    /// Lends the three strings that routing looks at.
    func withNames<Value>(
        _ body: (_ task: Span<UInt8>, _ text: Span<UInt8>, _ tone: Span<UInt8>?) -> Value
    ) -> Value? {
        let value = self.task.withString { task in
            self.text.withString { text -> Value? in
                guard let tone = self.tone else { return body(task.span, text.span, nil) }
                return tone.withString { body(task.span, text.span, $0.span) }
            }
        }
        return (value ?? nil) ?? nil
    }

    private static func string(_ name: String, in root: JSONValue) throws(AskFailure) -> JSONValue {
        guard let value = try self.optional(name, .string, in: root) else {
            throw AskFailure(.invalidRequest, detail: "The member \"\(name)\" is missing.")
        }
        return value
    }

    /// A member of this kind; null counts as absent.
    private static func optional(
        _ name: String, _ kind: JSONValue.Kind, in root: JSONValue
    ) throws(AskFailure) -> JSONValue? {
        guard let value = root[name], !value.isNull else { return nil }
        guard value.kind == kind else {
            throw AskFailure(.invalidRequest, detail: "The member \"\(name)\" has to be a string.")
        }
        return value
    }

    private static func stream(in root: JSONValue) throws(AskFailure) -> Bool? {
        guard let value = root["stream"], !value.isNull else { return nil }
        guard let flag = value.bool else {
            throw AskFailure(.invalidRequest, detail: "The member \"stream\" has to be true or false.")
        }
        return flag
    }
}
