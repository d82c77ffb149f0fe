internal import COpenSSL

/// A hash function of SHA-2.
package enum Hash: String, Sendable, CaseIterable {
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    /// Bytes of a digest.
    package var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// OpenSSL's method, fetched once and kept for the life of the process: fetching at each use is slow in 3.0.
    var method: OpaquePointer? {
        switch self {
        case .sha256: Self.sha256Method
        case .sha384: Self.sha384Method
        case .sha512: Self.sha512Method
        }
    }

    // Sendable: methods never change after they were fetched.
    nonisolated(unsafe) private static let sha256Method = EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) private static let sha384Method = EVP_MD_fetch(nil, "SHA384", nil)
    nonisolated(unsafe) private static let sha512Method = EVP_MD_fetch(nil, "SHA512", nil)
}
