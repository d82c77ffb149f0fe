/// A value of a YAML file with the place where it stands. Scalars have no type: the field that reads one decides.
struct YAMLNode: Sendable {
    struct Entry: Sendable {
        var key: String
        var keyPosition: SourcePosition
        var value: YAMLNode
    }

    enum Content: Sendable {
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Entry])
    }

    var position: SourcePosition
    var content: Content
    /// This node and everything below it, aliases counted as what they stand for.
    var size: Int

    /// What it is, for messages.
    var kindName: String {
        switch self.content {
        case .scalar(let text, let isPlain): isPlain && text.isEmpty ? "nothing" : "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// `key:` with nothing behind it.
    var isEmpty: Bool {
        if case .scalar(let text, isPlain: true) = self.content { return text.isEmpty }
        return false
    }
}
