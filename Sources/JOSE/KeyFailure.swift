/// Why a key cannot be used.
package enum KeyFailure: String, Error, Sendable, CaseIterable {
    /// No strict JSON object, PEM text that cannot be read, or a member missing or of the wrong type or size.
    case malformed
    /// A `kty` or `crv` that is not supported.
    case unsupportedType = "unsupported_type"
    /// Private members in a key that should be public.
    case privateMembers = "private_members"
    /// A shared secret where only public keys may stand.
    case symmetricKey = "symmetric_key"
    /// `use` or `key_ops` that forbid verifying.
    case wrongUse = "wrong_use"
    /// An `alg` that is unknown or does not fit the key.
    case algorithmMismatch = "algorithm_mismatch"
    /// An RSA modulus below 2048 or above 8192 bits, or even.
    case rsaModulus = "rsa_modulus"
    /// An RSA exponent that is even, below 3, or 2^32 and more.
    case rsaExponent = "rsa_exponent"
    /// A modulus with the fingerprint of the ROCA fault (CVE-2017-15361).
    case rocaFingerprint = "roca_fingerprint"
    /// A point that is not on its curve, at infinity, of small order, or not spelt canonically.
    case invalidPoint = "invalid_point"
    /// A secret shorter than the hash of its algorithm.
    case shortSecret = "short_secret"
    /// Another key of the set has the same id; neither is used.
    case duplicateKeyID = "duplicate_key_id"
    /// More keys than a set may hold.
    case tooManyKeys = "too_many_keys"

    /// Bounded name for metrics.
    package var metricLabel: String { self.rawValue }

    /// One constant phrase for people.
    package var explanation: String {
        switch self {
        case .malformed: "the key cannot be read"
        case .unsupportedType: "the key's type or curve is not supported"
        case .privateMembers: "the key holds private members; publish only its public part"
        case .symmetricKey: "a shared secret may not stand among public keys"
        case .wrongUse: "the key's \"use\" or \"key_ops\" does not allow verifying"
        case .algorithmMismatch: "the key's \"alg\" is unknown or does not fit the key"
        case .rsaModulus: "the RSA modulus must be odd and have 2048 to 8192 bits"
        case .rsaExponent: "the RSA exponent must be odd, at least 3 and below 2^32"
        case .rocaFingerprint: "the RSA key was made by a generator with the ROCA fault"
        case .invalidPoint: "the key's point is not a valid one of its curve"
        case .shortSecret: "the secret is shorter than the hash of its algorithm"
        case .duplicateKeyID: "two keys have the same \"kid\""
        case .tooManyKeys: "the set holds more than 100 keys"
        }
    }
}
