import GatewayTypes

/// Checks over all tenants that a token can belong to one issuer entry only.
struct IssuerChecks {
    let diagnostics: Diagnostics

    func check(_ tenants: [TenantSettings]) {
        var earlier: [ByteString: [(tenant: TenantID, issuer: IssuerSettings)]] = [:]
        for tenant in tenants {
            for issuer in tenant.issuers {
                let rivals = earlier[issuer.issuer] ?? []
                if let rival = rivals.first(where: { !self.areApart($0.issuer, issuer) }) {
                    self.diagnostics.error(
                        issuer.position,
                        "tokens of \(quoted(issuer.issuer.string)) could also belong to tenant `\(rival.tenant)` "
                            + "(line \(rival.issuer.position.line))",
                        "write another `audience`, or a `claim` with one path and different values at both")
                }
                earlier[issuer.issuer] = rivals + [(tenant.id, issuer)]
            }
        }
    }

    /// Whether no token can meet both: other audiences, or one claim with two values.
    private func areApart(_ left: IssuerSettings, _ right: IssuerSettings) -> Bool {
        if Set(left.audiences).isDisjoint(with: right.audiences) { return true }
        guard let one = left.claim, let other = right.claim else { return false }
        return one.path == other.path && one.value != other.value
    }
}
