/// Why a TLS connection was refused or broke.
package enum TLSFailure: Error, Hashable, Sendable, CaseIterable {
    /// A certificate or key file could not be read.
    case unusableFile
    /// The server's certificate, or one that vouches for it, is past its time or not yet valid.
    case expiredCertificate
    /// The certificate is for another host.
    case wrongHost
    /// Nobody that we trust vouches for the certificate.
    case unknownAuthority
    /// The certificate is refused for another reason.
    case untrustedCertificate
    /// No common version or cipher, an alert of the peer, or bytes that are no TLS.
    case handshakeFailed
    /// A record that does not fit, after the handshake.
    case broken

    /// A bounded name for metrics and logs.
    package var metricLabel: String {
        switch self {
        case .unusableFile: "tls_unusable_file"
        case .expiredCertificate: "tls_expired_certificate"
        case .wrongHost: "tls_wrong_host"
        case .unknownAuthority: "tls_unknown_authority"
        case .untrustedCertificate: "tls_untrusted_certificate"
        case .handshakeFailed: "tls_handshake_failed"
        case .broken: "tls_broken"
        }
    }
}
