/// A signature algorithm of RFC 7518, RFC 8037 or RFC 9864 that this project verifies. `none` is not among them.
package enum Algorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// The older name of `ed25519`, which most issuers still write.
    case edDSA = "EdDSA"
    case ed25519 = "Ed25519"
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"

    /// How a signature is made; the key's type has to fit.
    package enum Family: Sendable {
        case rsaPKCS1, rsaPSS, ecdsa, ed25519, hmac
    }

    /// The algorithm of this exact name, compared as bytes with regard to case.
    package init?(utf8 name: Span<UInt8>) {
        guard let packed = Self.pack(name), let found = Self.packedNames[packed] else { return nil }
        self = found
    }

    /// Bounded name for metrics.
    package var metricLabel: String { self.rawValue }

    /// How its signatures are made.
    package var family: Family {
        switch self {
        case .rs256, .rs384, .rs512: .rsaPKCS1
        case .ps256, .ps384, .ps512: .rsaPSS
        case .es256, .es384, .es512: .ecdsa
        case .edDSA, .ed25519: .ed25519
        case .hs256, .hs384, .hs512: .hmac
        }
    }

    /// The hash that is signed; nil for Ed25519, which hashes by itself.
    var hash: Hash? {
        switch self {
        case .rs256, .ps256, .es256, .hs256: .sha256
        case .rs384, .ps384, .es384, .hs384: .sha384
        case .rs512, .ps512, .es512, .hs512: .sha512
        case .edDSA, .ed25519: nil
        }
    }

    /// The one curve of an ECDSA algorithm (RFC 7518 §3.4).
    var curve: Curve? {
        switch self {
        case .es256: .p256
        case .es384: .p384
        case .es512: .p521
        default: nil
        }
    }

    /// What a JWK's `alg` or a token's `alg` is compared by: both names of Ed25519 are one algorithm.
    var canonical: Algorithm { self == .edDSA ? .ed25519 : self }

    private static let packedNames: [UInt64: Algorithm] = {
        var names: [UInt64: Algorithm] = [:]
        for algorithm in Self.allCases { names[Self.pack(Array(algorithm.rawValue.utf8).span) ?? 0] = algorithm }
        return names
    }()

    /// Up to seven bytes and their count in one word.
    private static func pack(_ name: Span<UInt8>) -> UInt64? {
        guard name.count <= 7 else { return nil }
        var word = UInt64(name.count)
        for index in name.indices { word = word << 8 | UInt64(name[index]) }
        return word
    }
}

/// A curve of RFC 7518 §6.2.1.1.
enum Curve: String, Sendable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    /// Bytes of one coordinate, and of `r` and `s` each.
    var coordinateBytes: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    var algorithm: Algorithm {
        switch self {
        case .p256: .es256
        case .p384: .es384
        case .p521: .es512
        }
    }

    /// OpenSSL's name of the group.
    var groupName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        }
    }
}
