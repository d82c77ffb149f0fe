import GatewayTypes

/// Turns the tree of a file into a document. Every `decode` notes what is wrong and goes on, so that one run finds all.
struct DocumentDecoder {
    let diagnostics: Diagnostics
    let references: ReferenceReader

    private static let keys = [
        "listeners", "loops", "store", "log", "http", "identity", "questions", "operators", "providers", "tenants",
    ]

    private static let refused = [
        "redis": MappingReader.Refusal(
            message: "the store is configured under `store`", advice: "write `store: {kind: memory}`")
    ]

    /// Nil when the tree is not a mapping at all; otherwise complete only if no error was noted.
    func document(_ root: YAMLNode) -> ConfigurationDocument? {
        let reader = MappingReader(
            root, "the configuration", keys: Self.keys, refused: Self.refused, self.diagnostics)
        guard let reader else { return nil }
        let providers = self.providers(reader)
        let http = reader.optional("http").map(self.http) ?? HTTPSettings()
        let document = ConfigurationDocument(
            listeners: self.listeners(reader),
            loops: reader.optional("loops")?.integer("`loops`", in: 1...256, self.diagnostics),
            store: reader.optional("store").map(self.store) ?? .memory,
            log: reader.optional("log").map(self.log) ?? LogSettings(access: .stdout), http: http,
            identity: reader.optional("identity").map(self.identity) ?? IdentitySettings(),
            questions: reader.optional("questions").map(self.questions) ?? QuestionSettings(),
            operators: self.operators(reader),
            providers: providers, tenants: self.tenants(reader, providers: providers, http: http))
        self.checkHop(document, reader)
        IssuerChecks(diagnostics: self.diagnostics).check(document.tenants)
        return document
    }

    private func operators(_ reader: MappingReader) -> [OperatorSettings] {
        guard let node = reader.optional("operators") else { return [] }
        let tenants = KnownNames(reader.optional("tenants").map(self.names) ?? [])
        return self.operators(node, tenants: tenants)
    }

    // MARK: providers and tenants

    private func providers(_ reader: MappingReader) -> [ProviderSettings] {
        let advice = "write at least one provider, such as `demo: {dialect: demo}`"
        guard let node = reader.required("providers", advice),
            let entries = node.entries("`providers`", advice: advice, self.diagnostics)
        else { return [] }
        if entries.isEmpty { self.diagnostics.error(node.position, "there is no provider", advice) }
        return entries.compactMap { entry in
            self.key(entry, "a provider's name").flatMap { self.provider(entry.value, name: ProviderName($0)) }
        }
    }

    private func tenants(
        _ reader: MappingReader, providers: [ProviderSettings], http: HTTPSettings
    ) -> [TenantSettings] {
        let advice = "write at least one tenant with its issuers, plans and tasks"
        // The names stand even where the provider itself is wrong, so that one slip is not told twice.
        let names = KnownNames(reader.optional("providers").map(self.names) ?? [])
        let dialects = Dictionary(providers.map { ($0.name, $0.dialect) }) { first, _ in first }
        guard let node = reader.required("tenants", advice),
            let entries = node.entries("`tenants`", advice: advice, self.diagnostics)
        else { return [] }
        if entries.isEmpty { self.diagnostics.error(node.position, "there is no tenant", advice) }
        return entries.compactMap { entry in
            guard let name = self.key(entry, "a tenant's name") else { return nil }
            let scope = TenantScope(
                providers: names, dialects: dialects, plans: KnownNames(self.names(in: entry.value, under: "plans")),
                tasks: KnownNames(self.names(in: entry.value, under: "tasks")), maxBodyBytes: http.maxBodyBytes)
            return self.tenant(entry, id: TenantID(name), scope: scope)
        }
    }

    /// The keys of a mapping; none when it is not one.
    private func names(_ node: YAMLNode) -> [String] {
        guard case .mapping(let entries) = node.content else { return [] }
        return entries.map(\.key)
    }

    private func names(in node: YAMLNode, under key: String) -> [String] {
        guard case .mapping(let entries) = node.content else { return [] }
        return entries.first { $0.key == key }.map { self.names($0.value) } ?? []
    }

    /// A key that is a name of the operator's own.
    func key(_ entry: YAMLNode.Entry, _ what: String) -> String? {
        guard Names.isName(entry.key) else {
            self.diagnostics.error(entry.keyPosition, "\(what) is \(quoted(entry.key))", Names.advice)
            return nil
        }
        return entry.key
    }

    /// The first items of a list that nobody fills by hand; more is an error.
    func capped(_ items: [YAMLNode], _ what: String) -> [YAMLNode] {
        if items.count > 100 {
            self.diagnostics.error(items[100].position, "\(what) holds more than 100 items", "write a shorter list")
        }
        return Array(items.prefix(100))
    }

    /// One value or a list of them.
    func oneOrMore(_ node: YAMLNode, _ what: String, advice: String) -> [YAMLNode] {
        guard case .sequence(let items) = node.content else { return [node] }
        if items.isEmpty { self.diagnostics.error(node.position, "\(what) is an empty list", advice) }
        return self.capped(items, what)
    }
}

/// The names that the parts of one tenant may refer to.
struct TenantScope {
    var providers: KnownNames
    /// Of the providers that are right themselves.
    var dialects: [ProviderName: ProviderDialect]
    var plans: KnownNames
    var tasks: KnownNames
    /// What the api listener takes at most; a text cannot be larger.
    var maxBodyBytes: Int
}
