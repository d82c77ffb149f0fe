/// Reads a `text/event-stream` as bytes, by the rules of the WHATWG HTML standard §9.2.6.
///
/// Lines end in CR LF, LF or CR, wherever reads cut them. What is delivered does not depend on the cuts. An event whose
/// lines all lie in one read, with one `data` line, is lent from there: nothing is copied or allocated.
package struct EventParser: Sendable {
    /// Buffers that grew beyond this are given back after their event.
    private static let keptCapacity = 16384

    private let limits: EventLimits
    private var mark = ByteOrderMark()
    /// The start of a line whose end has not come.
    private var line: [UInt8] = []
    private var skipsLineFeed = false
    private var event = EventBuffer()
    private var failure: EventFailure?

    /// The last `id` that the stream set; empty at first.
    package private(set) var lastEventID: [UInt8] = []
    /// The last `retry` that the stream set, in milliseconds.
    package private(set) var retryMilliseconds: Int?

    package init(limits: EventLimits = EventLimits()) { self.limits = limits }

    /// Takes the next bytes and lends each event that they complete: its type (empty when none is set), its data.
    ///
    /// `deliver` says whether to go on; after false the rest of `bytes` is left for a later call.
    ///
    /// - Returns: how many bytes were taken.
    /// - Throws: when a line or an event passes its limit; what came before was delivered.
    package mutating func feed(
        _ bytes: Span<UInt8>, _ deliver: (_ type: Span<UInt8>, _ data: Span<UInt8>) -> Bool
    ) throws(EventFailure) -> Int {
        if let failure = self.failure { throw failure }
        do throws(EventFailure) {
            let taken = try self.readLines(bytes, deliver)
            self.event.settle(bytes)
            return taken
        } catch {
            self.failure = error
            throw error
        }
    }

    /// Says that the stream has ended; the parser is then ready for another, `id` and `retry` are kept.
    ///
    /// - Returns: whether it broke off inside an event, which is thrown away as the standard wants.
    package mutating func finish() -> Bool {
        let isCut = self.event.hasData || !self.line.isEmpty && self.line.first != Byte.colon || self.mark.isPartial
        self.event.reset(keeping: 0)
        self.line = []
        self.mark = ByteOrderMark()
        self.skipsLineFeed = false
        self.failure = nil
        return isCut
    }

    private mutating func readLines(
        _ bytes: Span<UInt8>, _ deliver: (Span<UInt8>, Span<UInt8>) -> Bool
    ) throws(EventFailure) -> Int {
        var at = self.mark.skip(bytes, into: &self.line)
        while at < bytes.count {
            if self.skipsLineFeed {
                self.skipsLineFeed = false
                if bytes[at] == Byte.lineFeed {
                    at &+= 1
                    continue
                }
            }
            let end = ByteSearch.firstLineEnd(bytes, from: at)
            guard self.line.count &+ (end &- at) <= self.limits.lineBytes else { throw .lineTooLong }
            guard end < bytes.count else {
                MessageWriter.append(bytes.extracting(at..<end), to: &self.line)
                return end
            }
            let lineStart = at
            at = self.afterLineEnd(bytes, at: end)
            if self.line.isEmpty, lineStart == end {
                guard self.event.dispatch(bytes, keeping: Self.keptCapacity, deliver) else { return at }
            } else {
                try self.takeLine(bytes, lineStart..<end)
            }
        }
        return at
    }

    /// Steps over CR, LF or CR LF; remembers a CR whose LF may come with the next bytes.
    private mutating func afterLineEnd(_ bytes: Span<UInt8>, at end: Int) -> Int {
        let next = end &+ 1
        guard bytes[end] == Byte.carriageReturn else { return next }
        guard next < bytes.count else {
            self.skipsLineFeed = true
            return next
        }
        return bytes[next] == Byte.lineFeed ? next &+ 1 : next
    }

    /// Takes a line that is not empty; its start may have come with earlier bytes.
    private mutating func takeLine(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(EventFailure) {
        if self.line.isEmpty {
            try self.takeField(bytes, range, isLent: true)
            return
        }
        MessageWriter.append(bytes.extracting(range), to: &self.line)
        var line: [UInt8] = []
        swap(&line, &self.line)
        try self.takeField(line.span, 0..<line.count, isLent: false)
        if line.capacity <= Self.keptCapacity {
            line.removeAll(keepingCapacity: true)
            self.line = line
        }
    }

    private mutating func takeField(
        _ source: Span<UInt8>, _ range: Range<Int>, isLent: Bool
    ) throws(EventFailure) {
        var nameEnd = range.lowerBound
        while nameEnd < range.upperBound, source[nameEnd] != Byte.colon { nameEnd &+= 1 }
        let name = source.extracting(range.lowerBound..<nameEnd)
        var start = min(nameEnd &+ 1, range.upperBound)
        if start < range.upperBound, source[start] == Byte.space { start &+= 1 }
        let value = start..<range.upperBound
        if ByteComparison.equals(name, "data") {
            self.event.addData(source, value, isLent: isLent)
        } else if ByteComparison.equals(name, "event") {
            self.event.setType(source, value, isLent: isLent)
        } else if ByteComparison.equals(name, "id") {
            self.setLastEventID(source.extracting(value))
        } else if ByteComparison.equals(name, "retry") {
            self.setRetry(source.extracting(value))
        }
        guard self.event.size <= self.limits.eventBytes else { throw .eventTooLarge }
    }

    /// An id with a NUL is ignored.
    private mutating func setLastEventID(_ value: Span<UInt8>) {
        for at in 0..<value.count where value[at] == 0 { return }
        self.lastEventID.removeAll(keepingCapacity: value.count <= Self.keptCapacity)
        MessageWriter.append(value, to: &self.lastEventID)
    }

    /// Anything but digits is ignored, and so is a number that no clock could wait for.
    private mutating func setRetry(_ value: Span<UInt8>) {
        guard value.count > 0, value.count <= 18 else { return }
        var milliseconds = 0
        for at in 0..<value.count {
            guard let digit = Byte.digit(value[at]) else { return }
            milliseconds = milliseconds &* 10 &+ digit
        }
        self.retryMilliseconds = milliseconds
    }
}
