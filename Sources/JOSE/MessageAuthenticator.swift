internal import COpenSSL

// Sendable: the prepared context is only copied from, which OpenSSL allows concurrently.
/// HMAC with one secret (RFC 2104), prepared once. Usable from any thread at the same time.
package final class MessageAuthenticator: @unchecked Sendable {
    /// The hash inside; its size is the code's.
    package let hash: Hash
    private let context: OpaquePointer

    /// Nil when the secret is empty or OpenSSL refuses it.
    package init?(_ hash: Hash, secret: Span<UInt8>) {
        guard !secret.isEmpty, let context = EVP_MAC_CTX_new(Self.method) else { return nil }
        let prepared = secret.withUnsafeBufferPointer {
            askgate_mac_init(context, $0.baseAddress, $0.count, hash.rawValue) == 1
        }
        guard prepared else {
            EVP_MAC_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        self.hash = hash
        self.context = context
    }

    deinit { EVP_MAC_CTX_free(self.context) }

    /// The code of a message, as many bytes as the hash has.
    package func code(for message: Span<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: self.hash.byteCount) { output, count in
            count = self.write(message, to: output) ? self.hash.byteCount : 0
        }
    }

    /// Compares in constant time.
    package func verify(_ code: Span<UInt8>, for message: Span<UInt8>) -> Bool {
        guard code.count == self.hash.byteCount else { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: self.hash.byteCount) { own in
            guard self.write(message, to: own) else { return false }
            return code.withUnsafeBufferPointer { CRYPTO_memcmp(own.baseAddress, $0.baseAddress, own.count) == 0 }
        }
    }

    private func write(_ message: Span<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        guard let context = EVP_MAC_CTX_dup(self.context) else { return false }
        defer { EVP_MAC_CTX_free(context) }
        var count = 0
        return message.withUnsafeBufferPointer { message in
            EVP_MAC_update(context, message.baseAddress, message.count) == 1
                && EVP_MAC_final(context, output.baseAddress, &count, output.count) == 1
                && count == self.hash.byteCount
        }
    }

    // Sendable: methods never change after they were fetched.
    nonisolated(unsafe) private static let method = EVP_MAC_fetch(nil, "HMAC", nil)
}
