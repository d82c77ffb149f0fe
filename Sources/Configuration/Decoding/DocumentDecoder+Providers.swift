import Asking
import GatewayTypes

extension DocumentDecoder {
    private static let providerKeys = [
        "dialect", "base_url", "path", "query", "key", "key_in", "timeouts", "max_connections", "usage_in_stream",
        "output_cap_member", "send_temperature", "headers", "keys", "retry", "breaker", "concurrency",
    ]

    /// Nil when the entry cannot be a provider at all.
    func provider(_ node: YAMLNode, name: ProviderName) -> ProviderSettings? {
        let reader = MappingReader(node, "a provider", keys: Self.providerKeys, self.diagnostics)
        let advice = "write `dialect: openai`, or anthropic, gemini or demo"
        guard let reader,
            let dialect = reader.required("dialect", advice)?
                .word("dialect", of: ProviderDialect.self, self.diagnostics)
        else { return nil }
        let keyPlace = reader.optional("key_in").flatMap(self.keyPlace) ?? dialect.defaultKeyPlace
        var provider = ProviderSettings(
            name: name, dialect: dialect, baseURL: self.baseURL(reader, dialect),
            path: reader.optional("path").flatMap { self.path($0, dialect) } ?? dialect.defaultPath,
            query: reader.optional("query").map { self.query($0, keyPlace) } ?? [], key: self.providerKey(reader),
            keyPlace: keyPlace,
            timeouts: reader.optional("timeouts").map(self.providerTimeouts) ?? ProviderTimeouts(),
            maxConnections: reader.optional("max_connections")?
                .integer("`max_connections`", in: 1...65_535, self.diagnostics) ?? 256,
            options: self.callOptions(reader),
            headers: reader.optional("headers").map { self.headers($0, keyPlace) } ?? [], position: node.position)
        self.readFailover(reader, &provider)
        self.check(provider, reader)
        return provider
    }

    private func callOptions(_ reader: MappingReader) -> Provider.CallOptions {
        var options = Provider.CallOptions()
        func read(_ key: String, _ field: WritableKeyPath<Provider.CallOptions, Bool>) {
            let value = reader.optional(key)?.boolean("`\(key)`", self.diagnostics)
            if let value { options[keyPath: field] = value }
        }
        read("usage_in_stream", \.asksForUsage)
        read("send_temperature", \.sendsTemperature)
        let member = reader.optional("output_cap_member")?
            .word("`output_cap_member`", of: Provider.CallOptions.OutputCapMember.self, self.diagnostics)
        if let member { options.outputCapMember = member }
        return options
    }

    private func check(_ provider: ProviderSettings, _ reader: MappingReader) {
        if provider.dialect == .demo {
            let keys = Self.providerKeys.filter { $0 != "dialect" && $0 != "timeouts" }
            for key in keys where reader.has(key) {
                self.diagnostics.error(
                    reader.place(of: key), "the demo provider calls nobody and has no `\(key)`", "remove it")
            }
        } else if provider.dialect != .openai {
            for key in ["usage_in_stream", "output_cap_member"] where reader.has(key) {
                self.diagnostics.error(
                    reader.place(of: key), "`\(key)` is of the openai dialect alone", "remove it")
            }
        }
        if provider.key == nil, reader.has("key_in"), !reader.has("key") {
            self.diagnostics.error(
                reader.place(of: "key_in"), "there is no `key` to go there",
                "write `key: {env: NAME}`")
        }
        self.checkAddress(provider, reader)
    }

    private func checkAddress(_ provider: ProviderSettings, _ reader: MappingReader) {
        guard let url = provider.baseURL, reader.has("base_url") else { return }
        // What vendors print as their address often holds a part of the path.
        if !reader.has("path"), let part = ProviderPath.repeated(by: provider.path, after: url) {
            self.diagnostics.error(
                reader.place(of: "base_url"), "`base_url` ends in \(quoted(part)), and so calls would hold it twice",
                "write the address without it, or a `path` of your own")
        }
        guard provider.key != nil, url.hasPrefix("http://"), !BaseURL.isLoopback(url) else { return }
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
}
