internal import COpenSSL

extension KeyMaterial {
    /// Reads a PEM public key (`BEGIN PUBLIC KEY`) into its numbers, so that it meets the same checks as a JWK.
    init(pem: Span<UInt8>) throws(KeyFailure) {
        defer { ERR_clear_error() }
        let key = pem.withUnsafeBytes { bytes -> OpaquePointer? in
            let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
            defer { BIO_free(bio) }
            return PEM_read_bio_PUBKEY(bio, nil, nil, nil)
        }
        guard let key else { throw .malformed }
        self = try KeyMaterial(PublicKeyHandle(owning: key))
    }

    /// Takes a key's public numbers out of OpenSSL.
    init(_ handle: PublicKeyHandle) throws(KeyFailure) {
        let key = handle.key
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA:
            guard let modulus = Self.number(OSSL_PKEY_PARAM_RSA_N, of: key),
                let exponent = Self.number(OSSL_PKEY_PARAM_RSA_E, of: key)
            else { throw .malformed }
            self = .rsa(modulus: modulus, exponent: exponent)
        case EVP_PKEY_EC:
            guard let curve = Self.curve(of: key) else { throw .unsupportedType }
            let size = curve.coordinateBytes
            guard let x = Self.number(OSSL_PKEY_PARAM_EC_PUB_X, of: key, size: size),
                let y = Self.number(OSSL_PKEY_PARAM_EC_PUB_Y, of: key, size: size)
            else { throw .malformed }
            self = .ec(curve, x: x, y: y)
        case EVP_PKEY_ED25519:
            var point = [UInt8](repeating: 0, count: 32)
            var count = point.count
            guard EVP_PKEY_get_raw_public_key(key, &point, &count) == 1, count == 32 else { throw .malformed }
            self = .ed25519(point)
        default: throw .unsupportedType
        }
    }

    private static func curve(of key: OpaquePointer) -> Curve? {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
        return Curve.allCases.first { $0.groupName.utf8.elementsEqual(name.prefix(count).map(UInt8.init(bitPattern:))) }
    }

    /// A big-endian number of the key, without leading zeros or padded to a size.
    private static func number(_ name: String, of key: OpaquePointer, size: Int? = nil) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { return nil }
        defer { BN_free(number) }
        let size = size ?? Int(BN_num_bits(number) + 7) / 8
        var bytes = [UInt8](repeating: 0, count: size)
        guard BN_bn2binpad(number, &bytes, Int32(clamping: size)) >= 0 else { return nil }
        return bytes
    }
}
