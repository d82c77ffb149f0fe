import EventLoops
import TLS

/// Told what comes over a transport. On the loop.
protocol RedisTransportDelegate: AnyObject {
    /// Bytes may be written from now on.
    func transportOpened()
    func transportReceived(_ bytes: UnsafeRawBufferPointer)
    /// Nothing more comes.
    func transportBroke(_ failure: RedisFailure)
}

/// A connected stream, bare or under TLS. On its loop.
final class RedisTransport: ByteStreamDelegate {
    unowned var delegate: any RedisTransportDelegate
    private let stream: ByteStream
    private let session: TLSClientSession?

    /// - Parameter host: connected to; the server's certificate has to be for it.
    init(
        _ stream: ByteStream, host: String, tls: TLSClientContext?, resuming resumption: TLSResumption?,
        delegate: any RedisTransportDelegate
    ) throws(TLSFailure) {
        self.stream = stream
        self.delegate = delegate
        if let tls {
            self.session = try TLSClientSession(tls, host: host, resuming: resumption)
        } else {
            self.session = nil
        }
    }

    func start() {
        self.stream.delegate = self
        self.stream.setReading(true)
        guard let session = self.session else { return self.delegate.transportOpened() }
        do throws(TLSFailure) {
            try session.start()
            self.sendCipher()
        } catch {
            self.delegate.transportBroke(.tls(error))
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        guard let session = self.session else { return self.stream.write(bytes) }
        do throws(TLSFailure) {
            try session.send(bytes)
            self.sendCipher()
        } catch {
            self.delegate.transportBroke(.tls(error))
        }
    }

    /// For the next connection to the same server.
    var resumption: TLSResumption? { self.session?.resumption() }

    func close() { self.stream.close() }

    private func sendCipher() { self.session?.takeOutput { self.stream.write($0) } }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        guard let session = self.session else { return self.delegate.transportReceived(bytes) }
        let wasEstablished = session.isEstablished
        // Replies may end this connection while they are handed on.
        let delegate = self.delegate
        do throws(TLSFailure) {
            var plain: [UInt8] = []
            try session.receive(bytes) { plain.append(contentsOf: $0) }
            self.sendCipher()
            if !wasEstablished, session.isEstablished { delegate.transportOpened() }
            if !plain.isEmpty { plain.withUnsafeBytes { delegate.transportReceived($0) } }
            if session.isEnded { delegate.transportBroke(.connectionLost) }
        } catch {
            // The alert tells the server why.
            self.sendCipher()
            delegate.transportBroke(.tls(error))
        }
    }

    func streamEnded(failed: Bool) { self.delegate.transportBroke(.connectionLost) }

    func streamDrained() {}
}
