internal import COpenSSL

// Sendable: nothing here changes the key after `init`.
/// A signing key: for tokens of our own, for development, and for tests.
package final class PrivateKey: @unchecked Sendable {
    let handle: PublicKeyHandle

    private init?(_ key: OpaquePointer?) {
        guard let key else {
            ERR_clear_error()
            return nil
        }
        self.handle = PublicKeyHandle(owning: key)
    }

    /// Makes a new RSA key; nil when OpenSSL cannot.
    package static func generateRSA(bits: Int = 2048) -> PrivateKey? {
        UInt32(exactly: bits).flatMap { PrivateKey(askgate_generate_rsa($0)) }
    }

    /// Makes a new key on the curve of an ECDSA algorithm; nil for other algorithms.
    package static func generateEC(for algorithm: Algorithm = .es256) -> PrivateKey? {
        algorithm.curve.flatMap { PrivateKey(askgate_generate_ec($0.groupName)) }
    }

    /// Makes a new Ed25519 key; nil when OpenSSL cannot.
    package static func generateEd25519() -> PrivateKey? { PrivateKey(askgate_generate_ed25519()) }

    /// Reads an unencrypted PEM private key; nil when it is none.
    package convenience init?(pem: Span<UInt8>) {
        let key = pem.withUnsafeBytes { bytes -> OpaquePointer? in
            let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
            defer { BIO_free(bio) }
            // An empty passphrase, since OpenSSL would ask the terminal for one.
            var passphrase: CChar = 0
            return PEM_read_bio_PrivateKey(bio, nil, nil, &passphrase)
        }
        self.init(key)
    }

    /// Algorithms that the key can sign with.
    package var algorithms: [Algorithm] { (try? KeyMaterial(self.handle))?.algorithms ?? [] }

    /// Signs in the form of RFC 7518; nil when the key does not fit the algorithm.
    package func sign(_ message: Span<UInt8>, with algorithm: Algorithm) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard self.algorithms.contains(algorithm), let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var parameters: OpaquePointer?
        guard EVP_DigestSignInit(context, &parameters, algorithm.hash?.method, nil, self.handle.key) == 1 else {
            return nil
        }
        if algorithm.family == .rsaPSS {
            guard EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
            else { return nil }
        }
        var count = Int(EVP_PKEY_get_size(self.handle.key))
        var signature = [UInt8](repeating: 0, count: count)
        let signed = message.withUnsafeBufferPointer {
            EVP_DigestSign(context, &signature, &count, $0.baseAddress, $0.count) == 1
        }
        guard signed else { return nil }
        signature.removeLast(signature.count - count)
        guard let curve = algorithm.curve else { return signature }
        return ECDSASignature.raw(ofDER: signature, coordinateBytes: curve.coordinateBytes)
    }
}
