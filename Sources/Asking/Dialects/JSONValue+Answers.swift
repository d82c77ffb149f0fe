import JSON

extension JSONValue {
    /// A number of tokens; nil for what is none, or too large to be one.
    var tokenCount: Int? {
        guard let count = self.int, count >= 0, count <= 1_000_000_000 else { return nil }
        return count
    }

    /// This member unless it is absent or `null`.
    func present(_ name: String) -> JSONValue? {
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }

    /// Whether the value is one of these strings.
    func isString(among words: [String]) -> Bool { words.contains { self.isString($0) } }
}
