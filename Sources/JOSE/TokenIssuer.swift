internal import CJWT
internal import JSON

/// Issues signed tokens with libjwt: guest sessions, operators and development.
package struct TokenIssuer: Sendable {
    /// Why there is no issuer or no token.
    package enum Failure: String, Error, Sendable, CaseIterable {
        /// libjwt signs with HS, RS and ES only.
        case unsupportedAlgorithm = "unsupported_algorithm"
        /// The key is shorter than the hash, of another type, on another curve, or no PEM private key.
        case unsuitableKey = "unsuitable_key"
        /// The claims are no strict JSON object of at most 6 KiB.
        case invalidClaims = "invalid_claims"
        case signingFailed = "signing_failed"

        /// Bounded name for metrics.
        package var metricLabel: String { self.rawValue }
    }

    /// What signs every token.
    package let algorithm: Algorithm
    private let key: [UInt8]
    private let keyID: String?
    private let method: UInt32

    /// - Parameters:
    ///   - key: the shared secret for HS, a PEM private key for RS and ES.
    ///   - keyID: the `kid` of every token.
    package init(_ algorithm: Algorithm, key: [UInt8], keyID: String? = nil) throws(Failure) {
        guard let method = Self.method(of: algorithm) else { throw .unsupportedAlgorithm }
        if algorithm.family == .hmac {
            guard key.count >= algorithm.hash?.byteCount ?? .max else { throw .unsuitableKey }
        } else {
            guard let read = PrivateKey(pem: key.span), read.algorithms.contains(algorithm) else {
                throw .unsuitableKey
            }
        }
        self.algorithm = algorithm
        self.key = key
        self.keyID = keyID
        self.method = method.rawValue
    }

    /// Signs claims, a JSON object, into a compact token. Its `typ` is `JWT`: libjwt writes no other.
    package func issue(claims: [UInt8]) throws(Failure) -> [UInt8] {
        try Self.check(claims)
        var token: OpaquePointer?
        guard jwt_new(&token) == 0, let token else { throw .signingFailed }
        defer { jwt_free(token) }
        let text = String(decoding: claims, as: UTF8.self)
        guard jwt_add_grants_json(token, text) == 0 else { throw .invalidClaims }
        guard jwt_set_alg(token, jwt_alg_t(rawValue: self.method), self.key, Int32(clamping: self.key.count)) == 0
        else {
            throw .signingFailed
        }
        if let keyID = self.keyID, jwt_add_header(token, "kid", keyID) != 0 { throw .signingFailed }
        guard let encoded = jwt_encode_str(token) else { throw .signingFailed }
        defer { askgate_jwt_free_string(encoded) }
        return Array(UnsafeRawBufferPointer(start: encoded, count: Self.length(of: encoded)))
    }

    /// The same with a `typ` of the caller's.
    package func issue(claims: [UInt8], type: String) throws(Failure) -> [UInt8] {
        if type == "JWT" { return try self.issue(claims: claims) }
        try Self.check(claims)
        var header = JSONWriter()
        header.beginObject()
        for (name, value) in [("alg", self.algorithm.rawValue), ("typ", type), ("kid", self.keyID)] {
            guard let value else { continue }
            var name = name
            name.withUTF8 { header.name(utf8: $0) }
            header.string(value)
        }
        header.endObject()
        let signed = Base64URL.encode(header.bytes.span) + [UInt8(ascii: ".")] + Base64URL.encode(claims.span)
        guard let signature = self.signature(over: signed) else { throw .signingFailed }
        return signed + [UInt8(ascii: ".")] + Base64URL.encode(signature.span)
    }

    private func signature(over signed: [UInt8]) -> [UInt8]? {
        if self.algorithm.family != .hmac {
            return PrivateKey(pem: self.key.span)?.sign(signed.span, with: self.algorithm)
        }
        return self.algorithm.hash.flatMap { MessageAuthenticator($0, secret: self.key.span) }?.code(for: signed.span)
    }

    /// libjwt keeps the last of two members, and a large token overflows its stack.
    private static func check(_ claims: [UInt8]) throws(Failure) {
        guard let document = try? JSONDocument(parsing: claims, limits: JSONLimits(bytes: 6144, depth: 16)),
            document.root.kind == .object
        else { throw .invalidClaims }
    }

    private static func length(of text: UnsafePointer<CChar>) -> Int {
        var count = 0
        while text[count] != 0 { count += 1 }
        return count
    }

    private static func method(of algorithm: Algorithm) -> jwt_alg_t? {
        switch algorithm {
        case .hs256: JWT_ALG_HS256
        case .hs384: JWT_ALG_HS384
        case .hs512: JWT_ALG_HS512
        case .rs256: JWT_ALG_RS256
        case .rs384: JWT_ALG_RS384
        case .rs512: JWT_ALG_RS512
        case .es256: JWT_ALG_ES256
        case .es384: JWT_ALG_ES384
        case .es512: JWT_ALG_ES512
        default: nil
        }
    }
}
