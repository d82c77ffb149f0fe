internal import JSON

/// The header of a token. Nothing in it is trusted: `jku`, `jwk`, `x5u`, `x5c` and `x5t` are not even read.
package struct JWSHeader: Sendable {
    /// What the token says it was signed with; the issuer and the key decide whether that may be.
    package let algorithm: Algorithm
    /// Opaque bytes, at most 256; never fit for a path, a label or a log.
    package let keyID: [UInt8]?
    /// As written.
    package let type: [UInt8]?

    /// Longest `kid` of a token or key.
    package static let maximumKeyIDBytes = 256

    /// Reads the strict JSON object of at most 2 KiB and four levels that a header is.
    package init(parsing json: Span<UInt8>) throws(TokenFailure) {
        let root: JSONValue
        do throws(JSONFailure) {
            root = try JSONDocument(parsing: json, limits: JSONLimits(bytes: 2048, depth: 4)).root
        } catch { throw .invalidHeader }
        guard root.kind == .object else { throw .invalidHeader }
        for name in ["crit", "b64", "zip", "enc"] where root[name] != nil { throw .unsupportedHeader }
        guard let named = root["alg"]?.withString({ Algorithm(utf8: $0.span) }) else { throw .invalidHeader }
        guard let algorithm = named else { throw .algorithmNotAllowed }
        self.algorithm = algorithm
        self.keyID = try Self.bytes(of: root["kid"], atMost: Self.maximumKeyIDBytes)
        self.type = try Self.bytes(of: root["typ"], atMost: 64)
    }

    private static func bytes(of value: JSONValue?, atMost limit: Int) throws(TokenFailure) -> [UInt8]? {
        guard let value else { return nil }
        guard let bytes = value.bytes, bytes.count <= limit else { throw .invalidHeader }
        return bytes
    }
}
