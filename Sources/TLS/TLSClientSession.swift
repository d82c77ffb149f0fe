import COpenSSL

/// What lets the next connection to the same server shake hands in one step, without its certificate's check.
package final class TLSResumption {
    fileprivate let raw: OpaquePointer

    fileprivate init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { SSL_SESSION_free(self.raw) }
}

/// One client's side of a TLS connection, over memory: cipher bytes in, plain bytes out, and back. No socket.
///
/// The owner sends whatever `takeOutput` gives, after every call. Used by one thread at a time.
package final class TLSClientSession {
    private let ssl: OpaquePointer
    /// Cipher bytes from the peer.
    private let input: OpaquePointer
    /// Cipher bytes for the peer.
    private let output: OpaquePointer
    package private(set) var isEstablished = false
    /// The peer has sent something under the connection's keys. Until then it may still refuse ours.
    private var isAccepted = false
    /// The peer has ended its side in the orderly way.
    package private(set) var isEnded = false

    /// - Parameter host: connected to, by name or address; the certificate has to be for it, unless the settings name
    ///   another.
    /// - Parameter resumption: of an earlier session with the same host and settings.
    package init(
        _ context: TLSClientContext, host: String, resuming resumption: TLSResumption? = nil
    ) throws(TLSFailure) {
        ERR_clear_error()
        guard let ssl = SSL_new(context.raw) else { throw .handshakeFailed }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            throw .handshakeFailed
        }
        self.ssl = ssl
        self.input = input
        self.output = output
        askgate_set_memory_end(input)
        SSL_set_bio(ssl, input, output)
        SSL_set_connect_state(ssl)
        if let resumption { SSL_set_session(ssl, resumption.raw) }
        try self.expect(context.settings.serverName ?? host)
    }

    deinit {
        // An end that OpenSSL holds for disorderly would spoil the session for the next connection.
        SSL_set_shutdown(self.ssl, SSL_SENT_SHUTDOWN)
        SSL_free(self.ssl)
    }

    /// Whether the handshake was cut short by an earlier session.
    package var isResumed: Bool { SSL_session_reused(self.ssl) == 1 }

    /// For the next connection; nil when the server has given nothing for it. Tickets of TLS 1.3 come some time after the
    /// handshake, so ask late.
    package func resumption() -> TLSResumption? {
        guard self.isEstablished, let session = SSL_get1_session(self.ssl) else { return nil }
        guard SSL_SESSION_is_resumable(session) == 1 else {
            SSL_SESSION_free(session)
            return nil
        }
        return TLSResumption(owning: session)
    }

    /// An address is looked for among the certificate's addresses, and is never sent as a name (RFC 6066 §3).
    private func expect(_ host: String) throws(TLSFailure) {
        if let parameters = SSL_get0_param(self.ssl), X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return }
        guard SSL_set1_host(self.ssl, host) == 1, askgate_set_server_name(self.ssl, host) == 1 else {
            throw .handshakeFailed
        }
    }

    /// Begins the handshake.
    package func start() throws(TLSFailure) { try self.shakeHands() }

    /// Takes cipher bytes, and lends the plain bytes that they hold.
    package func receive(
        _ cipher: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void
    ) throws(TLSFailure) {
        ERR_clear_error()
        guard let start = cipher.baseAddress, !cipher.isEmpty, let size = Int32(exactly: cipher.count) else { return }
        guard BIO_write(self.input, start, size) == size else { throw .broken }
        if !self.isEstablished { try self.shakeHands() }
        guard self.isEstablished else { return }
        try self.read(deliver)
    }

    private func shakeHands() throws(TLSFailure) {
        ERR_clear_error()
        let result = SSL_do_handshake(self.ssl)
        if result == 1 {
            self.isEstablished = true
            return
        }
        let error = SSL_get_error(self.ssl, result)
        guard error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE else { throw self.handshakeFailure() }
    }

    private func handshakeFailure() -> TLSFailure {
        switch Int32(SSL_get_verify_result(self.ssl)) {
        case X509_V_OK: .handshakeFailed
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: .expiredCertificate
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongHost
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            .unknownAuthority
        default: .untrustedCertificate
        }
    }

    private func read(_ deliver: (UnsafeRawBufferPointer) -> Void) throws(TLSFailure) {
        let failure = withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 16) { buffer -> TLSFailure? in
            while true {
                let count = SSL_read(self.ssl, buffer.baseAddress, Int32(buffer.count))
                if count > 0 {
                    self.isAccepted = true
                    deliver(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
                    continue
                }
                switch SSL_get_error(self.ssl, count) {
                case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
                case SSL_ERROR_ZERO_RETURN:
                    self.isEnded = true
                    return nil
                default: return self.isAccepted ? .broken : .handshakeFailed
                }
            }
        }
        if let failure { throw failure }
    }

    /// Encrypts bytes; only once established.
    package func send(_ plain: UnsafeRawBufferPointer) throws(TLSFailure) {
        ERR_clear_error()
        var rest = plain
        while !rest.isEmpty {
            let count = SSL_write(self.ssl, rest.baseAddress, Int32(clamping: rest.count))
            // The output is memory, which takes everything.
            guard count > 0 else { throw .broken }
            rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
        }
    }

    /// Lends cipher bytes that are to be sent, piece by piece.
    package func takeOutput(_ send: (UnsafeRawBufferPointer) -> Void) {
        while askgate_bio_pending(self.output) > 0 {
            let count = withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 16) { buffer in
                let count = BIO_read(self.output, buffer.baseAddress, Int32(buffer.count))
                if count > 0 { send(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)])) }
                return count
            }
            guard count > 0 else { return }
        }
    }
}

/// SHA-1 as Redis names scripts by it; good for nothing else.
package func scriptDigest(of bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    SHA1(bytes, bytes.count, &digest)
    return digest
}
