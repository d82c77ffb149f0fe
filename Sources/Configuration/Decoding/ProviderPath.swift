/// The path of a provider's calls, with its placeholders.
enum ProviderPath {
    /// What is wrong with a path, to be said behind its name; nil when nothing is.
    static func problem(of path: String, _ dialect: ProviderDialect) -> String? {
        guard path.utf8.first == 0x2F else { return "does not begin with a slash" }
        guard path.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != 0x5C && $0 != 0x22 && $0 != 0x3C }) else {
            return "holds spaces or signs outside ASCII"
        }
        guard !path.utf8.contains(0x3F), !path.utf8.contains(0x23) else {
            return "holds a `?` or `#`; parameters stand under `query`"
        }
        let hasMethod = path.contains("{method}")
        let rest = path.replacing("{model}", with: "").replacing("{method}", with: "")
        guard !rest.utf8.contains(0x7B), !rest.utf8.contains(0x7D) else {
            return "holds a placeholder that is neither `{model}` nor `{method}`"
        }
        switch dialect {
        case .gemini:
            return hasMethod ? nil : "does not say where the `{method}` goes"
        case .openai, .anthropic, .demo:
            return hasMethod ? "holds `{method}`, which is of the gemini dialect alone" : nil
        }
    }

    /// The part of a path that an address ends in already; nil when they do not overlap.
    static func repeated(by path: String, after url: String) -> String? {
        let segments = path.split(separator: "/")
        for count in stride(from: segments.count, to: 0, by: -1) {
            let part = "/" + segments.prefix(count).joined(separator: "/")
            if url.hasSuffix(part) { return part }
        }
        return nil
    }
}
