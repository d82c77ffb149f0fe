/// Builds the tree of a configuration file: one document, no tags, unique keys, bounded in every direction.
struct YAMLReader: ~Copyable {
    private var events: YAMLEvents
    private let limits: YAMLLimits
    private let diagnostics: Diagnostics
    private var anchors: [String: YAMLNode] = [:]
    private var aliases = 0
    private var nodes = 0

    /// - Throws: what makes the rest of the file unreadable; what does not is added to the diagnostics.
    static func read(
        _ text: [UInt8], limits: YAMLLimits, diagnostics: Diagnostics
    ) throws(YAMLFailure) -> YAMLNode {
        var reader = try YAMLReader(text, limits: limits, diagnostics: diagnostics)
        return try reader.document()
    }

    private init(_ text: [UInt8], limits: YAMLLimits, diagnostics: Diagnostics) throws(YAMLFailure) {
        guard text.count <= limits.size else {
            throw YAMLFailure(
                message: "the file is larger than \(limits.size) bytes", advice: "write a smaller configuration")
        }
        if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
            throw YAMLFailure(
                position: SourcePosition(line: 1, column: 1), message: "the file is UTF-16",
                advice: "save the file as UTF-8")
        }
        self.events = try YAMLEvents(text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...])
        self.limits = limits
        self.diagnostics = diagnostics
    }

    private static let empty = YAMLFailure(
        position: SourcePosition(line: 1, column: 1), message: "the file is empty",
        advice: "write at least `listeners:`, `providers:` and `tenants:`")

    private mutating func document() throws(YAMLFailure) -> YAMLNode {
        _ = try self.events.next()
        let start = try self.events.next()
        guard case .documentStart(let hasDirectives) = start.kind else { throw Self.empty }
        if hasDirectives {
            self.diagnostics.error(
                start.position, "directives (lines that begin with %) are not read", "remove them")
        }
        let root = try self.node(self.events.next(), depth: 1)
        guard !root.isEmpty else { throw Self.empty }
        _ = try self.events.next()
        let end = try self.events.next()
        guard case .streamEnd = end.kind else {
            throw YAMLFailure(
                position: end.position, message: "a second document begins here",
                advice: "write one document in a file, without `---` between its parts")
        }
        return root
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLFailure) -> YAMLNode {
        guard depth <= self.limits.depth else {
            throw YAMLFailure(
                position: event.position, message: "values are nested deeper than \(self.limits.depth) levels",
                advice: "write fewer levels")
        }
        if event.hasTag {
            self.diagnostics.error(
                event.position, "tags (words that begin with !) are not read", "write the value without its tag")
        }
        let node: YAMLNode
        switch event.kind {
        case .alias: return try self.alias(event)
        case .scalar(let text, let isPlain):
            node = YAMLNode(position: event.position, content: .scalar(text, isPlain: isPlain), size: 1)
        case .sequenceStart: node = try self.sequence(event.position, depth: depth)
        case .mappingStart: node = try self.mapping(event.position, depth: depth)
        default:
            throw YAMLFailure(position: event.position, message: "a value is missing", advice: "write a value")
        }
        try self.count(1, at: event.position)
        if let anchor = event.anchor { self.anchors[anchor] = node }
        return node
    }

    private mutating func alias(_ event: YAMLEvent) throws(YAMLFailure) -> YAMLNode {
        guard let name = event.anchor, let node = self.anchors[name] else {
            throw YAMLFailure(
                position: event.position, message: "this alias has no anchor above it",
                advice: "write `&name` before the value that `*name` repeats, or write the value out")
        }
        self.aliases &+= 1
        guard self.aliases <= self.limits.aliases else {
            throw YAMLFailure(
                position: event.position, message: "there are more than \(self.limits.aliases) aliases",
                advice: "write the values out")
        }
        try self.count(node.size, at: event.position)
        return node
    }

    private mutating func count(_ added: Int, at position: SourcePosition) throws(YAMLFailure) {
        self.nodes &+= added
        guard self.nodes <= self.limits.nodes else {
            throw YAMLFailure(
                position: position, message: "the file holds more than \(self.limits.nodes) values",
                advice: "write a smaller configuration, with fewer aliases")
        }
    }

    private mutating func sequence(_ position: SourcePosition, depth: Int) throws(YAMLFailure) -> YAMLNode {
        var items: [YAMLNode] = []
        var size = 1
        while true {
            let event = try self.events.next()
            if case .sequenceEnd = event.kind { break }
            let item = try self.node(event, depth: depth + 1)
            size &+= item.size
            items.append(item)
        }
        return YAMLNode(position: position, content: .sequence(items), size: size)
    }

    private mutating func mapping(_ position: SourcePosition, depth: Int) throws(YAMLFailure) -> YAMLNode {
        var entries: [YAMLNode.Entry] = []
        var places: [ByteKey: SourcePosition] = [:]
        var size = 1
        while true {
            let event = try self.events.next()
            if case .mappingEnd = event.kind { break }
            let key = try self.key(event)
            let value = try self.node(self.events.next(), depth: depth + 1)
            size &+= value.size &+ 1
            if let first = places[ByteKey(key)] {
                self.diagnostics.error(
                    event.position, "\(quoted(key)) stands here for the second time, first in line \(first.line)",
                    "write it once")
                continue
            }
            places[ByteKey(key)] = event.position
            entries.append(YAMLNode.Entry(key: key, keyPosition: event.position, value: value))
        }
        return YAMLNode(position: position, content: .mapping(entries), size: size)
    }

    private mutating func key(_ event: YAMLEvent) throws(YAMLFailure) -> String {
        guard case .scalar(let text, _) = event.kind else {
            throw YAMLFailure(
                position: event.position, message: "a key is a list, a mapping or an alias",
                advice: "write a plain word before the colon")
        }
        if event.hasTag {
            self.diagnostics.error(
                event.position, "tags (words that begin with !) are not read", "write the key without its tag")
        }
        try self.count(1, at: event.position)
        return text
    }
}

/// A key compared by its bytes, as every name is.
private struct ByteKey: Hashable {
    let bytes: [UInt8]
    init(_ string: String) { self.bytes = Array(string.utf8) }
}
