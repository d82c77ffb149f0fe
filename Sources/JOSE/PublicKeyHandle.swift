internal import COpenSSL

// Sendable: OpenSSL counts its own references atomically, and nothing here changes the key after `init`.
/// An OpenSSL key, freed with its last user.
final class PublicKeyHandle: @unchecked Sendable {
    let key: OpaquePointer

    /// Takes over the caller's reference.
    init(owning key: OpaquePointer) { self.key = key }

    deinit { EVP_PKEY_free(self.key) }

    /// Builds the key; the material must have been checked.
    convenience init(_ material: KeyMaterial) throws(KeyFailure) {
        switch material {
        case .rsa(let modulus, let exponent):
            self.init(owning: try Self.make(type: "RSA") { Self.rsaParameters(modulus: modulus, exponent: exponent) })
        case .ec(let curve, let x, let y):
            self.init(owning: try Self.make(type: "EC") { Self.pointParameters(curve, point: [4] + x + y) })
            try self.checkPoint()
        case .ed25519(let point):
            guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, point, point.count) else {
                throw Self.failed(.invalidPoint)
            }
            self.init(owning: key)
        case .secret: throw .unsupportedType
        }
    }

    private static func make(
        type: String, parameters: () -> UnsafeMutablePointer<OSSL_PARAM>?
    ) throws(KeyFailure) -> OpaquePointer {
        guard let parameters = parameters() else { throw Self.failed(.malformed) }
        defer { OSSL_PARAM_free(parameters) }
        let context = EVP_PKEY_CTX_new_from_name(nil, type, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, askgate_public_key_selection(), parameters) == 1, let key
        else { throw Self.failed(.invalidPoint) }
        return key
    }

    private static func rsaParameters(modulus: [UInt8], exponent: [UInt8]) -> UnsafeMutablePointer<OSSL_PARAM>? {
        let builder = OSSL_PARAM_BLD_new()
        let n = BN_bin2bn(modulus, Int32(clamping: modulus.count), nil)
        let e = BN_bin2bn(exponent, Int32(clamping: exponent.count), nil)
        defer {
            OSSL_PARAM_BLD_free(builder)
            BN_free(n)
            BN_free(e)
        }
        guard askgate_push_rsa(builder, n, e) == 1 else { return nil }
        return OSSL_PARAM_BLD_to_param(builder)
    }

    private static func pointParameters(_ curve: Curve, point: [UInt8]) -> UnsafeMutablePointer<OSSL_PARAM>? {
        let builder = OSSL_PARAM_BLD_new()
        defer { OSSL_PARAM_BLD_free(builder) }
        // The builder keeps the pointers until the parameters are made, so both have to live until then.
        return curve.groupName.withCString { name in
            point.withUnsafeBytes { point in
                guard askgate_push_point(builder, name, point.baseAddress, point.count) == 1 else { return nil }
                return OSSL_PARAM_BLD_to_param(builder)
            }
        }
    }

    private func checkPoint() throws(KeyFailure) {
        let context = EVP_PKEY_CTX_new_from_pkey(nil, self.key, nil)
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_public_check(context) == 1 else { throw Self.failed(.invalidPoint) }
    }

    /// OpenSSL's queue of errors belongs to the thread; what is left there would be taken for a later call's.
    private static func failed(_ failure: KeyFailure) -> KeyFailure {
        ERR_clear_error()
        return failure
    }
}
