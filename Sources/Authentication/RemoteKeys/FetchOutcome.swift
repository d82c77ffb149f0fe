internal import GatewayTypes
internal import HTTPClient

/// What became of a fetch of a key set. Only the first two confirm a set; the others change nothing.
package enum FetchOutcome: String, Sendable, CaseIterable, MetricLabel {
    case fetched
    case notModified = "not_modified"
    case unreachable
    case timeout
    case tls
    /// The connection or the answer's framing broke, or the answer cannot be decoded.
    case broken
    /// Neither 200 nor a 304 that was asked for; redirects are among these.
    case badStatus = "bad_status"
    /// More bytes than a document may have.
    case tooLarge = "too_large"
    /// The address is not allowed: plain http, or this machine's own when named from elsewhere.
    case notAllowed = "not_allowed"
    /// The metadata is no JSON object with `issuer` and `jwks_uri`.
    case badMetadata = "bad_metadata"
    /// The metadata is another issuer's.
    case issuerMismatch = "issuer_mismatch"
    case notJSON = "not_json"
    case notAKeySet = "not_a_key_set"
    /// No key that one of the issuer's algorithms could use.
    case noUsableKey = "no_usable_key"
    case tooManyKeys = "too_many_keys"

    package var metricLabel: String { self.rawValue }

    /// Whether the issuer's keys are known after it.
    package var isGood: Bool { self == .fetched || self == .notModified }

    init(_ failure: FetchFailure) {
        switch failure {
        case .tooLarge: self = .tooLarge
        case .notAllowed: self = .notAllowed
        case .call(let call):
            switch call {
            case .unreachable: self = .unreachable
            case .connectTimeout, .timeout: self = .timeout
            case .tls: self = .tls
            case .headTooLarge: self = .tooLarge
            case .broken, .cancelled, .coding, .unusable: self = .broken
            }
        }
    }
}
