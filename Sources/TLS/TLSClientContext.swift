import COpenSSL

/// What a client asks of servers: whom it trusts, and how it shows itself.
package struct TLSClientSettings: Hashable, Sendable {
    /// PEM file of the authorities to trust; nil for the system's.
    package var authorityFile: String?
    /// PEM file of our own certificate chain, where the server wants one.
    package var certificateFile: String?
    /// PEM file of the key that goes with it.
    package var keyFile: String?
    /// Name that the certificate must carry, and that is sent as SNI; nil for the host connected to.
    package var serverName: String?

    package init(
        authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil, serverName: String? = nil
    ) {
        self.authorityFile = authorityFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.serverName = serverName
    }
}

/// Settings made ready, shared by all connections that use them. TLS 1.2 at least.
package final class TLSClientContext: @unchecked Sendable {
    // Unchecked: OpenSSL counts references to a context under locks of its own, and nothing here changes it.
    let raw: OpaquePointer
    let settings: TLSClientSettings

    /// - Throws: `unusableFile` when a file cannot be read or a key does not fit its certificate.
    package init(_ settings: TLSClientSettings) throws(TLSFailure) {
        guard let raw = SSL_CTX_new(TLS_client_method()) else { throw .handshakeFailed }
        self.raw = raw
        self.settings = settings
        ERR_clear_error()
        guard askgate_require_tls12(raw) == 1 else { throw .handshakeFailed }
        askgate_set_modes(raw)
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
        if let file = settings.authorityFile {
            guard SSL_CTX_load_verify_locations(raw, file, nil) == 1 else { throw .unusableFile }
        } else {
            guard SSL_CTX_set_default_verify_paths(raw) == 1 else { throw .unusableFile }
        }
        if let file = settings.certificateFile {
            guard SSL_CTX_use_certificate_chain_file(raw, file) == 1,
                SSL_CTX_use_PrivateKey_file(raw, settings.keyFile ?? file, SSL_FILETYPE_PEM) == 1,
                SSL_CTX_check_private_key(raw) == 1
            else { throw .unusableFile }
        }
    }

    deinit { SSL_CTX_free(self.raw) }
}
