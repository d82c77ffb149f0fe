/// Decides whether bytes that came in addition can change what the parser says.
///
/// The first look at a head parses it. Later ones only scan what is new, until it holds the end of the head or a byte
/// that may be wrong, reaches the limit, or crosses a page (so that other limits are noticed soon): a head is parsed
/// a bounded number of times, however it drips in.
enum HeadProgress {
    /// Bytes between two looks at an unfinished head.
    private static let pageBytes = 4096

    static func isWorthParsing(_ bytes: Span<UInt8>, scanned: Int, limits: HTTPLimits) -> Bool {
        if scanned <= 0 || scanned > bytes.count { return true }
        if scanned == bytes.count { return false }
        if bytes.count >= limits.headBytes || bytes.count / self.pageBytes != scanned / self.pageBytes { return true }
        if bytes[scanned &- 1] == Byte.carriageReturn, bytes[scanned] != Byte.lineFeed { return true }
        return self.hasTurningPoint(bytes, from: scanned)
    }

    private static func hasTurningPoint(_ bytes: Span<UInt8>, from start: Int) -> Bool {
        var at = ByteSearch.firstControl(bytes, from: start)
        while at < bytes.count {
            switch bytes[at] {
            case Byte.tab: break
            case Byte.carriageReturn:
                if at &+ 1 < bytes.count, bytes[at &+ 1] != Byte.lineFeed { return true }
            case Byte.lineFeed:
                if at == 0 || bytes[at &- 1] != Byte.carriageReturn { return true }
                if at == 1 || bytes[at &- 2] == Byte.lineFeed { return true }
            default: return true
            }
            at = ByteSearch.firstControl(bytes, from: at &+ 1)
        }
        return false
    }
}
