import CZlib

/// Undoes gzip or zlib coding as it comes (RFC 9110 §8.4.1).
final class Inflater {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private static let pieceBytes = 16384
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Inflater.pieceBytes, alignment: 16)
    /// Whether all that was packed has come.
    private(set) var isComplete = false

    /// Nil for a coding that is not known.
    init?(_ coding: String) {
        self.stream.initialize(to: z_stream())
        let isKnown = coding == "gzip" || coding == "x-gzip" || coding == "deflate"
        guard isKnown, czlib_inflate_init(self.stream) == Z_OK else { return nil }
    }

    deinit {
        inflateEnd(self.stream)
        self.stream.deallocate()
        self.piece.deallocate()
    }

    /// Unpacks some bytes and hands on what they hold, piece by piece, for as long as it is wanted.
    ///
    /// - Returns: false when they are no such coding.
    func inflate(_ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: UInt8.self)
        self.stream.pointee.next_in = base
        self.stream.pointee.avail_in = UInt32(clamping: bytes.count)
        repeat {
            // Behind the end of what was packed there may be more of its kind (RFC 1952 §2.2), and nothing else.
            if self.isComplete {
                guard inflateReset(self.stream) == Z_OK else { return false }
                self.isComplete = false
            }
            self.stream.pointee.next_out = self.piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
            self.stream.pointee.avail_out = UInt32(Self.pieceBytes)
            let result = CZlib.inflate(self.stream, Z_NO_FLUSH)
            guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else { return false }
            self.isComplete = result == Z_STREAM_END
            let count = Self.pieceBytes - Int(self.stream.pointee.avail_out)
            guard count > 0 else { continue }
            guard deliver(UnsafeRawBufferPointer(rebasing: self.piece[..<count])) else { return true }
        } while self.stream.pointee.avail_in > 0 || self.stream.pointee.avail_out == 0
        return true
    }
}
