import GatewayTypes

/// Checks over all tenants that a token can belong to one issuer entry only.
///
/// Entries with one issuer and one audience in common are apart only by a claim: all of them need one, with the same
/// path and a value of its own. Looked up, not compared in pairs, since thousands of tenants may share an issuer.
struct IssuerChecks {
    let diagnostics: Diagnostics

    private struct Key: Hashable {
        var issuer: ByteString
        var audience: ByteString
    }

    /// The entries that one issuer's tokens for one audience may belong to.
    private struct Group {
        var first: Entry
        var byValue: [ByteString: Entry]

        /// An entry that the same token may belong to.
        func rival(of issuer: IssuerSettings) -> Entry? {
            guard let claim = issuer.claim, let path = self.first.issuer.claim?.path, claim.path == path else {
                return self.first
            }
            return self.byValue[claim.value]
        }
    }

    private struct Entry {
        var tenant: TenantID
        var issuer: IssuerSettings
    }

    func check(_ tenants: [TenantSettings]) {
        var groups: [Key: Group] = [:]
        for tenant in tenants {
            for issuer in tenant.issuers { self.check(Entry(tenant: tenant.id, issuer: issuer), &groups) }
        }
    }

    private func check(_ entry: Entry, _ groups: inout [Key: Group]) {
        var rival: Entry?
        for audience in entry.issuer.audiences {
            let key = Key(issuer: entry.issuer.issuer, audience: audience)
            rival = rival ?? groups[key]?.rival(of: entry.issuer)
            groups[key, default: Group(first: entry, byValue: [:])]
                .byValue[entry.issuer.claim?.value ?? ""] = entry
        }
        guard let rival else { return }
        self.diagnostics.error(
            entry.issuer.position,
            "tokens of \(quoted(entry.issuer.issuer.string)) could also belong to tenant `\(rival.tenant)` "
                + "(line \(rival.issuer.position.line))",
            "write another `audience`, or a `claim` with one path and different values at both")
    }
}
