import Gateway
import GatewayTypes
import Routing

extension TenantSettings {
    var effective: EffectiveValue {
        .object([
            ("zone", .string(self.zone)), ("default_plan", .string(self.defaultPlan.string)),
            ("guest_plan", .optional(self.guestPlan?.string)), ("default_agent", .optional(self.defaultAgent?.string)),
            (
                "answer_cache",
                .object([
                    ("bytes", .integer(self.cacheBounds.bytes)),
                    ("answer_bytes", .integer(self.cacheBounds.answerBytes)),
                ])
            ), ("issuers", .array(self.issuers.map(\.effective))),
            ("plans", .object(self.plans.map { ($0.name.string, $0.effective) })),
            ("tasks", .object(self.tasks.map { ($0.name.string, $0.effective) })),
        ])
    }
}

extension IssuerSettings {
    fileprivate var effective: EffectiveValue {
        .object([
            ("issuer", .string(self.issuer.string)), ("audience", .strings(self.audiences.map(\.string))),
            ("audience_claim", .string(self.audienceClaim.string)),
            ("algorithms", .strings(self.algorithms.map(\.rawValue))),
            ("accept_typ", .strings(self.acceptedTypes.map(\.rawValue))),
            ("keys", .array(self.keys.map(\.source.effective))), ("leeway", .span(self.leeway)),
            ("profile", .string(self.profile.rawValue)), ("claim", self.claim?.effective ?? .null),
            ("plan_claim", self.planClaim?.effective ?? .null), ("guest", .boolean(self.isGuest)),
            ("token_lifetime", self.isGuest ? .span(self.tokenLifetime) : .null),
            ("sessions_per_minute", self.isGuest ? .integer(self.sessionsPerMinute) : .null),
            ("name_secret", self.nameSecret.map { .secret($0) } ?? .null),
        ])
    }
}

extension IssuerSettings.KeySource {
    fileprivate var effective: EffectiveValue {
        switch self {
        case .remote(let settings): settings.effective
        case .jwks(let path, _): .object([("jwks_file", .string(path))])
        case .pem(let path, _, let keyID): .object([("pem_file", .string(path)), ("kid", .optional(keyID?.string))])
        case .hmac(let secret, let keyID):
            .object([("hmac_secret", .secret(secret)), ("kid", .optional(keyID?.string))])
        }
    }
}

extension RemoteKeySettings {
    fileprivate var effective: EffectiveValue {
        .object([
            (self.kind.rawValue, .string(self.url)), ("stale_for", .span(self.staleFor)),
            ("cooldown", .span(self.cooldown)), ("timeout", .span(self.timeout)),
            ("required", .boolean(self.isRequired)), ("ca_file", .optional(self.certificateFile)),
        ])
    }
}

extension IssuerSettings.ClaimCondition {
    fileprivate var effective: EffectiveValue {
        .object([("path", .strings(self.path.map(\.string))), ("value", .string(self.value.string))])
    }
}

extension IssuerSettings.PlanClaim {
    fileprivate var effective: EffectiveValue {
        let values = self.values.sorted { $0.key < $1.key }
        return .object([
            ("path", .strings(self.path.map(\.string))),
            ("values", .object(values.map { ($0.key.string, .string($0.value.string)) })),
        ])
    }
}

extension PlanSettings {
    fileprivate var effective: EffectiveValue {
        let routes = self.routes.sorted { $0.key < $1.key }
        return .object([
            ("limits", .array(self.limits.map(\.effective))),
            ("tasks", self.tasks.map { .strings($0.sorted().map(\.string)) } ?? .string("all")),
            ("routes", .object(routes.map { ($0.key.string, $0.value.effective) })),
        ])
    }
}

extension Limit {
    fileprivate var effective: EffectiveValue {
        .object([
            ("name", .string(self.kind.rawValue)), ("scope", .string(self.scope.rawValue)),
            ("limit", .integer(self.quantity)), ("observe", .boolean(self.observe)),
            ("on_outage", .string(self.stance.rawValue)),
        ])
    }
}

extension RouteList {
    fileprivate var effective: EffectiveValue {
        let groups = self.grouped
        if groups.count == 1 { return self.effective(of: groups[0]) }
        return .array(groups.map { $0.count == 1 ? self.effective(of: $0[0], inGroup: false) : self.effective(of: $0) })
    }

    private func effective(of group: [ProviderRoute]) -> EffectiveValue {
        .array(group.map { self.effective(of: $0, inGroup: group.count > 1) })
    }

    private func effective(of route: ProviderRoute, inGroup: Bool) -> EffectiveValue {
        var members: [(String, EffectiveValue)] = [
            ("provider", .string(route.provider.string)), ("model", .string(route.model.string)),
        ]
        if inGroup { members.append(("weight", .integer(route.weight))) }
        return .object(members)
    }
}

extension TaskDefinition {
    fileprivate var effective: EffectiveValue {
        .object([
            ("prompt", .object([("system", .string(self.system)), ("instruction", .string(self.instruction))])),
            ("language", .string(self.language ?? "same")),
            (
                "text",
                .object([
                    ("min_characters", .integer(self.bounds.minCharacters)),
                    ("max_characters", .integer(self.bounds.maxCharacters)),
                    ("max_bytes", .integer(self.bounds.maxBytes)),
                ])
            ),
            ("max_output_tokens", .integer(self.outputCap)), ("temperature", .decimal(self.temperature)),
            ("tones", .strings(self.tones.map(\.rawValue))), ("default_tone", .optional(self.defaultTone?.rawValue)),
            ("required_scope", .optional(self.requiredScope?.string)),
            ("on_disconnect", .string(self.disconnect.rawValue)), ("chat", self.chat.effective),
            ("cache", self.cache?.effective ?? .null), ("resume", self.resume?.effective ?? .null),
            ("routes", self.routes.effective),
        ])
    }
}

extension ChatRules {
    fileprivate var effective: EffectiveValue {
        .object([
            ("roles", .strings(self.roles.map(\.rawValue))), ("max_messages", .integer(self.maxMessages)),
            ("parameters", .strings(self.parameters.map(\.rawValue))),
        ])
    }
}

extension CachePolicy {
    fileprivate var effective: EffectiveValue {
        .object([("ttl", .span(self.lifetime)), ("charge", .string(self.charge.rawValue))])
    }
}
