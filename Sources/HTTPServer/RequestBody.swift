import HTTPCodec

/// Collects the body of one request out of the connection's bytes. No socket, no clock.
struct RequestBody {
    private enum Rest {
        case length(Int)
        case chunked(ChunkedDecoder)
        case complete
    }

    private var rest: Rest
    private(set) var bytes: [UInt8] = []
    /// Bytes of the body seen so far, kept or not.
    private(set) var received = 0
    /// When set, bytes are counted and thrown away.
    var isDiscarding = false
    var limit = Int.max

    init(_ framing: BodyFraming, limits: HTTPLimits) {
        switch framing {
        case .none, .length(0): self.rest = .complete
        case .length(let length): self.rest = .length(length)
        case .chunked: self.rest = .chunked(ChunkedDecoder(limits: limits))
        }
    }

    var isComplete: Bool { if case .complete = self.rest { true } else { false } }

    /// Bytes still announced; nil when only the end of the chunks will tell.
    var announced: Int? {
        switch self.rest {
        case .complete: 0
        case .length(let rest): rest
        case .chunked: nil
        }
    }

    /// Takes what belongs to the body; returns how much that was.
    mutating func take(_ input: Span<UInt8>) throws(HTTPServerFailure) -> Int {
        switch self.rest {
        case .complete: return 0
        case .length(let rest): return try self.take(input, rest: rest)
        case .chunked(var decoder):
            self.rest = .complete
            let progress = try self.decode(input, with: &decoder)
            if progress.state != .complete { self.rest = .chunked(decoder) }
            return progress.consumed
        }
    }

    private mutating func take(_ input: Span<UInt8>, rest: Int) throws(HTTPServerFailure) -> Int {
        let count = min(rest, input.count)
        guard self.received &+ rest <= self.limit else { throw .bodyTooLarge }
        if !self.isDiscarding {
            if self.bytes.isEmpty { self.bytes.reserveCapacity(min(rest, 65536)) }
            input.extracting(0..<count).withUnsafeBufferPointer { self.bytes.append(contentsOf: $0) }
        }
        self.received &+= count
        self.rest = count == rest ? .complete : .length(rest - count)
        return count
    }

    private mutating func decode(
        _ input: Span<UInt8>, with decoder: inout ChunkedDecoder
    ) throws(HTTPServerFailure) -> ChunkProgress {
        let progress = decoder.decode(input, into: &self.bytes, bodyLimit: self.limit)
        self.received &+= progress.consumed
        if self.isDiscarding { self.bytes.removeAll(keepingCapacity: true) }
        if case .failed(let failure) = progress.state {
            throw failure == .bodyTooLarge ? .bodyTooLarge : .malformed(failure)
        }
        return progress
    }

    /// Hands the collected bytes over.
    mutating func takeBytes() -> [UInt8] {
        let bytes = self.bytes
        self.bytes = []
        return bytes
    }
}
