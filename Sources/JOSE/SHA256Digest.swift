internal import COpenSSL

/// 32 bytes that stand for others; used as a key where the others must not be kept.
package struct SHA256Digest: Hashable, Sendable {
    private var a: UInt64 = 0
    private var b: UInt64 = 0
    private var c: UInt64 = 0
    private var d: UInt64 = 0

    fileprivate init() {}

    /// The 32 bytes.
    package var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }

    package static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
        (left.a ^ right.a) | (left.b ^ right.b) | (left.c ^ right.c) | (left.d ^ right.d) == 0
    }

    /// Any eight bytes of a digest are as random as all of them.
    package func hash(into hasher: inout Hasher) { hasher.combine(self.a) }

    /// Hashes with a context of its own; where it is done often, keep a `SHA256Hasher`.
    package init(of bytes: Span<UInt8>) { self = SHA256Hasher().digest(of: bytes) }
}

/// Makes digests with one context; belongs to one thread at a time.
package final class SHA256Hasher {
    private let context = EVP_MD_CTX_new()

    package init() {}

    deinit { EVP_MD_CTX_free(self.context) }

    /// Hashes all of the bytes at once.
    package func digest(of bytes: Span<UInt8>) -> SHA256Digest {
        var digest = SHA256Digest()
        let done = withUnsafeMutableBytes(of: &digest) { output in
            bytes.withUnsafeBufferPointer { bytes in
                EVP_DigestInit_ex(self.context, Hash.sha256.method, nil) == 1
                    && EVP_DigestUpdate(self.context, bytes.baseAddress, bytes.count) == 1
                    && EVP_DigestFinal_ex(
                        self.context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
            }
        }
        // Only a process without memory or without OpenSSL's provider gets here, never anything a peer sends; a
        // wrong digest could show one subject's answer to another.
        precondition(done, "SHA-256 is not available")
        return digest
    }
}
