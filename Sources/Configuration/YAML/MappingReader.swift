/// Reads the fields of one mapping: what is unknown, refused or missing becomes a problem, all at once.
struct MappingReader {
    /// A key that an operator may expect and that is not to be had, with what to write instead.
    struct Refusal {
        var message: String
        var advice: String
    }

    let position: SourcePosition
    /// What the mapping describes, with its article: "a provider".
    let what: String
    private let entries: [YAMLNode.Entry]
    private let diagnostics: Diagnostics
    /// Known keys that an unknown one was taken for; that they are missing needs no second complaint.
    private var misspelt: Set<String> = []

    /// Nil, and a problem, when the node is not a mapping.
    init?(
        _ node: YAMLNode, _ what: String, keys: [String], refused: [String: Refusal] = [:], _ diagnostics: Diagnostics
    ) {
        guard let entries = node.entries(what, advice: "write its keys: \(listed(keys))", diagnostics) else {
            return nil
        }
        self.position = node.position
        self.what = what
        self.entries = entries
        self.diagnostics = diagnostics
        for entry in entries where !keys.contains(entry.key) { self.complain(entry, keys, refused) }
    }

    private mutating func complain(_ entry: YAMLNode.Entry, _ keys: [String], _ refused: [String: Refusal]) {
        if let refusal = refused[entry.key] {
            return self.diagnostics.error(entry.keyPosition, refusal.message, refusal.advice)
        }
        if entry.key == "<<" {
            return self.diagnostics.error(
                entry.keyPosition, "merge keys are not read", "write the keys of \(self.what) out")
        }
        let message = "unknown key \(quoted(entry.key)) in \(self.what)"
        if let near = self.diagnostics.nearest(to: entry.key, among: keys) {
            self.misspelt.insert(near)
            return self.diagnostics.error(
                entry.keyPosition, "\(message), did you mean `\(near)`?", "write `\(near)` or remove it")
        }
        self.diagnostics.error(entry.keyPosition, message, "write one of \(listed(keys))")
    }

    func has(_ key: String) -> Bool { self.entries.contains { $0.key == key } }

    func optional(_ key: String) -> YAMLNode? { self.entries.first { $0.key == key }?.value }

    func required(_ key: String, _ advice: String) -> YAMLNode? {
        if let node = self.optional(key) { return node }
        if self.misspelt.contains(key) { return nil }
        self.diagnostics.error(self.position, "\(self.what) has no `\(key)`", advice)
        return nil
    }

    /// Where a key stands; the mapping itself when it is absent.
    func place(of key: String) -> SourcePosition {
        self.entries.first { $0.key == key }?.keyPosition ?? self.position
    }
}

extension YAMLNode {
    /// The entries of a mapping; nil, and a problem, when the node is something else.
    func entries(_ what: String, advice: String, _ diagnostics: Diagnostics) -> [Entry]? {
        if case .mapping(let entries) = self.content { return entries }
        diagnostics.error(self.position, "\(what) is \(self.kindName) where a mapping belongs", advice)
        return nil
    }

    /// The items of a list; nil, and a problem, when the node is something else.
    func items(_ what: String, advice: String, _ diagnostics: Diagnostics) -> [YAMLNode]? {
        if case .sequence(let items) = self.content { return items }
        diagnostics.error(self.position, "\(what) is \(self.kindName) where a list belongs", advice)
        return nil
    }
}
