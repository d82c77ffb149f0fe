/// How far a decoder came with the bytes it was given.
package struct ChunkProgress: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        case needMore
        /// The body has ended; bytes after `consumed` belong to the next message.
        case complete
        case failed(HTTPFailure)
    }

    /// Bytes taken from the input; never more than it had.
    package let consumed: Int
    package let state: State

    package init(consumed: Int, state: State) {
        self.consumed = consumed
        self.state = state
    }
}

/// Takes the `chunked` coding off a body (RFC 9112 §7.1): strict, resumable at any byte.
///
/// Chunk extensions are checked and ignored; trailers are checked and thrown away, never merged into the head.
package struct ChunkedDecoder: Sendable {
    private enum State: Sendable {
        // Each state may also go to `ended` with a failure.
        /// In a chunk's first line; then `data`, or `trailers` after the last chunk.
        case header
        /// Bytes of the chunk still to come; then `dataCarriageReturn`.
        case data(Int)
        /// Then `dataLineFeed`.
        case dataCarriageReturn
        /// Then `header`.
        case dataLineFeed
        /// Then `ended`.
        case trailers
        /// Nothing follows.
        case ended(ChunkProgress.State)
    }

    private var state = State.header
    private var header: ChunkHeaderScanner
    private var trailers: TrailerScanner
    /// Body bytes of the chunks whose header was accepted.
    private var announced = 0

    package init(limits: HTTPLimits) {
        self.header = ChunkHeaderScanner(extensionLimit: limits.chunkExtensionBytes)
        self.trailers = TrailerScanner(limits: limits)
    }

    /// Appends the body bytes found in `bytes` to `body`, which the caller may empty between calls.
    ///
    /// A chunk that would take the whole body over `bodyLimit` bytes fails with `bodyTooLarge` before its data comes.
    /// After an end or a failure further calls consume nothing and say the same again.
    package mutating func decode(
        _ bytes: Span<UInt8>, into body: inout [UInt8], bodyLimit: Int
    ) -> ChunkProgress {
        var at = 0
        while true {
            switch self.next(bytes, from: &at, bodyLimit: bodyLimit) {
            case .data(let range): Self.append(bytes.extracting(range), to: &body)
            case .end(let state): return ChunkProgress(consumed: at, state: state)
            }
        }
    }

    /// What lies next in some bytes.
    package enum Piece: Sendable, Equatable {
        /// Bytes of the body.
        case data(Range<Int>)
        /// Nothing more of the body: the bytes are used up, or it has ended.
        case end(ChunkProgress.State)
    }

    /// Finds the next bytes of the body without copying them; moves `at` behind them.
    ///
    /// - Parameter bodyLimit: as for `decode`.
    package mutating func next(_ bytes: Span<UInt8>, from at: inout Int, bodyLimit: Int) -> Piece {
        do throws(HTTPFailure) {
            while at < bytes.count {
                switch self.state {
                case .data(let remaining):
                    let start = at
                    at &+= min(remaining, bytes.count &- at)
                    let left = remaining &- (at &- start)
                    self.state = left == 0 ? .dataCarriageReturn : .data(left)
                    return .data(start..<at)
                case .ended(let end): return .end(end)
                default:
                    try self.take(bytes[at], bodyLimit: bodyLimit)
                    at &+= 1
                }
            }
        } catch {
            self.state = .ended(.failed(error))
        }
        if case .ended(let end) = self.state { return .end(end) }
        return .end(.needMore)
    }

    /// Takes a byte that is not body data.
    private mutating func take(_ byte: UInt8, bodyLimit: Int) throws(HTTPFailure) {
        switch self.state {
        case .header:
            guard try self.header.take(byte) else { return }
            try self.begin(size: self.header.size, bodyLimit: bodyLimit)
            self.header.restart()
        case .dataCarriageReturn:
            guard byte == Byte.carriageReturn else { throw .invalidChunkEnd }
            self.state = .dataLineFeed
        case .dataLineFeed:
            guard byte == Byte.lineFeed else { throw .invalidChunkEnd }
            self.state = .header
        case .trailers:
            if try self.trailers.take(byte) { self.state = .ended(.complete) }
        case .data, .ended: break
        }
    }

    private mutating func begin(size: Int, bodyLimit: Int) throws(HTTPFailure) {
        guard size > 0 else {
            self.state = .trailers
            return
        }
        guard size <= bodyLimit &- self.announced else { throw .bodyTooLarge }
        self.announced &+= size
        self.state = .data(size)
    }

    private static func append(_ bytes: Span<UInt8>, to body: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { body.append(contentsOf: $0) }
    }
}
