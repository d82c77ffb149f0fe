import GatewayTypes

extension DocumentDecoder {
    private static let tokenAdvice = "write the 64 digits that `askgate operator-token NAME` shows"

    private static let refusedTokens = [
        "token": MappingReader.Refusal(
            message: "an operator's token stands nowhere but with the operator", advice: "write its `token_sha256`")
    ]

    func operators(_ node: YAMLNode, tenants: KnownNames) -> [OperatorSettings] {
        let advice = "write `NAME: {role: operator, token_sha256: …}`"
        var operators: [OperatorSettings] = []
        for entry in node.entries("`operators`", advice: advice, self.diagnostics) ?? [] {
            guard let name = self.key(entry, "an operator's name"),
                let settings = self.operator(entry.value, name: name, tenants: tenants)
            else { continue }
            if let other = operators.first(where: { $0.digest == settings.digest }) {
                self.diagnostics.error(
                    entry.keyPosition, "\(quoted(name)) has the same token as \(quoted(other.name))",
                    "make a token for each, so that the audit trail tells who it was")
            }
            operators.append(settings)
        }
        return operators
    }

    private func `operator`(_ node: YAMLNode, name: String, tenants: KnownNames) -> OperatorSettings? {
        let keys = ["role", "token_sha256", "tenants"]
        let reader = MappingReader(node, "an operator", keys: keys, refused: Self.refusedTokens, self.diagnostics)
        guard let reader else { return nil }
        let role = reader.required("role", "write `role: viewer` or `role: operator`")?
            .word("role", of: OperatorSettings.Role.self, self.diagnostics)
        let digest = reader.required("token_sha256", Self.tokenAdvice).flatMap(self.digest)
        let allowed = reader.optional("tenants").map { self.allowedTenants($0, tenants) }
        guard let role, let digest else { return nil }
        return OperatorSettings(name: name, role: role, digest: digest, tenants: allowed)
    }

    /// A hash by value or by reference. What is written is never shown: it may be the token itself.
    private func digest(_ node: YAMLNode) -> [UInt8]? {
        let text: [UInt8]?
        if case .scalar(let value, _) = node.content {
            text = Array(value.utf8)
        } else {
            text = self.references.secret(node, "`token_sha256`")?.value.reveal { $0 }
        }
        guard let text else { return nil }
        if let digest = Self.hexadecimal(text), digest.count == 32 { return digest }
        let isToken = text.starts(with: "ago_".utf8)
        self.diagnostics.error(
            node.position,
            isToken ? "`token_sha256` holds a token, not its hash" : "`token_sha256` is not 64 hexadecimal digits",
            isToken ? "write its hash, and make a new token: this one has been seen" : Self.tokenAdvice)
        return nil
    }

    private static func hexadecimal(_ text: [UInt8]) -> [UInt8]? {
        guard text.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for at in stride(from: 0, to: 64, by: 2) {
            guard let high = self.digit(text[at]), let low = self.digit(text[at + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    private func allowedTenants(_ node: YAMLNode, _ tenants: KnownNames) -> [TenantID] {
        let advice = "write a list such as [acme], or leave `tenants` out to allow all"
        let items = node.items("`tenants`", advice: advice, self.diagnostics) ?? []
        if items.isEmpty, case .sequence = node.content {
            self.diagnostics.error(node.position, "`tenants` is an empty list", advice)
        }
        return items.compactMap { item in
            item.reference("tenant", to: tenants, definedUnder: "tenants", self.diagnostics).map { TenantID($0) }
        }
    }
}
