import CHiredis

/// Cuts a stream of bytes into replies. hiredis reads them, each only when it is whole and within bounds: by itself it
/// would wait for, or allocate, whatever a length promises.
struct ReplyReader: ~Copyable {
    /// Most bytes of one reply.
    static let mostBytes = 16 << 20
    /// Most elements of one reply, those of its arrays included.
    static let mostElements = 1 << 20
    private static let longestLine = 64 << 10
    private static let kinds = "+-:$*".utf8

    struct Malformed: Error {}

    private let reader: UnsafeMutablePointer<redisReader>
    private var buffer: [UInt8] = []
    /// Where the reply begins that is being cut.
    private var start = 0
    /// Up to where its parts are known.
    private var scanned = 0
    /// Up to where an end of line was looked for.
    private var searched = 0
    /// Parts that are still to come.
    private var missing = 1
    private var elements = 0

    init?() {
        guard let reader = redisReaderCreate() else { return nil }
        self.reader = reader
    }

    deinit { redisReaderFree(self.reader) }

    mutating func append(_ bytes: UnsafeRawBufferPointer) { self.buffer.append(contentsOf: bytes) }

    /// The next whole reply, or nil when more bytes are needed.
    mutating func next() throws(Malformed) -> RedisReply? {
        while self.missing > 0 {
            guard try self.takePart() else {
                guard self.buffer.count - self.start <= Self.mostBytes else { throw Malformed() }
                self.compact()
                return nil
            }
        }
        let reply = try self.read(self.start..<self.scanned)
        self.start = self.scanned
        self.searched = self.scanned
        self.missing = 1
        self.elements = 0
        return reply
    }

    /// Steps over one line, and the bytes it announces; false when they are not all here.
    private mutating func takePart() throws(Malformed) -> Bool {
        guard self.scanned < self.buffer.count else { return false }
        let kind = self.buffer[self.scanned]
        // Before its line has ended: nonsense may go on for long without an end.
        guard Self.kinds.contains(kind) else { throw Malformed() }
        guard let end = try self.lineEnd() else { return false }
        var next = end + 2
        switch kind {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"): self.missing -= 1
        case UInt8(ascii: "$"):
            let count = try self.length(self.scanned + 1..<end, atMost: Self.mostBytes)
            if count >= 0 {
                guard self.buffer.count >= next + count + 2 else { return false }
                next += count
                guard self.buffer[next] == 13, self.buffer[next + 1] == 10 else { throw Malformed() }
                next += 2
            }
            self.missing -= 1
        case UInt8(ascii: "*"):
            let count = try self.length(self.scanned + 1..<end, atMost: Self.mostElements)
            self.missing += max(count, 0) - 1
            self.elements += max(count, 0)
            guard self.elements <= Self.mostElements else { throw Malformed() }
        default: throw Malformed()
        }
        self.scanned = next
        self.searched = next
        return true
    }

    private mutating func lineEnd() throws(Malformed) -> Int? {
        var at = max(self.searched, self.scanned)
        while at + 1 < self.buffer.count {
            if self.buffer[at] == 13, self.buffer[at + 1] == 10 { return at }
            at += 1
        }
        guard at - self.scanned <= Self.longestLine else { throw Malformed() }
        self.searched = at
        return nil
    }

    /// A length of decimal digits, or -1 for what is absent.
    private func length(_ range: Range<Int>, atMost limit: Int) throws(Malformed) -> Int {
        let digits = self.buffer[range]
        if digits.elementsEqual("-1".utf8) { return -1 }
        guard !digits.isEmpty, digits.count <= 9 else { throw Malformed() }
        var number = 0
        for digit in digits {
            guard digit >= 48, digit <= 57 else { throw Malformed() }
            number = number * 10 + Int(digit - 48)
        }
        guard number <= limit else { throw Malformed() }
        return number
    }

    private mutating func compact() {
        guard self.start > 0 else { return }
        self.buffer.removeFirst(self.start)
        self.scanned -= self.start
        self.searched -= self.start
        self.start = 0
        if self.buffer.isEmpty, self.buffer.capacity > 65536 { self.buffer = [] }
    }

    private func read(_ range: Range<Int>) throws(Malformed) -> RedisReply {
        let fed = self.buffer.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[range])
            return redisReaderFeed(self.reader, part.bindMemory(to: CChar.self).baseAddress, part.count)
        }
        var raw: UnsafeMutableRawPointer?
        guard fed == REDIS_OK, redisReaderGetReply(self.reader, &raw) == REDIS_OK, let raw else { throw Malformed() }
        defer { freeReplyObject(raw) }
        // Where hiredis sees the end elsewhere, every answer behind it would be another call's.
        guard self.reader.pointee.pos == self.reader.pointee.len else { throw Malformed() }
        return Self.reply(raw.assumingMemoryBound(to: redisReply.self))
    }

    private static func reply(_ raw: UnsafeMutablePointer<redisReply>) -> RedisReply {
        let value = raw.pointee
        switch value.type {
        case REDIS_REPLY_INTEGER: return .integer(Int(value.integer))
        case REDIS_REPLY_ARRAY:
            var elements: [RedisReply] = []
            elements.reserveCapacity(Int(value.elements))
            for index in 0..<Int(value.elements) {
                elements.append(value.element[index].map { Self.reply($0) } ?? .null)
            }
            return .array(elements)
        case REDIS_REPLY_STATUS: return .status(Self.bytes(value))
        case REDIS_REPLY_STRING: return .bulk(Self.bytes(value))
        case REDIS_REPLY_ERROR: return .error(RedisServerError(Self.bytes(value)))
        default: return .null
        }
    }

    private static func bytes(_ value: redisReply) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: value.str, count: Int(value.len)))
    }
}
