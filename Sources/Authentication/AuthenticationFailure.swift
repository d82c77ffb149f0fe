package import GatewayTypes
package import JOSE

/// Why a request has no principal. The caller of the gateway learns only the challenge; the rest is for metrics.
package enum AuthenticationFailure: Error, Hashable, Sendable, MetricLabel {
    /// No `Authorization` field, or one of another scheme.
    case noCredentials
    /// More than one credential: two fields, two in one field, or one in the query besides.
    case severalCredentials
    /// The `Bearer` scheme without a token right after it.
    case malformedCredentials
    /// The token's outer form, header, key or signature.
    case token(TokenFailure)
    /// No key of the issuer has the token's key id. Worth one refresh of that issuer's remote set.
    case unknownKey(issuer: Int)
    /// The issuer's remote keys were never loaded.
    case keysUnavailable(issuer: Int)
    case unknownIssuer
    case wrongType
    /// The payload is no strict JSON object.
    case invalidClaims
    /// A claim is absent that is required.
    case missingClaim
    /// A claim has the wrong type, size or characters.
    case invalidClaim
    case wrongAudience
    /// The token fits several tenants.
    case ambiguousTenant
    case expired
    case notYetValid
    case issuedInFuture
    case tooOld
    case revoked
    /// Bound to a key of its holder (`cnf`), which is not checked here.
    case senderConstrained
    case insufficientScope(ByteString)
    /// Too many of the caller's tokens were bad of late: this one was not looked at.
    case tooManyFailures

    /// One of a closed set; never anything of the token.
    package var metricLabel: String {
        switch self {
        case .noCredentials: "no_credentials"
        case .severalCredentials: "several_credentials"
        case .malformedCredentials: "malformed_credentials"
        case .token(let failure): failure.metricLabel
        case .unknownKey: "unknown_key"
        case .keysUnavailable: "keys_unavailable"
        case .unknownIssuer: "unknown_issuer"
        case .wrongType: "wrong_type"
        case .invalidClaims: "invalid_claims"
        case .missingClaim: "missing_claim"
        case .invalidClaim: "invalid_claim"
        case .wrongAudience: "wrong_audience"
        case .ambiguousTenant: "ambiguous_tenant"
        case .expired: "expired"
        case .notYetValid: "not_yet_valid"
        case .issuedInFuture: "issued_in_future"
        case .tooOld: "too_old"
        case .revoked: "revoked"
        case .senderConstrained: "sender_constrained"
        case .insufficientScope: "insufficient_scope"
        case .tooManyFailures: "too_many_failures"
        }
    }

    /// What the caller is told.
    package var challenge: Challenge {
        switch self {
        case .noCredentials: .none
        case .severalCredentials: .invalidRequest
        case .insufficientScope(let scope): .insufficientScope(scope)
        case .keysUnavailable: .unavailable
        case .tooManyFailures: .heldUp
        default: .invalidToken
        }
    }

    /// The code of the answer's body.
    package var errorCode: ErrorCode {
        switch self.challenge {
        case .none, .invalidToken: .unauthenticated
        case .invalidRequest: .invalidRequest
        case .insufficientScope: .insufficientScope
        case .unavailable: .identityUnavailable
        case .heldUp: .tooManyFailedAuthentications
        }
    }

    /// Whether it says that somebody tries tokens: not where there was none, nor where a token was good or could not
    /// be judged.
    package var isSuspicious: Bool {
        switch self {
        case .noCredentials, .keysUnavailable, .insufficientScope, .tooManyFailures: false
        default: true
        }
    }
}
