/// The first line of a request (RFC 9112 §3): `method SP target SP version`, exactly one space each.
struct RequestLine {
    let method: HTTPMethod
    let path: Range<Int>
    let query: Range<Int>?
    /// Host and port of an absolute target.
    let authority: Range<Int>?
    /// 0 or 1.
    let minorVersion: Int
    /// The position after the line end.
    let end: Int

    /// Longer than any registered method; beyond it the answer is 501 without waiting for the end.
    private static let methodBytes = 32

    static func read(_ window: Span<UInt8>, limits: HTTPLimits, atEnd: HeadStop) throws(HeadStop) -> RequestLine {
        let methodEnd = try self.readMethod(window, atEnd: atEnd)
        let target = try self.readTarget(window, from: methodEnd &+ 1, limit: limits.requestLineBytes, atEnd: atEnd)
        let version = target.range.upperBound &+ 1
        guard version &+ 8 <= limits.requestLineBytes else { throw .failed(.targetTooLong) }
        let minorVersion = try self.readVersion(window, from: version, atEnd: atEnd)
        let token = window.extracting(0..<methodEnd)
        if ByteComparison.equals(token, "CONNECT") { throw .failed(.methodNotImplemented) }
        let method = HTTPMethod(token: token)
        guard let form = TargetForm(window, target.range, question: target.question, method: method) else {
            throw .failed(.invalidTarget)
        }
        return RequestLine(
            method: method, path: form.path, query: form.query, authority: form.authority, minorVersion: minorVersion,
            end: version &+ 10)
    }

    /// Gives the position of the space after the method.
    private static func readMethod(_ window: Span<UInt8>, atEnd: HeadStop) throws(HeadStop) -> Int {
        var at = 0
        while at < window.count, ByteClass.token.contains(window[at]) { at &+= 1 }
        guard at <= self.methodBytes else { throw .failed(.methodNotImplemented) }
        guard at < window.count else { throw atEnd }
        guard window[at] == Byte.space, at > 0 else { throw .failed(.malformedRequestLine) }
        return at
    }

    /// Gives the range of the target and the position of its first question mark.
    private static func readTarget(
        _ window: Span<UInt8>, from start: Int, limit: Int, atEnd: HeadStop
    ) throws(HeadStop) -> (range: Range<Int>, question: Int?) {
        var at = start
        var question: Int?
        let end = min(window.count, limit)
        while at < end, ByteClass.target.contains(window[at]) {
            if window[at] == Byte.question, question == nil { question = at }
            at &+= 1
        }
        guard at < limit else { throw .failed(.targetTooLong) }
        guard at < window.count else { throw atEnd }
        switch window[at] {
        case Byte.space where at > start: return (start..<at, question)
        case Byte.space, Byte.carriageReturn, Byte.lineFeed: throw .failed(.malformedRequestLine)
        default: throw .failed(.invalidTarget)
        }
    }

    /// Reads `HTTP/` DIGIT `.` DIGIT CR LF; gives the minor version, 1 for all above.
    private static func readVersion(_ window: Span<UInt8>, from start: Int, atEnd: HeadStop) throws(HeadStop) -> Int {
        let shape: StaticString = "HTTP/0.0"
        let expected = UnsafeBufferPointer(start: shape.utf8Start, count: shape.utf8CodeUnitCount)
        for offset in 0..<8 {
            guard start &+ offset < window.count else { throw atEnd }
            let byte = window[start &+ offset]
            let fits = expected[offset] == Byte.zero ? Byte.digit(byte) != nil : byte == expected[offset]
            guard fits else { throw .failed(.malformedRequestLine) }
        }
        guard start &+ 8 < window.count else { throw atEnd }
        guard window[start &+ 8] == Byte.carriageReturn else {
            throw .failed(window[start &+ 8] == Byte.lineFeed ? .bareLineEnd : .malformedRequestLine)
        }
        guard start &+ 9 < window.count else { throw atEnd }
        guard window[start &+ 9] == Byte.lineFeed else { throw .failed(.bareLineEnd) }
        guard window[start &+ 5] == Byte.one else { throw .failed(.unsupportedVersion) }
        return window[start &+ 7] == Byte.zero ? 0 : 1
    }
}
