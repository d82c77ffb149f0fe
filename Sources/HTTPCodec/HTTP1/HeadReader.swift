/// One pass over the bytes of a head, from the request or status line to the empty line.
///
/// Works on a window that starts at that line and is cut at the head's limit, so that positions are those of
/// the head's own copy. Whatever it refuses in some bytes it refuses in any longer ones, for the same reason.
struct HeadReader {
    /// Bytes a head may take.
    let capacity: Int
    private let fieldLimit: Int
    let limits: HTTPLimits
    /// What reaching the end of the window means.
    let atEnd: HeadStop
    var table = FieldTable()

    init(available: Int, limits: HTTPLimits) {
        self.capacity = min(max(limits.headBytes, 0), HTTPField.positions)
        self.fieldLimit = min(limits.fields, FieldTable.capacity)
        self.limits = limits
        self.atEnd = available >= self.capacity ? .failed(.headTooLarge) : .incomplete
    }

    /// Reads the whole head; gives it and the count of its bytes.
    mutating func read(_ window: Span<UInt8>) throws(HeadStop) -> (HTTPRequestHead, Int) {
        let line = try RequestLine.read(window, limits: self.limits, atEnd: self.atEnd)
        let length = try self.readFields(window, from: line.end)
        do throws(HTTPFailure) {
            return (try self.finish(window.extracting(0..<length), line), length)
        } catch {
            throw .failed(error)
        }
    }

    /// Reads the field lines and the empty line behind them; gives the position after it.
    mutating func readFields(_ window: Span<UInt8>, from start: Int) throws(HeadStop) -> Int {
        var at = start
        while true {
            guard at < window.count else { throw self.atEnd }
            if window[at] == Byte.carriageReturn { return try self.endOfLine(window, at: at) }
            guard self.table.fields.count < self.fieldLimit else { throw .failed(.tooManyFields) }
            at = try self.readField(window, from: at)
        }
    }

    /// Reads one field line; gives the position after its line end.
    private mutating func readField(_ window: Span<UInt8>, from start: Int) throws(HeadStop) -> Int {
        let nameEnd = try self.readName(window, from: start)
        let known = KnownField(name: window.extracting(start..<nameEnd))
        var valueStart = nameEnd &+ 1
        while valueStart < window.count, Byte.isBlank(window[valueStart]) { valueStart &+= 1 }
        let limit = known == .authorization ? self.limits.authorizationBytes : self.limits.valueBytes
        let lineEnd = try self.readValue(window, from: valueStart, limit: limit)
        let next = try self.endOfLine(window, at: lineEnd)
        var valueEnd = lineEnd
        while valueEnd > valueStart, Byte.isBlank(window[valueEnd &- 1]) { valueEnd &-= 1 }
        self.table.append(HTTPField(name: start..<nameEnd, value: valueStart..<valueEnd, known: known))
        return next
    }

    /// Gives the position of the colon that ends the name.
    private func readName(_ window: Span<UInt8>, from start: Int) throws(HeadStop) -> Int {
        var at = start
        while at < window.count, ByteClass.token.contains(window[at]) { at &+= 1 }
        guard at &- start <= self.limits.nameBytes else { throw .failed(.fieldTooLarge) }
        guard at < window.count else { throw self.atEnd }
        if window[at] == Byte.colon, at > start { return at }
        if window[at] == Byte.lineFeed { throw .failed(.bareLineEnd) }
        throw .failed(at == start && Byte.isBlank(window[at]) ? .obsoleteFolding : .invalidFieldName)
    }

    /// Gives the position of the CR that ends the value; bytes from 0x80 are opaque.
    private func readValue(_ window: Span<UInt8>, from start: Int, limit: Int) throws(HeadStop) -> Int {
        var at = ByteSearch.firstControl(window, from: start)
        while at < window.count, window[at] == Byte.tab { at = ByteSearch.firstControl(window, from: at &+ 1) }
        guard at &- start <= limit else { throw .failed(.fieldTooLarge) }
        guard at < window.count else { throw self.atEnd }
        switch window[at] {
        case Byte.carriageReturn: return at
        case Byte.lineFeed: throw .failed(.bareLineEnd)
        default: throw .failed(.invalidFieldValue)
        }
    }

    /// Checks the LF after a CR; gives the position after both.
    private func endOfLine(_ window: Span<UInt8>, at carriageReturn: Int) throws(HeadStop) -> Int {
        let at = carriageReturn &+ 1
        guard at < window.count else { throw self.atEnd }
        guard window[at] == Byte.lineFeed else { throw .failed(.bareLineEnd) }
        return at &+ 1
    }

    /// Decides what only the whole head can tell, and copies it.
    private func finish(_ head: Span<UInt8>, _ line: RequestLine) throws(HTTPFailure) -> HTTPRequestHead {
        let authority = try HostRule.authority(head, self.table, line)
        let framing = try FramingRule.framing(head, self.table, minorVersion: line.minorVersion)
        let expectsContinue = try ConnectionRule.expectsContinue(head, self.table, minorVersion: line.minorVersion)
        return HTTPRequestHead(
            bytes: Self.copy(head), method: line.method, path: line.path, query: line.query, authority: authority,
            minorVersion: line.minorVersion, framing: framing,
            keepAlive: line.minorVersion > 0 && !ConnectionRule.asksToClose(head, self.table),
            expectsContinue: expectsContinue && framing != .none && framing != .length(0), table: self.table)
    }

    static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
            bytes.withUnsafeBufferPointer { source in _ = buffer.initialize(from: source) }
            count = bytes.count
        }
    }
}
