package import EventLoops
package import GatewayTypes
package import HTTPCodec

/// One request and its answer. On the loop of its connection; not to be kept after the handler has returned.
package final class Exchange {
    package let head: HTTPRequestHead
    package let receivedAt: MonotonicTime
    package let peer: PeerAddress
    package let loop: EventLoop
    package fileprivate(set) var isAnswered = false
    /// Whether the client has gone, so that nothing written is read any more.
    package var isClientGone: Bool { self.connection.isGone }
    /// Called once when the client goes away before the answer is complete.
    package var onClientGone: (() -> Void)? {
        didSet { if self.onClientGone != nil, self.isClientGone { self.tellClientGone() } }
    }
    /// Called when no bytes are held for a slow client any more: all sent, or let go since it went away. May be called
    /// when none were.
    package var onDrained: (() -> Void)?
    /// Called when a drain's deadline has come and the answer has to end now.
    package var onDeadline: (() -> Void)?
    unowned let connection: Connection
    private var chunk: [UInt8] = []
    private var mark: ChunkWriter.Mark?

    init(head: HTTPRequestHead, receivedAt: MonotonicTime, connection: Connection) {
        self.head = head
        self.receivedAt = receivedAt
        self.connection = connection
        self.peer = connection.peer
        self.loop = connection.loop
    }

    /// Waits for the whole body. One that is encoded is refused at once.
    ///
    /// - Parameter limit: in bytes, after any chunked coding is taken off. Announced sizes above it fail at once.
    package func readBody(limit: Int) async throws(HTTPServerFailure) -> [UInt8] {
        if self.head.range(of: .contentEncoding) != nil { try self.refuseCoding() }
        return try await self.connection.readBody(limit: limit)
    }

    @inline(never)
    private func refuseCoding() throws(HTTPServerFailure) {
        var isCoded = false
        self.head.forEachValue(of: .contentEncoding) { if !MediaType.isIdentity($0) { isCoded = true } }
        if isCoded { throw .contentCoding }
    }

    // MARK: Answering

    /// Sends a whole answer. Later calls do nothing.
    ///
    /// - Parameter fields: appends header lines with `MessageWriter`, the media type among them.
    package func respond(_ status: Int, body: [UInt8], fields: (inout [UInt8]) -> Void) {
        guard !self.isAnswered else { return }
        self.isAnswered = true
        self.connection.send { output in
            self.connection.beginHead(status, to: &output)
            // RFC 9110 §8.6: an answer that has no body by its status tells no length.
            if status != 204 { MessageWriter.field("content-length", body.count, to: &output) }
            fields(&output)
            MessageWriter.endOfHead(to: &output)
            if self.head.method != .head { output.append(contentsOf: body) }
        }
    }

    /// Begins an answer whose length is not known; pieces follow with `write`.
    package func beginStream(_ status: Int, fields: (inout [UInt8]) -> Void) {
        guard !self.isAnswered else { return }
        self.isAnswered = true
        let isChunked = self.head.minorVersion >= 1
        self.connection.beginStream(isChunked: isChunked)
        self.connection.beginHead(status, to: &self.chunk)
        if isChunked { MessageWriter.field("transfer-encoding", "chunked", to: &self.chunk) }
        fields(&self.chunk)
        MessageWriter.endOfHead(to: &self.chunk)
    }

    /// Gathers a piece of the stream; `flush` and `flushSoon` send what is gathered.
    package func write(_ append: (inout [UInt8]) -> Void) {
        guard self.connection.isStreaming else { return }
        if self.mark == nil, self.connection.isChunked { self.mark = ChunkWriter.open(in: &self.chunk) }
        append(&self.chunk)
    }

    /// Sends what is gathered.
    package func flush() {
        if let mark = self.mark {
            ChunkWriter.close(mark, in: &self.chunk)
            self.mark = nil
        }
        guard !self.chunk.isEmpty else { return }
        // Out of the way first: news of a broken connection may bring the answer's next piece before this returns.
        var sent: [UInt8] = []
        swap(&sent, &self.chunk)
        self.connection.send(sent)
        // A burst must not leave its buffer behind with every open stream.
        guard sent.capacity <= 512, self.chunk.isEmpty else { return }
        sent.removeAll(keepingCapacity: true)
        swap(&sent, &self.chunk)
    }

    /// Sends what is gathered when the loop has taken in everything that waits for it now: pieces that came together
    /// leave in one write, and peers are woken once for many streams instead of once for each.
    package func flushSoon() { self.connection.flushSoon() }

    /// Ends the stream: cleanly, or visibly broken when the answer is not whole (RFC 9112 §8).
    package func endStream(isComplete: Bool) {
        guard self.connection.isStreaming else { return }
        if let mark = self.mark {
            ChunkWriter.close(mark, in: &self.chunk)
            self.mark = nil
        }
        if isComplete, self.connection.isChunked { ChunkWriter.end(to: &self.chunk) }
        self.flush()
        self.connection.endStream(isComplete: isComplete)
    }

    /// Bytes held for a client that reads slowly, those not yet flushed among them.
    package var pendingBytes: Int { self.connection.pendingBytes &+ self.chunk.count }

    func tellClientGone() {
        let tell = self.onClientGone
        self.onClientGone = nil
        tell?()
    }

    func releaseCallbacks() {
        self.onClientGone = nil
        self.onDrained = nil
        self.onDeadline = nil
    }
}
