internal import JSON

/// A key that was read, checked and prepared once, with a verifier for each algorithm it may serve.
package struct VerificationKey: Sendable {
    /// Compared as bytes; nil when the key has none.
    package let keyID: [UInt8]?
    private let verifiers: [SignatureVerifier]

    /// Reads one JWK.
    ///
    /// - Parameter allowsSecret: whether a shared secret (`oct`) may be read; only for keys of our own.
    package init(jwk text: Span<UInt8>, allowsSecret: Bool = false) throws(KeyFailure) {
        let root: JSONValue
        do throws(JSONFailure) {
            root = try JSONDocument(parsing: text, limits: JSONLimits(bytes: 65536, depth: 8)).root
        } catch { throw .malformed }
        try self.init(JSONWebKey(root, allowsSecret: allowsSecret))
    }

    /// Reads a PEM public key (`BEGIN PUBLIC KEY`).
    ///
    /// - Parameter algorithm: the only one the key may serve; nil allows all that fit its type.
    package init(pem text: Span<UInt8>, keyID: [UInt8]? = nil, algorithm: Algorithm? = nil) throws(KeyFailure) {
        let material = try KeyMaterial(pem: text)
        try material.check()
        try self.init(material, keyID: keyID, algorithm: algorithm)
    }

    /// Takes a shared secret for HMAC; for tokens of our own only. At least 32 bytes.
    package init(secret: [UInt8], keyID: [UInt8]? = nil, algorithm: Algorithm? = nil) throws(KeyFailure) {
        let material = KeyMaterial.secret(secret)
        try material.check()
        try self.init(material, keyID: keyID, algorithm: algorithm)
    }

    init(_ key: JSONWebKey) throws(KeyFailure) {
        try self.init(key.material, keyID: key.keyID, algorithm: key.algorithm)
    }

    private init(_ material: KeyMaterial, keyID: [UInt8]?, algorithm: Algorithm?) throws(KeyFailure) {
        let wanted = material.algorithms.filter { algorithm == nil || $0.canonical == algorithm?.canonical }
        guard !wanted.isEmpty else { throw .algorithmMismatch }
        self.keyID = keyID
        if case .secret(let secret) = material {
            self.verifiers = wanted.compactMap { SignatureVerifier($0, secret: secret) }
        } else {
            let handle = try PublicKeyHandle(material)
            self.verifiers = wanted.compactMap { SignatureVerifier($0, key: handle) }
        }
        guard self.verifiers.count == wanted.count else { throw .unsupportedType }
    }

    /// Algorithms that the key may serve.
    package var algorithms: [Algorithm] { self.verifiers.map(\.algorithm) }

    /// The verifier for an algorithm; nil when the key must not be used with it.
    package func verifier(for algorithm: Algorithm) -> SignatureVerifier? {
        for verifier in self.verifiers where verifier.algorithm == algorithm { return verifier }
        return nil
    }
}
