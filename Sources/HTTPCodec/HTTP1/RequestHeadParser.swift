/// What a look at the received bytes gave.
package enum ParsedHead: Sendable {
    /// The head has not ended yet; nothing in it is wrong so far.
    case incomplete
    /// A whole head; `consumed` counts its bytes and those of empty lines before it. What follows is not touched.
    case head(HTTPRequestHead, consumed: Int)
    /// Answer with the failure's status and close.
    case failed(HTTPFailure)
}

/// Reads HTTP/1.1 request heads (RFC 9112 §2 to §6): strict, without state, without I/O.
///
/// Any doubt about where a message ends is a failure; there is no resynchronising. Which answer some bytes get does not
/// depend on how they were cut into calls; a fault in a head that drips in may only be noticed later, at the end of the
/// head, a byte that no head may hold, the next 4 KiB or a limit, whichever comes first.
package enum RequestHeadParser {
    /// Looks for one head at the start of `bytes`.
    ///
    /// - Parameters:
    ///   - bytes: everything received since the last message ended.
    ///   - scanned: how many of them the last call on this head saw (it said `incomplete`); 0 at first. Keeps a head
    ///     that drips in from being parsed again for every byte.
    package static func parse(_ bytes: Span<UInt8>, scanned: Int = 0, limits: HTTPLimits) -> ParsedHead {
        guard HeadProgress.isWorthParsing(bytes, scanned: scanned, limits: limits) else { return .incomplete }
        do throws(HeadStop) {
            let base = try self.skipEmptyLines(bytes, limits: limits)
            var reader = HeadReader(available: bytes.count &- base, limits: limits)
            let window = bytes.extracting(base..<(base &+ min(bytes.count &- base, reader.capacity)))
            let (head, length) = try reader.read(window)
            return .head(head, consumed: base &+ length)
        } catch {
            switch error {
            case .incomplete: return .incomplete
            case .failed(let failure): return .failed(failure)
            }
        }
    }

    /// Steps over empty lines that clients of old left after a body (RFC 9112 §2.2).
    private static func skipEmptyLines(_ bytes: Span<UInt8>, limits: HTTPLimits) throws(HeadStop) -> Int {
        var at = 0
        var lines = 0
        while true {
            guard at < bytes.count else { throw .incomplete }
            if bytes[at] == Byte.lineFeed { throw .failed(.bareLineEnd) }
            guard bytes[at] == Byte.carriageReturn else { return at }
            guard at &+ 1 < bytes.count else { throw .incomplete }
            guard bytes[at &+ 1] == Byte.lineFeed else { throw .failed(.bareLineEnd) }
            lines &+= 1
            guard lines <= limits.leadingEmptyLines else { throw .failed(.malformedRequestLine) }
            at &+= 2
        }
    }
}

/// Why reading a head stopped before its end.
enum HeadStop: Error {
    case incomplete
    case failed(HTTPFailure)
}
