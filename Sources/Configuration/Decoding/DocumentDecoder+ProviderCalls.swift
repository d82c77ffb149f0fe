import GatewayTypes

/// What goes with every call to a provider: path, parameters, the key's place, headers.
extension DocumentDecoder {
    // MARK: path

    /// What follows the base URL.
    func path(_ node: YAMLNode, _ dialect: ProviderDialect) -> String? {
        let advice = "write a path such as \(dialect.defaultPath)"
        guard dialect != .demo, let path = node.text("`path`", advice: advice, maxBytes: 1024, self.diagnostics) else {
            return nil
        }
        guard let problem = ProviderPath.problem(of: path, dialect) else { return path }
        self.diagnostics.error(node.position, "`path` \(problem)", advice)
        return nil
    }

    // MARK: key

    /// Where the key goes in every call.
    func keyPlace(_ node: YAMLNode) -> ProviderSettings.KeyPlace? {
        let advice = "write `{header: NAME}`, `{header: NAME, scheme: Bearer}` or `{query: NAME}`"
        let reader = MappingReader(node, "`key_in`", keys: ["header", "scheme", "query"], self.diagnostics)
        guard let reader else { return nil }
        guard reader.has("header") != reader.has("query") else {
            self.diagnostics.error(node.position, "`key_in` needs exactly one of `header` and `query`", advice)
            return nil
        }
        let scheme = reader.optional("scheme")
        if let query = reader.optional("query") {
            if scheme != nil {
                self.diagnostics.error(reader.place(of: "scheme"), "only a header has a `scheme`", advice)
            }
            return self.token(query, "`query`", advice).map { .query($0) }
        }
        guard let header = reader.optional("header"), let name = self.token(header, "`header`", advice) else {
            return nil
        }
        if let reason = HeaderNames.framingRefusal(of: name) {
            self.diagnostics.error(header.position, reason.message, advice)
            return nil
        }
        guard let scheme else { return .header(name, scheme: nil) }
        return self.token(scheme, "`scheme`", advice).map { .header(name, scheme: $0) }
    }

    /// A word that may be the name of a header or a parameter.
    private func token(_ node: YAMLNode, _ what: String, _ advice: String) -> String? {
        guard let text = node.text(what, advice: advice, self.diagnostics) else { return nil }
        guard HeaderNames.isToken(text) else {
            self.diagnostics.error(node.position, "\(what) is \(quoted(text)), which is no name", advice)
            return nil
        }
        return text
    }

    // MARK: query and headers

    /// Parameters of the address.
    func query(_ node: YAMLNode, _ keyPlace: ProviderSettings.KeyPlace) -> [ProviderSettings.Header] {
        let advice = "write `name: value`, or `name: {env: NAME}` when the value is secret"
        guard let entries = node.entries("`query`", advice: advice, self.diagnostics) else { return [] }
        return entries.compactMap { entry in
            guard HeaderNames.isToken(entry.key) else {
                self.diagnostics.error(entry.keyPosition, "\(quoted(entry.key)) is no name of a parameter", advice)
                return nil
            }
            if case .query(entry.key) = keyPlace {
                self.diagnostics.error(
                    entry.keyPosition, "`\(entry.key)` carries the provider's key", "write `key: {env: NAME}` instead")
                return nil
            }
            return self.value(entry, "the parameter `\(entry.key)`", advice)
        }
    }

    func headers(_ node: YAMLNode, _ keyPlace: ProviderSettings.KeyPlace) -> [ProviderSettings.Header] {
        let advice = "write `Name: value`, or `Name: {env: NAME}` when the value is secret"
        guard let entries = node.entries("`headers`", advice: advice, self.diagnostics) else { return [] }
        var names: Set<String> = []
        return entries.compactMap { entry in
            guard HeaderNames.isToken(entry.key) else {
                self.diagnostics.error(entry.keyPosition, "\(quoted(entry.key)) is no name of a header", advice)
                return nil
            }
            guard names.insert(entry.key.lowercased()).inserted else {
                self.diagnostics.error(
                    entry.keyPosition, "\(quoted(entry.key)) stands here for the second time", "write it once")
                return nil
            }
            guard let reason = HeaderNames.refusal(of: entry.key, keyPlace) else {
                return self.value(entry, "the header `\(entry.key)`", advice)
            }
            self.diagnostics.error(entry.keyPosition, reason.message, reason.advice)
            return nil
        }
    }

    /// A literal, or a secret where the name sounds like one.
    private func value(_ entry: YAMLNode.Entry, _ what: String, _ advice: String) -> ProviderSettings.Header? {
        guard case .scalar(let text, _) = entry.value.content else {
            guard let secret = self.references.secret(entry.value, what) else { return nil }
            self.checkForHeader(secret, entry.value.position, what)
            return ProviderSettings.Header(name: entry.key, value: .secret(secret))
        }
        guard !HeaderNames.soundsSecret(entry.key) else {
            _ = self.references.secret(entry.value, what)
            return nil
        }
        guard text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }), !text.isEmpty, text.utf8.count <= 1024 else {
            self.diagnostics.error(
                entry.value.position, "\(what) has a value that is empty, longer than 1024 bytes or not plain ASCII",
                advice)
            return nil
        }
        return ProviderSettings.Header(name: entry.key, value: .literal(text))
    }
}
