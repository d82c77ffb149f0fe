internal import COpenSSL

// Sendable: the prepared contexts are only copied from, which OpenSSL allows concurrently.
/// Verifies raw bytes with one key and one algorithm, the pair being fixed when the key is loaded.
///
/// A token can therefore never choose how a key is used. Usable from any thread at the same time.
package final class SignatureVerifier: @unchecked Sendable {
    /// The one algorithm that this verifies.
    package let algorithm: Algorithm
    /// Bytes that every signature of this key has.
    package let signatureByteCount: Int

    private let key: PublicKeyHandle?
    private let context: OpaquePointer?
    private let authenticator: MessageAuthenticator?

    /// - Parameter key: fits the algorithm's family.
    init?(_ algorithm: Algorithm, key: PublicKeyHandle) {
        guard let context = EVP_MD_CTX_new() else { return nil }
        guard Self.prepare(context, algorithm, key: key.key) else {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        self.algorithm = algorithm
        self.signatureByteCount =
            switch algorithm.family {
            case .rsaPKCS1, .rsaPSS: Int(EVP_PKEY_get_size(key.key))
            case .ecdsa: (algorithm.curve?.coordinateBytes ?? 0) * 2
            case .ed25519: 64
            case .hmac: 0
            }
        self.key = key
        self.context = context
        self.authenticator = nil
    }

    /// - Parameter secret: at least as long as the algorithm's hash.
    init?(_ algorithm: Algorithm, secret: [UInt8]) {
        guard algorithm.family == .hmac, let hash = algorithm.hash, secret.count >= hash.byteCount,
            let authenticator = MessageAuthenticator(hash, secret: secret.span)
        else { return nil }
        self.algorithm = algorithm
        self.signatureByteCount = hash.byteCount
        self.key = nil
        self.context = nil
        self.authenticator = authenticator
    }

    deinit { EVP_MD_CTX_free(self.context) }

    /// Whether the signature, in the form of RFC 7518, is this key's over these bytes.
    package func verify(_ message: Span<UInt8>, signature: Span<UInt8>) -> Bool {
        guard signature.count == self.signatureByteCount else { return false }
        if let authenticator = self.authenticator { return authenticator.verify(signature, for: message) }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        // A copy of the prepared context costs a fraction of preparing one.
        guard EVP_MD_CTX_copy_ex(context, self.context) == 1 else { return Self.refused() }
        let valid =
            self.algorithm.family == .ecdsa
            ? Self.verifyECDSA(context, message, signature) : Self.verify(context, message, signature)
        return valid || Self.refused()
    }

    private static func verify(_ context: OpaquePointer, _ message: Span<UInt8>, _ signature: Span<UInt8>) -> Bool {
        message.withUnsafeBufferPointer { message in
            signature.withUnsafeBufferPointer { signature in
                EVP_DigestVerify(
                    context, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
            }
        }
    }

    private static func verifyECDSA(
        _ context: OpaquePointer, _ message: Span<UInt8>, _ signature: Span<UInt8>
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ECDSASignature.maximumDERBytes) { der in
            let count = ECDSASignature.writeDER(of: signature, to: der)
            return message.withUnsafeBufferPointer { message in
                EVP_DigestVerify(context, der.baseAddress, count, message.baseAddress, message.count) == 1
            }
        }
    }

    private static func prepare(_ context: OpaquePointer, _ algorithm: Algorithm, key: OpaquePointer) -> Bool {
        var parameters: OpaquePointer?
        guard EVP_DigestVerifyInit(context, &parameters, algorithm.hash?.method, nil, key) == 1 else { return false }
        guard algorithm.family == .rsaPSS else { return true }
        // RFC 7518 §3.5: MGF1 with the same hash, and a salt of the hash's length.
        return EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md(parameters, algorithm.hash?.method) == 1
    }

    /// A refused signature leaves entries in the thread's error queue, where TLS would find them.
    private static func refused() -> Bool {
        ERR_clear_error()
        return false
    }
}
