import Gateway
import GatewayTypes

/// Answers that outlive their connections.
extension DocumentDecoder {
    /// `{keep, bytes, grace}`
    func resumePolicy(_ node: YAMLNode) -> ResumePolicy? {
        let keys = ["keep", "bytes", "grace"]
        guard let reader = MappingReader(node, "`resume`", keys: keys, self.diagnostics) else { return nil }
        var policy = ResumePolicy()
        policy.keep =
            reader.optional("keep")?.duration("`keep`", in: .seconds(1) ... .seconds(3600), self.diagnostics)
            ?? policy.keep
        policy.bytes =
            reader.optional("bytes")?.byteSize("`bytes`", in: 1024...16_777_216, self.diagnostics) ?? policy.bytes
        policy.grace =
            reader.optional("grace")?.duration("`grace`", in: .seconds(0) ... .seconds(600), self.diagnostics)
            ?? policy.grace
        return policy
    }

    /// `{bytes, tenant_bytes, key_ttl, keys}`
    func questions(_ node: YAMLNode) -> QuestionSettings {
        var settings = QuestionSettings()
        let keys = ["bytes", "tenant_bytes", "key_ttl", "tenant_keys"]
        guard let reader = MappingReader(node, "`questions`", keys: keys, self.diagnostics) else { return settings }
        let sizes = 65_536...4_294_967_296
        settings.bounds.bytes =
            reader.optional("bytes")?.byteSize("`bytes`", in: sizes, self.diagnostics) ?? settings.bounds.bytes
        settings.bounds.tenantBytes =
            reader.optional("tenant_bytes")?.byteSize("`tenant_bytes`", in: sizes, self.diagnostics)
            ?? min(settings.bounds.tenantBytes, settings.bounds.bytes)
        if settings.bounds.tenantBytes > settings.bounds.bytes {
            self.diagnostics.error(
                reader.place(of: "tenant_bytes"),
                "one tenant's \(settings.bounds.tenantBytes) bytes cannot be kept in \(settings.bounds.bytes)",
                "write a smaller `tenant_bytes` or a larger `bytes`")
        }
        settings.keyLifetime =
            reader.optional("key_ttl")?
            .duration("`key_ttl`", in: .seconds(60) ... .seconds(7 * 86_400), self.diagnostics) ?? settings.keyLifetime
        settings.tenantKeys =
            reader.optional("tenant_keys")?.integer("`tenant_keys`", in: 100...10_000_000, self.diagnostics)
            ?? settings.tenantKeys
        return settings
    }
}
