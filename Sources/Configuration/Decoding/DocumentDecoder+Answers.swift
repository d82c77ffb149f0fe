import Gateway
import GatewayTypes
import Routing

/// Conversations of the OpenAI-compatible route, and answers that are kept.
extension DocumentDecoder {
    /// `{roles, max_messages, parameters}`
    func chatRules(_ node: YAMLNode, _ standard: ChatRules) -> ChatRules {
        var rules = standard
        let keys = ["roles", "max_messages", "parameters"]
        guard let reader = MappingReader(node, "`chat`", keys: keys, self.diagnostics) else { return rules }
        if let node = reader.optional("roles") {
            rules.roles = self.words(node, "`roles`", "role", of: ChatRules.Role.self)
            if !rules.roles.contains(.user) {
                self.diagnostics.error(node.position, "`roles` lacks `user`", "write user beside the others")
            }
        }
        rules.maxMessages =
            reader.optional("max_messages")?.integer("`max_messages`", in: 1...10_000, self.diagnostics)
            ?? rules.maxMessages
        if let node = reader.optional("parameters") {
            rules.parameters = self.words(node, "`parameters`", "parameter", of: ChatRules.Parameter.self)
        }
        return rules
    }

    /// `{ttl, charge}`
    func cachePolicy(_ node: YAMLNode) -> CachePolicy? {
        guard let reader = MappingReader(node, "`cache`", keys: ["ttl", "charge"], self.diagnostics) else { return nil }
        let lifetime = reader.required("ttl", "write `ttl:` and how long an answer may be given again, such as 10m")?
            .duration("`ttl`", in: .seconds(1) ... .seconds(7 * 86_400), self.diagnostics)
        let charge = reader.optional("charge")?
            .word("charge for an answer that no provider was asked for", of: CachePolicy.Charge.self, self.diagnostics)
        return lifetime.map { CachePolicy(lifetime: $0, charge: charge ?? .none) }
    }

    /// `{bytes, answer_bytes}`
    func cacheBounds(_ node: YAMLNode) -> AnswerCache.Bounds {
        var bounds = AnswerCache.Bounds()
        let keys = ["bytes", "answer_bytes"]
        guard let reader = MappingReader(node, "`answer_cache`", keys: keys, self.diagnostics) else { return bounds }
        bounds.bytes =
            reader.optional("bytes")?.byteSize("`bytes`", in: 65_536...4_294_967_296, self.diagnostics) ?? bounds.bytes
        bounds.answerBytes =
            reader.optional("answer_bytes")?
            .byteSize("`answer_bytes`", in: 1024...16_777_216, self.diagnostics) ?? bounds.answerBytes
        if bounds.answerBytes > bounds.bytes {
            self.diagnostics.error(
                reader.place(of: "answer_bytes"),
                "an answer of \(bounds.answerBytes) bytes cannot be kept in \(bounds.bytes)",
                "write a smaller `answer_bytes` or a larger `bytes`")
        }
        return bounds
    }

    /// A list of words of a closed set, each once.
    private func words<Word: RawRepresentable & CaseIterable & Equatable>(
        _ node: YAMLNode, _ key: String, _ what: String, of type: Word.Type
    ) -> [Word] where Word.RawValue == String {
        let advice = "write a list of \(listed(Word.allCases.map(\.rawValue)))"
        var words: [Word] = []
        for item in node.items(key, advice: advice, self.diagnostics) ?? [] {
            guard let word = item.word(what, of: type, self.diagnostics) else { continue }
            if words.contains(word) {
                self.diagnostics.error(item.position, "`\(word.rawValue)` stands here twice", "write it once")
            } else {
                words.append(word)
            }
        }
        return words
    }
}
