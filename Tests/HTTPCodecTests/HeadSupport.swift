import HTTPCodec

/// What a parse gave, in a form that can be compared and read in a failure message.
enum HeadResult: Equatable {
    case incomplete
    case head(HeadFacts, consumed: Int)
    case failed(HTTPFailure)

    init(_ parsed: ParsedHead) {
        switch parsed {
        case .incomplete: self = .incomplete
        case .head(let head, let consumed): self = .head(HeadFacts(head), consumed: consumed)
        case .failed(let failure): self = .failed(failure)
        }
    }

    var failure: HTTPFailure? {
        if case .failed(let failure) = self { return failure }
        return nil
    }

    var facts: HeadFacts? {
        if case .head(let facts, _) = self { return facts }
        return nil
    }

    var consumed: Int? {
        if case .head(_, let consumed) = self { return consumed }
        return nil
    }
}

/// Everything a head says, as text.
struct HeadFacts: Equatable {
    var method: HTTPMethod
    var path: String
    var query: String?
    var authority: String?
    var minorVersion: Int
    var framing: BodyFraming
    var keepAlive: Bool
    var expectsContinue: Bool
    var fields: [String]

    init(_ head: HTTPRequestHead) {
        let text = { (range: Range<Int>) in String(decoding: head.bytes[range], as: Unicode.UTF8.self) }
        self.method = head.method
        self.path = text(head.path)
        self.query = head.query.map(text)
        self.authority = head.authority.map(text)
        self.minorVersion = head.minorVersion
        self.framing = head.framing
        self.keepAlive = head.keepAlive
        self.expectsContinue = head.expectsContinue
        self.fields = head.fields.map { text($0.name) + "=" + text($0.value) }
    }
}

/// Parses all bytes in one call.
func parse(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits()) -> HeadResult {
    HeadResult(RequestHeadParser.parse(bytes.span, limits: limits))
}

func parse(_ text: String, limits: HTTPLimits = HTTPLimits()) -> HeadResult {
    parse(Array(text.utf8), limits: limits)
}

/// Parses as a server would whose reads end at `cuts`; stops at the first answer.
func parse(_ bytes: [UInt8], cutAt cuts: some Sequence<Int>, limits: HTTPLimits = HTTPLimits()) -> HeadResult {
    var scanned = 0
    for cut in cuts {
        let parsed = RequestHeadParser.parse(bytes.span.extracting(0..<cut), scanned: scanned, limits: limits)
        let result = HeadResult(parsed)
        if result != .incomplete { return result }
        scanned = cut
    }
    return .incomplete
}

/// Parses byte by byte.
func drip(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits()) -> HeadResult {
    bytes.isEmpty ? .incomplete : parse(bytes, cutAt: 1...bytes.count, limits: limits)
}

/// The head itself, for tests of its accessors.
func readHead(_ text: String) -> HTTPRequestHead? {
    let bytes = Array(text.utf8)
    guard case .head(let head, _) = RequestHeadParser.parse(bytes.span, limits: HTTPLimits()) else { return nil }
    return head
}

/// A request of HTTP/1.1 with a `Host`, and these lines besides; each line without its end.
func request(_ line: String = "GET / HTTP/1.1", _ fields: String..., host: String? = "app.test") -> String {
    let lines = [line] + (host.map { ["Host: " + $0] } ?? []) + fields
    return lines.map { $0 + "\r\n" }.joined() + "\r\n"
}
