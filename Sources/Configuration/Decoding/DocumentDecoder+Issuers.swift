import GatewayTypes

extension DocumentDecoder {
    private static let issuerKeys = [
        "issuer", "audience", "audience_claim", "algorithms", "accept_typ", "keys", "leeway", "profile", "claim",
        "plan_claim", "guest",
        "token_lifetime", "sessions_per_minute", "name_secret",
    ]

    func issuers(_ reader: MappingReader, _ scope: TenantScope) -> [IssuerSettings] {
        let advice = "write at least one issuer with `issuer`, `audience`, `algorithms` and `keys`"
        guard let node = reader.required("issuers", advice),
            let items = node.items("`issuers`", advice: advice, self.diagnostics)
        else { return [] }
        if items.isEmpty { self.diagnostics.error(node.position, "there is no issuer", advice) }
        return items.compactMap { self.issuer($0, scope) }
    }

    /// Nil when the entry cannot be an issuer at all.
    private func issuer(_ node: YAMLNode, _ scope: TenantScope) -> IssuerSettings? {
        guard let reader = MappingReader(node, "an issuer", keys: Self.issuerKeys, self.diagnostics) else { return nil }
        let name = reader.required("issuer", "write `issuer:` and the exact `iss` of its tokens")?
            .text("`issuer`", advice: "write the exact `iss` of its tokens", self.diagnostics)
        let leeway = TimeSpan.seconds(0)...TimeSpan.seconds(60)
        let lifetime = TimeSpan.seconds(60)...TimeSpan.seconds(30 * 86_400)
        let issuer = IssuerSettings(
            issuer: ByteString(name ?? ""), audiences: self.audiences(reader),
            audienceClaim: self.audienceClaim(reader), algorithms: self.algorithms(reader),
            acceptedTypes: self.acceptedTypes(reader), keys: self.keys(reader),
            leeway: reader.optional("leeway")?.duration("`leeway`", in: leeway, self.diagnostics) ?? .seconds(60),
            profile: reader.optional("profile")?.word("profile", of: TokenProfile.self, self.diagnostics) ?? .rfc9068,
            claim: reader.optional("claim").flatMap(self.claimCondition),
            planClaim: reader.optional("plan_claim").flatMap { self.planClaim($0, scope) },
            isGuest: reader.optional("guest")?.boolean("`guest`", self.diagnostics) ?? false,
            tokenLifetime: reader.optional("token_lifetime")?
                .duration("`token_lifetime`", in: lifetime, self.diagnostics) ?? .seconds(86_400),
            sessionsPerMinute: reader.optional("sessions_per_minute")?
                .integer("`sessions_per_minute`", in: 0...1_000_000, self.diagnostics) ?? 10,
            nameSecret: reader.optional("name_secret").flatMap { self.references.secret($0, "`name_secret`") },
            position: node.position, algorithmsPosition: reader.place(of: "algorithms"))
        self.checkKeys(issuer, reader)
        self.checkGuest(issuer, reader)
        return name == nil ? nil : issuer
    }

    private func audiences(_ reader: MappingReader) -> [ByteString] {
        let advice = "write `audience:` and what its tokens for this gateway have in `aud`"
        guard let node = reader.required("audience", advice) else { return [] }
        var audiences: [ByteString] = []
        for item in self.oneOrMore(node, "`audience`", advice: advice) {
            guard let text = item.text("`audience`", advice: advice, self.diagnostics) else { continue }
            if audiences.contains(ByteString(text)) {
                self.diagnostics.error(item.position, "\(quoted(text)) stands here twice", "write it once")
            }
            audiences.append(ByteString(text))
        }
        return audiences
    }

    private func audienceClaim(_ reader: MappingReader) -> ByteString {
        let advice = "write the claim that names the app, such as client_id, or leave it out for `aud`"
        return reader.optional("audience_claim")?.text("`audience_claim`", advice: advice, self.diagnostics)
            .map { ByteString($0) } ?? "aud"
    }

