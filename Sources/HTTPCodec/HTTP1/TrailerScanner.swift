/// Checks a trailer section byte by byte and keeps nothing of it (RFC 9112 §7.1.2).
struct TrailerScanner: Sendable {
    private enum State: Sendable {
        /// Then `name` or `lastLineFeed`.
        case lineStart
        /// Then `value`.
        case name
        /// Then `lineFeed`.
        case value
        /// Then `lineStart`.
        case lineFeed
        /// After the CR of the empty line: the end.
        case lastLineFeed
    }

    private var state = State.lineStart
    private var bytes = 0
    private var fields = 0
    private let limits: HTTPLimits

    init(limits: HTTPLimits) { self.limits = limits }

    /// Takes the next byte; true when the section has ended.
    mutating func take(_ byte: UInt8) throws(HTTPFailure) -> Bool {
        self.bytes &+= 1
        guard self.bytes <= max(self.limits.trailerBytes, 2) else { throw .trailersTooLarge }
        switch self.state {
        case .lineStart: try self.takeStart(byte)
        case .name:
            if byte == Byte.colon {
                self.state = .value
            } else if !ByteClass.token.contains(byte) {
                throw .invalidTrailer
            }
        case .value: try self.takeValue(byte)
        case .lineFeed:
            guard byte == Byte.lineFeed else { throw .bareLineEnd }
            self.state = .lineStart
        case .lastLineFeed:
            guard byte == Byte.lineFeed else { throw .bareLineEnd }
            return true
        }
        return false
    }

    private mutating func takeStart(_ byte: UInt8) throws(HTTPFailure) {
        if byte == Byte.carriageReturn {
            self.state = .lastLineFeed
        } else if ByteClass.token.contains(byte) {
            self.fields &+= 1
            guard self.fields <= self.limits.trailerFields else { throw .trailersTooLarge }
            self.state = .name
        } else {
            throw byte == Byte.lineFeed ? .bareLineEnd : .invalidTrailer
        }
    }

    private mutating func takeValue(_ byte: UInt8) throws(HTTPFailure) {
        switch byte {
        case Byte.carriageReturn: self.state = .lineFeed
        case Byte.lineFeed: throw .bareLineEnd
        case Byte.tab: break
        default: if byte < Byte.space || byte == Byte.delete { throw .invalidTrailer }
        }
    }
}
