internal import JSON

/// The keys of one issuer, never changed; a refresh makes another.
package struct KeySet: Sendable {
    /// Why a whole set was refused.
    package enum Failure: String, Error, Sendable, CaseIterable {
        /// Not strict JSON, or larger than a set may be.
        case notJSON = "not_json"
        /// No object with an array `keys`.
        case notAKeySet = "not_a_key_set"
        /// Not one key that can be used; such a set never replaces a good one.
        case noUsableKey = "no_usable_key"

        /// Bounded name for metrics.
        package var metricLabel: String { self.rawValue }
    }

    /// A key that was left out while the others were kept (RFC 7517 §5).
    package struct Skipped: Sendable, Hashable {
        /// Its place in the set, from 0.
        package let index: Int
        /// Why it was left out.
        package let reason: KeyFailure
    }

    /// Most keys of one set; those after it are left out.
    package static let maximumKeys = 100
    /// Longest text of a set.
    package static let maximumBytes = 256 * 1024

    /// What was left out, in the order of the set.
    package let skipped: [Skipped]
    /// Of the text the set was read from; tells whether a refresh brought anything new.
    package let digest: SHA256Digest?
    /// The usable keys, in the order of the set.
    package let keys: [VerificationKey]

    /// Reads a set as RFC 7517 §5 writes it, leaving out each key that cannot be used.
    ///
    /// - Parameter allowsSecrets: whether shared secrets may be read; never for a set that came from elsewhere.
    package init(jwks text: Span<UInt8>, allowsSecrets: Bool = false) throws(Failure) {
        let root: JSONValue
        do throws(JSONFailure) {
            root = try JSONDocument(parsing: text, limits: JSONLimits(bytes: Self.maximumBytes, depth: 16)).root
        } catch { throw .notJSON }
        guard let values = root["keys"], values.kind == .array else { throw .notAKeySet }
        // A secret beside public keys invites taking one for the other; then only the public ones are read.
        let isMixed = values.elements.contains { $0["kty"]?.isString("oct") != true }
        var candidates: [(index: Int, key: VerificationKey)] = []
        var skipped: [Skipped] = []
        var broken: [[UInt8]] = []
        for (index, value) in values.elements.enumerated() {
            do throws(KeyFailure) {
                guard index < Self.maximumKeys else { throw .tooManyKeys }
                candidates.append(
                    (index, try VerificationKey(JSONWebKey(value, allowsSecret: allowsSecrets && !isMixed))))
            } catch {
                skipped.append(Skipped(index: index, reason: error))
                // A key for another purpose may share the id of one for signing; a broken twin may not.
                let isOtherwiseUsed = error == .wrongUse || error == .unsupportedType
                if !isOtherwiseUsed, let keyID = value["kid"]?.bytes { broken.append(keyID) }
            }
        }
        self.init(candidates, skipped: skipped, broken: broken, digest: SHA256Digest(of: text))
        guard !self.keys.isEmpty else { throw .noUsableKey }
    }

    /// Holds keys read one by one; those that share an id are left out.
    package init(_ keys: [VerificationKey]) {
        self.init(keys.enumerated().map { ($0, $1) }, skipped: [], broken: [], digest: nil)
    }

    private init(
        _ candidates: [(index: Int, key: VerificationKey)], skipped: [Skipped], broken: [[UInt8]],
        digest: SHA256Digest?
    ) {
        self.digest = digest
        var counts: [[UInt8]: Int] = [:]
        for keyID in candidates.compactMap(\.key.keyID) + broken { counts[keyID, default: 0] += 1 }
        var keys: [VerificationKey] = []
        var skipped = skipped
        for (index, key) in candidates {
            if let keyID = key.keyID, counts[keyID, default: 0] > 1 {
                skipped.append(Skipped(index: index, reason: .duplicateKeyID))
            } else {
                keys.append(key)
            }
        }
        self.keys = keys
        self.skipped = skipped.sorted { $0.index < $1.index }
    }

    /// Keys that can be used.
    package var count: Int { self.keys.count }
    /// Whether no key can be used.
    package var isEmpty: Bool { self.keys.isEmpty }

    /// Whether some key is a shared secret.
    package var hasSecrets: Bool { self.keys.contains { $0.algorithms.contains { $0.family == .hmac } } }
    /// Whether some key is a public one.
    package var hasPublicKeys: Bool { self.keys.contains { $0.algorithms.contains { $0.family != .hmac } } }

    /// Whether some key of the set could serve the algorithm.
    package func serves(_ algorithm: Algorithm) -> Bool {
        self.keys.contains { $0.verifier(for: algorithm) != nil }
    }

    /// Whether some key has exactly this id.
    package func contains(keyID: [UInt8]) -> Bool { self.keys.contains { $0.keyID == keyID } }

    /// The one verifier for a token's key id and algorithm.
    ///
    /// A token without an id is served only when exactly one key fits the algorithm; one with an id never by another
    /// key. `unknownKey` may be worth a refresh of the set, nothing else is.
    package func verifier(keyID: [UInt8]?, algorithm: Algorithm) throws(TokenFailure) -> SignatureVerifier {
        guard let keyID else {
            var found: SignatureVerifier?
            for key in self.keys {
                guard let verifier = key.verifier(for: algorithm) else { continue }
                guard found == nil else { throw .unknownKey }
                found = verifier
            }
            guard let found else { throw .unknownKey }
            return found
        }
        for key in self.keys where key.keyID == keyID {
            guard let verifier = key.verifier(for: algorithm) else { throw .keyMismatch }
            return verifier
        }
        throw .unknownKey
    }
}
