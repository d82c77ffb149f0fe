import Gateway
import GatewayTypes

extension QuestionSettings {
    var effective: EffectiveValue {
        .object([
            ("bytes", .integer(self.bounds.bytes)), ("tenant_bytes", .integer(self.bounds.tenantBytes)),
            ("key_ttl", .span(self.keyLifetime)), ("tenant_keys", .integer(self.tenantKeys)),
        ])
    }
}

extension ResumePolicy {
    var effective: EffectiveValue {
        .object([
            ("keep", .span(self.keep)), ("bytes", .integer(self.bytes)), ("grace", .span(self.grace)),
        ])
    }
}
