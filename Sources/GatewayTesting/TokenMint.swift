package import JOSE
internal import Synchronization

/// Makes any token a test wants, good ones and every kind of bad one.
///
/// Keys are made once a process: the same kind and key id is the same key everywhere.
package struct TokenMint: Sendable {
    enum Key: Sendable {
        case pair(PrivateKey)
        case secret([UInt8])
    }

    /// What signs, and stands in the header.
    package let algorithm: Algorithm
    /// The `kid` in the header and in the published key.
    package let keyID: String
    let key: Key

    /// A mint with an RSA key of 2048 bits.
    package static func rsa(keyID: String = "rsa-1", algorithm: Algorithm = .rs256) -> TokenMint {
        TokenMint(algorithm: algorithm, keyID: keyID, key: .pair(self.pair("rsa", keyID) { .generateRSA() }))
    }

    /// - Parameter algorithm: one of ES; decides the curve.
    package static func ec(keyID: String = "ec-1", algorithm: Algorithm = .es256) -> TokenMint {
        let pair = self.pair(algorithm.rawValue, keyID) { .generateEC(for: algorithm) }
        return TokenMint(algorithm: algorithm, keyID: keyID, key: .pair(pair))
    }

    /// A mint with an Ed25519 key.
    package static func ed25519(keyID: String = "ed-1", algorithm: Algorithm = .edDSA) -> TokenMint {
        TokenMint(algorithm: algorithm, keyID: keyID, key: .pair(self.pair("ed", keyID) { .generateEd25519() }))
    }

    /// A mint with a shared secret.
    package static func hmac(
        _ secret: [UInt8], keyID: String = "hs-1", algorithm: Algorithm = .hs256
    ) -> TokenMint {
        TokenMint(algorithm: algorithm, keyID: keyID, key: .secret(secret))
    }

    /// The same key under another name or for another algorithm of its type.
    package func with(keyID: String? = nil, algorithm: Algorithm? = nil) -> TokenMint {
        TokenMint(algorithm: algorithm ?? self.algorithm, keyID: keyID ?? self.keyID, key: self.key)
    }

    // MARK: What a server would publish or be configured with

    /// The public key as a JWK; for a secret, the secret.
    package var jwk: String {
        switch self.key {
        case .pair(let pair): pair.publicJWK(keyID: self.keyID, algorithm: self.algorithm) ?? ""
        case .secret(let secret): #"{"kty":"oct","k":"\#(Self.encode(secret))","kid":"\#(self.keyID)"}"#
        }
    }

    /// A set of this key alone, as a JWKS document.
    package var jwks: String { Self.jwks([self]) }

    /// A JWKS document of several mints' keys.
    package static func jwks(_ mints: [TokenMint]) -> String {
        #"{"keys":[\#(mints.map(\.jwk).joined(separator: ","))]}"#
    }

    /// The public key as PEM; empty for a secret.
    package var publicPEM: String {
        guard case .pair(let pair) = self.key else { return "" }
        return pair.publicPEM ?? ""
    }

    /// A set of this key alone, ready to verify.
    package var keySet: KeySet { Self.keySet([self]) }

    /// The keys of several mints, ready to verify. Secrets are taken only where no public key stands beside.
    package static func keySet(_ mints: [TokenMint]) -> KeySet {
        let text = Array(self.jwks(mints).utf8)
        guard let set = try? KeySet(jwks: text.span, allowsSecrets: true) else {
            preconditionFailure("the mint made keys that cannot be used")
        }
        return set
    }

    // MARK: Tokens

    /// Makes a token; both texts are taken as they are, whatever they hold.
    ///
    /// - Parameter header: nil for the mint's own algorithm and key id, with `typ` `at+jwt`.
    package func token(claims: String, header: String? = nil, signature: Signature = .right) -> String {
        self.token(
            payload: Array(claims.utf8), header: Array((header ?? self.header()).utf8), signature: signature)
    }

    /// The same over any bytes.
    package func token(payload: [UInt8], header: [UInt8], signature: Signature = .right) -> String {
        let signed = Self.encode(header) + "." + Self.encode(payload)
        return signed + "." + Self.encode(self.bytes(of: signature, over: Array(signed.utf8)))
    }

    /// A header's JSON.
    ///
    /// - Parameters:
    ///   - type: nil leaves `typ` out.
    ///   - more: further members as JSON, e.g. `"crit":["x"]`.
    package func header(type: String? = "at+jwt", more: String? = nil) -> String {
        var members = [#""alg":"\#(self.algorithm.rawValue)""#, #""kid":"\#(self.keyID)""#]
        if let type { members.append(#""typ":"\#(type)""#) }
        if let more { members.append(more) }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Claims that RFC 9068 asks for, with some changed.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970; the token is good from then for 300 seconds.
    ///   - changes: JSON by claim name; nil takes the claim out.
    package static func claims(
        issuer: String = "https://id.test", audience: String = "gateway", subject: String = "user-1",
        now: Int64 = 1_750_000_000, changes: [String: String?] = [:]
    ) -> String {
        var claims: [String: String] = [
            "iss": "\"\(issuer)\"", "aud": "\"\(audience)\"", "sub": "\"\(subject)\"", "exp": "\(now + 300)",
            "iat": "\(now)", "jti": "\"token-1\"", "client_id": "\"app\"",
        ]
        for (name, json) in changes { claims[name] = json }
        return "{" + claims.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    static func encode(_ bytes: [UInt8]) -> String { String(decoding: Base64URL.encode(bytes.span), as: UTF8.self) }

    private static let pairs = Mutex<[String: PrivateKey]>([:])

    private static func pair(_ kind: String, _ keyID: String, make: () -> PrivateKey?) -> PrivateKey {
        self.pairs.withLock { pairs in
            if let pair = pairs[kind + " " + keyID] { return pair }
            guard let pair = make() else { preconditionFailure("OpenSSL makes no key") }
            pairs[kind + " " + keyID] = pair
            return pair
        }
    }
}
