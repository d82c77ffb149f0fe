import GatewayTypes

extension DocumentDecoder {
    private static let providerKeys = [
        "dialect", "base_url", "key", "timeouts", "max_connections", "usage_in_stream", "headers", "keys",
        "retry", "breaker", "concurrency",
    ]

    /// Nil when the entry cannot be a provider at all.
    func provider(_ node: YAMLNode, name: ProviderName) -> ProviderSettings? {
        let reader = MappingReader(node, "a provider", keys: Self.providerKeys, self.diagnostics)
        let advice = "write `dialect: openai`, or anthropic, gemini or demo"
        guard let reader,
            let dialect = reader.required("dialect", advice)?
                .word("dialect", of: ProviderDialect.self, self.diagnostics)
        else { return nil }
        var provider = ProviderSettings(
            name: name, dialect: dialect, baseURL: self.baseURL(reader, dialect), key: self.providerKey(reader),
            timeouts: reader.optional("timeouts").map(self.providerTimeouts) ?? ProviderTimeouts(),
            maxConnections: reader.optional("max_connections")?
                .integer("`max_connections`", in: 1...65_535, self.diagnostics) ?? 256,
            usageInStream: reader.optional("usage_in_stream")?.boolean("`usage_in_stream`", self.diagnostics) ?? true,
            headers: reader.optional("headers").map(self.headers) ?? [], position: node.position)
        self.readFailover(reader, &provider)
        self.check(provider, reader)
        return provider
    }

    private func check(_ provider: ProviderSettings, _ reader: MappingReader) {
        if provider.dialect == .demo {
            let remote = ["base_url", "key", "keys", "headers", "max_connections", "usage_in_stream"]
            for key in remote where reader.has(key) {
                self.diagnostics.error(
                    reader.place(of: key), "the demo provider calls nobody and has no `\(key)`", "remove it")
            }
        }
        guard provider.key != nil, let url = provider.baseURL, url.hasPrefix("http://"), !BaseURL.isLoopback(url)
        else { return }
        self.diagnostics.warning(
            reader.place(of: "base_url"), "the provider's key goes over the network without encryption",
            "write an https:// address")
    }

    private func baseURL(_ reader: MappingReader, _ dialect: ProviderDialect) -> String? {
        guard dialect != .demo else { return nil }
        let advice = "write an address such as https://api.example.com/v1"
        guard let node = reader.optional("base_url") else {
            if dialect.defaultBaseURL == nil { _ = reader.required("base_url", advice) }
            return dialect.defaultBaseURL
        }
        guard let text = node.text("`base_url`", advice: advice, maxBytes: 2048, self.diagnostics) else { return nil }
        switch BaseURL.parse(text) {
        case .success(let url): return url
        case .failure(let problem):
            self.diagnostics.error(node.position, "`base_url` \(problem.rawValue)", advice)
            return nil
        }
    }

    private func providerKey(_ reader: MappingReader) -> ResolvedSecret? {
        guard let node = reader.optional("key"), let secret = self.references.secret(node, "`key`") else { return nil }
        self.checkForHeader(secret, node.position, "`key`")
        return secret
    }

    /// What goes into a header line must not be able to end it.
    func checkForHeader(_ secret: ResolvedSecret, _ position: SourcePosition, _ what: String) {
        guard !secret.value.reveal({ $0.allSatisfy { (0x20..<0x7F).contains($0) } }) else { return }
        self.diagnostics.error(
            position, "\(what) from \(secret.source) holds line breaks or other signs that no header can carry",
            "put the bare key there")
    }

    private func providerTimeouts(_ node: YAMLNode) -> ProviderTimeouts {
        var timeouts = ProviderTimeouts()
        let keys = ["connect", "first_byte", "idle", "total"]
        guard let reader = MappingReader(node, "`timeouts`", keys: keys, self.diagnostics) else { return timeouts }
        func read(_ key: String, _ field: WritableKeyPath<ProviderTimeouts, TimeSpan>) {
            let range = TimeSpan.milliseconds(10)...TimeSpan.seconds(3600)
            let value = reader.optional(key)?.duration("`\(key)`", in: range, self.diagnostics)
            if let value { timeouts[keyPath: field] = value }
        }
        read("connect", \.connect)
        read("first_byte", \.firstByte)
        read("idle", \.idle)
        read("total", \.total)
        let parts = [("connect", timeouts.connect), ("first_byte", timeouts.firstByte), ("idle", timeouts.idle)]
        for (key, value) in parts where value > timeouts.total {
            self.diagnostics.error(
                reader.place(of: reader.has(key) ? key : "total"),
                "`\(key)` (\(Units.text(of: value))) is longer than `total` (\(Units.text(of: timeouts.total)))",
                "write a shorter `\(key)` or a longer `total`")
        }
        return timeouts
    }

    private func headers(_ node: YAMLNode) -> [ProviderSettings.Header] {
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
            guard let reason = HeaderNames.refusal(of: entry.key) else { return self.header(entry, advice) }
            self.diagnostics.error(entry.keyPosition, reason.message, reason.advice)
            return nil
        }
    }

    private func header(_ entry: YAMLNode.Entry, _ advice: String) -> ProviderSettings.Header? {
        let what = "the header `\(entry.key)`"
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
