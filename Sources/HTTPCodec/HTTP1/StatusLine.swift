/// The first line of an answer (RFC 9112 §4): what it says, and the position after its line end.
struct StatusLine {
    let status: Int
    let minorVersion: Int
    let end: Int

    /// Reads the line at the start of a window. The reason may be missing, with the space before it.
    static func read(_ window: Span<UInt8>, limits: HTTPLimits, atEnd: HeadStop) throws(HeadStop) -> StatusLine {
        let start: StaticString = "HTTP/1."
        for at in 0..<start.utf8CodeUnitCount {
            guard at < window.count else { throw atEnd }
            guard window[at] == start.utf8Start[at] else { throw .failed(.malformedStatusLine) }
        }
        // Version, space, three digits, and what follows them.
        guard window.count > 12 else { throw atEnd }
        guard let minorVersion = Byte.digit(window[7]), window[8] == Byte.space, let status = self.status(window) else {
            throw .failed(.malformedStatusLine)
        }
        guard window[12] == Byte.space || window[12] == Byte.carriageReturn else {
            throw .failed(.malformedStatusLine)
        }
        var at = ByteSearch.firstControl(window, from: 12)
        while at < window.count, window[at] == Byte.tab { at = ByteSearch.firstControl(window, from: at &+ 1) }
        guard at <= limits.requestLineBytes else { throw .failed(.headTooLarge) }
        guard at &+ 1 < window.count else { throw atEnd }
        guard window[at] == Byte.carriageReturn, window[at &+ 1] == Byte.lineFeed else {
            throw .failed(.malformedStatusLine)
        }
        return StatusLine(status: status, minorVersion: minorVersion, end: at &+ 2)
    }

    /// From 100; there is no smaller one.
    private static func status(_ window: Span<UInt8>) -> Int? {
        var status = 0
        for at in 9..<12 {
            guard let digit = Byte.digit(window[at]) else { return nil }
            status = status &* 10 &+ digit
        }
        return status >= 100 ? status : nil
    }
}
