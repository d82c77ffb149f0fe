package import GatewayTypes

/// A signature algorithm by its name in a token's `alg`.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// RFC 8037; the name that RFC 9864 replaces by `Ed25519`.
    case eddsa = "EdDSA"
    case ed25519 = "Ed25519"
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"

    /// Fewest bytes of the shared secret (RFC 7518 §3.2); nil for algorithms with a key pair.
    package var minSecretBytes: Int? {
        switch self {
        case .hs256: 32
        case .hs384: 48
        case .hs512: 64
        default: nil
        }
    }
}

/// A value that a token's `typ` may have.
package enum AcceptedTokenType: String, Sendable, CaseIterable {
    case accessToken = "at+jwt"
    case jwt = "JWT"
    /// No `typ` at all.
    case absent
}

/// Which claims a token must have.
package enum TokenProfile: String, Sendable, CaseIterable {
    /// RFC 9068: `iat`, `jti` and `client_id` as well.
    case rfc9068
    /// `iss`, `aud`, `exp` and `sub` only.
    case plain
}

/// Where a claim stands: member names from the outside in.
package typealias ClaimPath = [ByteString]

/// An issuer of tokens, as one tenant trusts it.
package struct IssuerSettings: Sendable {
    /// Where verification keys come from.
    package enum KeySource: Sendable {
        /// The text of a JWK Set.
        case jwks(path: String, text: [UInt8])
        /// The text of a file with public keys or certificates in PEM.
        case pem(path: String, text: [UInt8], keyID: ByteString?)
        case hmac(ResolvedSecret, keyID: ByteString?)
        /// Fetched while the program runs; then the only source.
        case remote(RemoteKeySettings)
    }

    package struct Key: Sendable {
        package var source: KeySource
        package var position: SourcePosition
    }

    /// Only tokens with this claim belong to the tenant.
    package struct ClaimCondition: Sendable, Hashable {
        package var path: ClaimPath
        package var value: ByteString
    }

    /// A claim that names the plan.
    package struct PlanClaim: Sendable, Hashable {
        package var path: ClaimPath
        /// Plans by the claim's value; another value gives the tenant's default plan.
        package var values: [ByteString: PlanName]
    }

    /// `iss`, compared byte by byte.
    package var issuer: ByteString
    /// One of them must be in `aud`; never empty.
    package var audiences: [ByteString]
    /// The claim that stands for `aud`, where access tokens have none.
    package var audienceClaim: ByteString = "aud"
    /// Never empty; either all or none of them use a shared secret.
    package var algorithms: [SignatureAlgorithm]
    package var acceptedTypes: [AcceptedTokenType]
    package var keys: [Key]
    /// At most 60 s.
    package var leeway: TimeSpan
    package var profile: TokenProfile
    package var claim: ClaimCondition?
    package var planClaim: PlanClaim?
    /// Subjects of this issuer are guests, and Askgate itself issues their tokens with the HMAC secret.
    package var isGuest: Bool
    /// How long a guest's token is good.
    package var tokenLifetime: TimeSpan
    /// Guests' tokens that one network address may get in a minute.
    package var sessionsPerMinute: Int
    /// Makes the names of guests; nil takes the last key.
    package var nameSecret: ResolvedSecret?
    package var position: SourcePosition
    /// Of the key `algorithms`.
    package var algorithmsPosition: SourcePosition
}

/// Keys that an issuer publishes.
package struct RemoteKeySettings: Sendable, Hashable {
    /// Which document the address is of.
    package enum Kind: String, Sendable {
        case jwksURL = "jwks_url"
        case discovery
    }

    package var kind: Kind
    /// https, or http on this machine.
    package var url: String
    /// How long a set is used while every fetch fails.
    package var staleFor: TimeSpan
    /// Least time between fetches that tokens with unknown keys cause.
    package var cooldown: TimeSpan
    /// For one document.
    package var timeout: TimeSpan
    /// Whether the gateway is ready only once the keys are there.
    package var isRequired: Bool
    /// A PEM file of trusted roots in place of the system's.
    package var certificateFile: String?
}

/// What concerns the issuers of all tenants.
package struct IdentitySettings: Sendable, Hashable {
    /// Where the last good key sets are kept for the next start; nil keeps none.
    package var stateDirectory: String?

    package init(stateDirectory: String? = nil) { self.stateDirectory = stateDirectory }
}
