package import GatewayTypes
package import JOSE

/// Whose tokens are accepted, and as whom; read and checked when a configuration is loaded.
package struct AuthenticationConfiguration: Sendable {
    /// Places in this list name an issuer everywhere else.
    package var issuers: [IssuerConfiguration]

    package init(issuers: [IssuerConfiguration]) { self.issuers = issuers }
}

/// One issuer's tokens for one tenant. An issuer that serves several tenants stands here once for each.
package struct IssuerConfiguration: Sendable {
    /// Compared with `iss` byte by byte.
    package var issuer: ByteString
    /// One of these has to stand in `aud`; never empty.
    package var audiences: [ByteString]
    /// Whose subjects the tokens' subjects are.
    package var tenant: TenantID
    /// What the token's `alg` may be. HS only where every key is a secret of our own.
    package var algorithms: Set<Algorithm> = [.rs256, .ps256, .es256, .edDSA, .ed25519]
    /// What the token's `typ` may be.
    package var types: AcceptedTypes = [.accessToken]
    /// Nil when the keys are remote; until they are there, tokens are neither good nor bad (503).
    package var keys: KeySet?
    /// Where the keys are published; nil when they are part of the configuration.
    package var remoteKeys: RemoteKeySource?
    /// Whether the gateway is ready only once the keys are there.
    package var requiresKeys = true
    /// The claim that stands for `aud` at issuers whose access tokens have none, e.g. `client_id`. A token that has an
    /// `aud` all the same must be meant for us by that as well.
    package var audienceClaim: ByteString = "aud"
    /// Seconds by which the issuer's clock may differ; at most 60, more is taken for 60.
    package var leewaySeconds = 60
    /// Whether RFC 9068's claims (`client_id`, `iat`, `jti`) are required.
    package var requiresAccessTokenClaims = true
    /// Seconds since `iat` after which a token is refused whatever its `exp`; `iat` is then required.
    package var maximumAgeSeconds: Int?
    /// What else a token must say to be this tenant's, where issuer and audience are shared.
    package var condition: ClaimCondition?
    /// A scope without which every request is refused (403).
    package var requiredScope: ByteString?
    /// The plan of a token that names none.
    package var defaultPlan: PlanName
    /// Where a token names its plan; nil gives every one the default.
    package var planMapping: PlanMapping?
    /// Tokens of this issuer are guests', on the default plan whatever they claim.
    package var isGuest = false

    package init(
        issuer: ByteString, audiences: [ByteString], tenant: TenantID, keys: KeySet?, defaultPlan: PlanName
    ) {
        self.issuer = issuer
        self.audiences = audiences
        self.tenant = tenant
        self.keys = keys
        self.defaultPlan = defaultPlan
    }
}

/// Which `typ` a token may have. RFC 9068 has only the first; many issuers send the others.
package struct AcceptedTypes: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `at+jwt`, with or without `application/`.
    package static let accessToken = AcceptedTypes(rawValue: 1)
    /// `JWT`, as libjwt and many identity providers write it.
    package static let jwt = AcceptedTypes(rawValue: 2)
    /// No `typ` at all.
    package static let absent = AcceptedTypes(rawValue: 4)
}

/// Where a claim stands: names from the outside in.
package struct ClaimPath: Hashable, Sendable {
    /// From the outermost object inwards.
    package var names: [ByteString]

    package init(_ names: [ByteString]) { self.names = names }
}

/// A claim that must be one of some texts, or a list that holds one.
package struct ClaimCondition: Sendable {
    /// Where the claim stands.
    package var path: ClaimPath
    /// Compared byte by byte.
    package var values: [ByteString]

    package init(path: ClaimPath, values: [ByteString]) {
        self.path = path
        self.values = values
    }
}

/// Which claim names the plan, and what its values mean.
package struct PlanMapping: Sendable {
    /// One value of the claim and the plan it stands for.
    package struct Entry: Sendable {
        package var value: ByteString
        package var plan: PlanName

        package init(value: ByteString, plan: PlanName) {
            self.value = value
            self.plan = plan
        }
    }

    /// Where the claim stands.
    package var path: ClaimPath
    /// The first entry whose value is the claim, or stands in it, wins.
    package var entries: [Entry]

    package init(path: ClaimPath, entries: [Entry]) {
        self.path = path
        self.entries = entries
    }
}
