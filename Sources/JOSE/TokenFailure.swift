/// Why a token's outer form, its key or its signature was refused.
package enum TokenFailure: String, Error, Sendable, CaseIterable {
    case tooLong = "too_long"
    /// Not three parts, or an empty header or signature; five parts are an encrypted token.
    case malformed
    /// A part that is not strict base64url.
    case invalidEncoding = "invalid_encoding"
    /// A header that is no strict JSON object, or members of it with the wrong type.
    case invalidHeader = "invalid_header"
    /// `crit`, `b64`, `zip` or `enc` in the header: nothing of that kind is understood here.
    case unsupportedHeader = "unsupported_header"
    /// An `alg` that is unknown, `none`, or not allowed for the issuer.
    case algorithmNotAllowed = "algorithm_not_allowed"
    /// No key has this id, or the token names none and there is not exactly one that fits.
    case unknownKey = "unknown_key"
    /// The key's type, `use`, `key_ops`, `alg` or curve forbids this algorithm.
    case keyMismatch = "key_mismatch"
    case badSignature = "bad_signature"

    /// Bounded name for metrics.
    package var metricLabel: String { self.rawValue }
}