    private func algorithms(_ reader: MappingReader) -> [SignatureAlgorithm] {
        let advice = "write `algorithms: [RS256]`, or what else the issuer signs with"
        guard let node = reader.required("algorithms", advice) else { return [] }
        var algorithms: [SignatureAlgorithm] = []
        for item in self.oneOrMore(node, "`algorithms`", advice: advice) {
            if case .scalar(let text, _) = item.content, text.lowercased() == "none" {
                self.diagnostics.error(item.position, "unsigned tokens are never accepted", advice)
                continue
            }
            let known = item.word("algorithm", of: SignatureAlgorithm.self, self.diagnostics)
            guard let algorithm = known else { continue }
            if algorithms.contains(algorithm) {
                self.diagnostics.error(item.position, "`\(algorithm.rawValue)` stands here twice", "write it once")
            }
            algorithms.append(algorithm)
        }
        return algorithms
    }

    private func acceptedTypes(_ reader: MappingReader) -> [AcceptedTokenType] {
        guard let node = reader.optional("accept_typ") else { return [.accessToken] }
        let advice = "write a list of \(listed(AcceptedTokenType.allCases.map(\.rawValue)))"
        return self.oneOrMore(node, "`accept_typ`", advice: advice)
            .compactMap { $0.word("token type", of: AcceptedTokenType.self, self.diagnostics) }
    }

    // MARK: claims

    /// Member names from the outside in: `app.plan`, or a list when a name itself holds dots.
    private func path(_ reader: MappingReader) -> ClaimPath? {
        let advice = "write `path: app.plan`, or a list of names when one holds a dot"
        guard let node = reader.required("path", advice) else { return nil }
        if case .sequence(let items) = node.content {
            if items.isEmpty { self.diagnostics.error(node.position, "`path` is an empty list", advice) }
            return items.compactMap { $0.text("`path`", advice: advice, self.diagnostics) }.map { ByteString($0) }
        }
        guard let text = node.text("`path`", advice: advice, self.diagnostics) else { return nil }
        let names = text.split(separator: ".", omittingEmptySubsequences: false)
        guard names.allSatisfy({ !$0.isEmpty }), names.count <= 8 else {
            self.diagnostics.error(node.position, "`path` is \(quoted(text)), which is no path of a claim", advice)
            return nil
        }
        return names.map { ByteString(String($0)) }
    }

    private func claimCondition(_ node: YAMLNode) -> IssuerSettings.ClaimCondition? {
        let reader = MappingReader(node, "`claim`", keys: ["path", "value"], self.diagnostics)
        guard let reader else { return nil }
        let path = self.path(reader)
        let advice = "write `value:` and what the claim must be"
        let value = reader.required("value", advice)?.text("`value`", advice: advice, self.diagnostics)
        guard let path, let value else { return nil }
        return IssuerSettings.ClaimCondition(path: path, value: ByteString(value))
    }

    private func planClaim(_ node: YAMLNode, _ scope: TenantScope) -> IssuerSettings.PlanClaim? {
        let reader = MappingReader(node, "`plan_claim`", keys: ["path", "values"], self.diagnostics)
        guard let reader else { return nil }
        let path = self.path(reader)
        let advice = "write `values: {gold: pro}`, the claim's value first, then the plan"
        guard let node = reader.required("values", advice),
            let entries = node.entries("`values`", advice: advice, self.diagnostics)
        else { return nil }
        if entries.isEmpty { self.diagnostics.error(node.position, "`values` is empty", advice) }
        var values: [ByteString: PlanName] = [:]
        for entry in entries {
            let plan = entry.value.reference("plan", to: scope.plans, definedUnder: "plans", self.diagnostics)
            values[ByteString(entry.key)] = plan.map { PlanName($0) }
        }
        return path.map { IssuerSettings.PlanClaim(path: $0, values: values) }
    }
}
