/// Reads a chunk's first line byte by byte: size, extensions, CR LF (RFC 9112 §7.1).
struct ChunkHeaderScanner: Sendable {
    private enum State: Sendable {
        /// Then `size`.
        case start
        /// Then `beforeSemicolon`, `beforeName` or `lineFeed`.
        case size
        /// After white space that only a semicolon may follow.
        case beforeSemicolon
        /// After a semicolon; then `name`.
        case beforeName
        /// Then `afterName`, `beforeValue`, `beforeName` or `lineFeed`.
        case name
        /// After white space that only `=` or a semicolon may follow.
        case afterName
        /// After `=`; then `tokenValue` or `quotedValue`.
        case beforeValue
        /// Then `beforeSemicolon`, `beforeName` or `lineFeed`.
        case tokenValue
        /// Inside quotes; then `escape` or `afterQuote`.
        case quotedValue
        /// After a backslash; then `quotedValue`.
        case escape
        /// Then `beforeSemicolon`, `beforeName` or `lineFeed`.
        case afterQuote
        /// After the CR: the end of the line.
        case lineFeed
    }

    /// More hexadecimal digits are refused, so that the size fits and zeros cannot be endless.
    private static let sizeDigits = 8

    private(set) var size = 0
    private var state = State.start
    private var digits = 0
    /// Extension bytes of all chunks so far.
    private var extensionBytes = 0
    private let extensionLimit: Int

    init(extensionLimit: Int) { self.extensionLimit = extensionLimit }

    /// Makes ready for the next chunk; extension bytes go on counting.
    mutating func restart() {
        self.size = 0
        self.digits = 0
        self.state = .start
    }

    /// Takes the next byte; true when the line has ended and `size` holds.
    mutating func take(_ byte: UInt8) throws(HTTPFailure) -> Bool {
        switch self.state {
        case .start, .size: try self.takeSize(byte)
        case .lineFeed:
            guard byte == Byte.lineFeed else { throw .bareLineEnd }
            return true
        default: try self.takeExtension(byte)
        }
        return false
    }

    private mutating func takeSize(_ byte: UInt8) throws(HTTPFailure) {
        if let digit = Byte.hexadecimal(byte) {
            self.digits &+= 1
            guard self.digits <= Self.sizeDigits else { throw .invalidChunkSize }
            self.size = self.size &<< 4 | digit
            self.state = .size
            return
        }
        guard self.digits > 0 else { throw .invalidChunkSize }
        switch byte {
        case Byte.carriageReturn: self.state = .lineFeed
        case Byte.lineFeed: throw .bareLineEnd
        case Byte.semicolon, Byte.space, Byte.tab:
            try self.countExtension()
            self.state = byte == Byte.semicolon ? .beforeName : .beforeSemicolon
        default: throw .invalidChunkSize
        }
    }

    private mutating func countExtension() throws(HTTPFailure) {
        self.extensionBytes &+= 1
        guard self.extensionBytes <= self.extensionLimit else { throw .chunkExtensionsTooLarge }
    }

    private mutating func takeExtension(_ byte: UInt8) throws(HTTPFailure) {
        guard byte != Byte.carriageReturn else {
            switch self.state {
            case .name, .tokenValue, .afterQuote: self.state = .lineFeed
            default: throw .invalidChunkExtension
            }
            return
        }
        try self.countExtension()
        guard let next = Self.next(after: self.state, byte) else { throw .invalidChunkExtension }
        self.state = next
    }

    /// The state that a byte of an extension leads to; nil when the grammar has no place for it.
    private static func next(after state: State, _ byte: UInt8) -> State? {
        let isBlank = Byte.isBlank(byte)
        let isToken = ByteClass.token.contains(byte)
        switch state {
        case .beforeSemicolon: return isBlank ? .beforeSemicolon : byte == Byte.semicolon ? .beforeName : nil
        case .beforeName: return isBlank ? .beforeName : isToken ? .name : nil
        case .name where isToken: return .name
        case .name, .afterName:
            if byte == Byte.equals { return .beforeValue }
            return isBlank ? .afterName : byte == Byte.semicolon ? .beforeName : nil
        case .beforeValue:
            if byte == Byte.quote { return .quotedValue }
            return isBlank ? .beforeValue : isToken ? .tokenValue : nil
        case .tokenValue where isToken: return .tokenValue
        case .tokenValue, .afterQuote: return isBlank ? .beforeSemicolon : byte == Byte.semicolon ? .beforeName : nil
        case .quotedValue:
            if byte == Byte.quote { return .afterQuote }
            return byte == Byte.backslash ? .escape : self.isText(byte) ? .quotedValue : nil
        case .escape: return self.isText(byte) ? .quotedValue : nil
        case .start, .size, .lineFeed: return nil
        }
    }

    /// HTAB, SP, visible ASCII or an opaque byte.
    private static func isText(_ byte: UInt8) -> Bool {
        byte == Byte.tab || (byte >= Byte.space && byte != Byte.delete)
    }
}
