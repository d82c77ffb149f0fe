internal import JSON

/// A public key or a shared secret as RFC 7517 writes it, read and checked.
struct JSONWebKey {
    let material: KeyMaterial
    let keyID: [UInt8]?
    /// What the key says it is for; nil when it does not say.
    let algorithm: Algorithm?

    /// - Parameter allowsSecret: whether `oct` may be read; never for a set that came from elsewhere.
    init(_ value: JSONValue, allowsSecret: Bool) throws(KeyFailure) {
        guard value.kind == .object else { throw .malformed }
        let isSecret = value["kty"]?.isString("oct") ?? false
        if isSecret, !allowsSecret { throw .symmetricKey }
        for name in ["d", "p", "q", "dp", "dq", "qi", "oth"] + (isSecret ? [] : ["k"]) where value[name] != nil {
            throw .privateMembers
        }
        try Self.checkUse(value)
        self.material = try Self.material(value)
        try self.material.check()
        self.algorithm = try Self.algorithm(value, material: self.material)
        self.keyID = try Self.keyID(value)
    }

    private static func checkUse(_ value: JSONValue) throws(KeyFailure) {
        if let use = value["use"], !use.isString("sig") { throw .wrongUse }
        guard let operations = value["key_ops"] else { return }
        guard operations.elements.contains(where: { $0.isString("verify") }) else { throw .wrongUse }
    }

    private static func material(_ value: JSONValue) throws(KeyFailure) -> KeyMaterial {
        guard let type = value["kty"]?.string else { throw .malformed }
        switch type {
        case "RSA":
            let modulus = try Self.bytes("n", of: value).drop { $0 == 0 }
            return .rsa(modulus: Array(modulus), exponent: Array(try Self.bytes("e", of: value).drop { $0 == 0 }))
        case "EC":
            guard let curve = value["crv"]?.string.flatMap(Curve.init(rawValue:)) else { throw .unsupportedType }
            return .ec(curve, x: try Self.bytes("x", of: value), y: try Self.bytes("y", of: value))
        case "OKP":
            guard value["crv"]?.isString("Ed25519") == true else { throw .unsupportedType }
            return .ed25519(try Self.bytes("x", of: value))
        case "oct": return .secret(try Self.bytes("k", of: value))
        default: throw .unsupportedType
        }
    }

    private static func algorithm(_ value: JSONValue, material: KeyMaterial) throws(KeyFailure) -> Algorithm? {
        guard let named = value["alg"] else { return nil }
        guard let algorithm = named.withString({ Algorithm(utf8: $0.span) }).flatMap({ $0 }) else {
            throw .algorithmMismatch
        }
        guard material.algorithms.contains(algorithm) else {
            if case .secret = material, algorithm.family == .hmac { throw .shortSecret }
            throw .algorithmMismatch
        }
        return algorithm
    }

    private static func keyID(_ value: JSONValue) throws(KeyFailure) -> [UInt8]? {
        guard let named = value["kid"] else { return nil }
        guard let bytes = named.bytes, bytes.count <= JWSHeader.maximumKeyIDBytes else { throw .malformed }
        return bytes
    }

    private static func bytes(_ name: String, of value: JSONValue) throws(KeyFailure) -> [UInt8] {
        guard let decoded = value[name]?.withString({ Base64URL.decode($0.span) }), let bytes = decoded else {
            throw .malformed
        }
        return bytes
    }
}
