internal import COpenSSL
internal import JSON

extension PrivateKey {
    /// The whole key as PKCS #8 PEM, unencrypted.
    package var privatePEM: String? {
        Self.text { PEM_write_bio_PKCS8PrivateKey($0, self.handle.key, nil, nil, 0, nil, nil) == 1 }
    }

    /// The public part as PEM (`BEGIN PUBLIC KEY`).
    package var publicPEM: String? { Self.text { PEM_write_bio_PUBKEY($0, self.handle.key) == 1 } }

    /// The public part as a JWK; nil for keys of types that have none here.
    package func publicJWK(keyID: String? = nil, algorithm: Algorithm? = nil) -> String? {
        guard let material = try? KeyMaterial(self.handle) else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        func member(_ name: StaticString, _ value: String) {
            writer.name(name)
            writer.string(value)
        }
        func number(_ name: StaticString, _ bytes: [UInt8]) {
            writer.name(name)
            writer.string(utf8: Base64URL.encode(bytes.span))
        }
        switch material {
        case .rsa(let modulus, let exponent):
            member("kty", "RSA")
            number("n", modulus)
            number("e", exponent)
        case .ec(let curve, let x, let y):
            member("kty", "EC")
            member("crv", curve.rawValue)
            number("x", x)
            number("y", y)
        case .ed25519(let point):
            member("kty", "OKP")
            member("crv", "Ed25519")
            number("x", point)
        case .secret: return nil
        }
        member("use", "sig")
        if let algorithm { member("alg", algorithm.rawValue) }
        if let keyID { member("kid", keyID) }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func text(_ write: (OpaquePointer?) -> Bool) -> String? {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        guard write(bio) else {
            ERR_clear_error()
            return nil
        }
        var data: UnsafeMutablePointer<CChar>?
        let count = askgate_memory_bio_data(bio, &data)
        guard let data, count > 0 else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    }
}
