/// Where the body of an answer ends (RFC 9112 §6.3).
package enum ResponseFraming: Sendable, Equatable {
    case none
    /// Bytes.
    case length(Int)
    case chunked
    /// When the peer closes, so that a body that broke off can't be told from a whole one.
    case untilClose
}

/// The head of an answer, with its own copy of the bytes.
package struct HTTPResponseHead: Sendable {
    package let status: Int
    package let framing: ResponseFraming
    /// Whether the connection may be used again behind the body.
    package let keepAlive: Bool
    private let bytes: [UInt8]
    private let table: FieldTable

    init(bytes: [UInt8], line: StatusLine, framing: ResponseFraming, keepAlive: Bool, table: FieldTable) {
        self.bytes = bytes
        self.status = line.status
        self.framing = framing
        self.keepAlive = keepAlive
        self.table = table
    }

    /// The values of a field in their order, trimmed, as far as they are UTF-8.
    ///
    /// - Parameter name: in lower case.
    package func values(_ name: String) -> [String] {
        var values: [String] = []
        let wanted = name.utf8
        for field in self.table.fields where field.name.count == wanted.count {
            let isWanted = zip(self.bytes[field.name], wanted).allSatisfy { ByteComparison.fold($0) == $1 }
            if isWanted { values.append(String(decoding: self.bytes[field.value], as: UTF8.self)) }
        }
        return values
    }
}

/// What a look at the received bytes gave.
package enum ParsedResponseHead: Sendable {
    /// The head has not ended yet; nothing in it is wrong so far.
    case incomplete
    /// A whole head, one of an interim answer (1xx) too; `consumed` counts its bytes.
    case head(HTTPResponseHead, consumed: Int)
    /// Not to be read on.
    case failed(HTTPFailure)
}

/// Reads HTTP/1.1 heads of answers (RFC 9112 §4 to §6), as strict as `RequestHeadParser` does requests'.
package enum ResponseHeadParser {
    /// Looks for one head at the start of `bytes`.
    ///
    /// - Parameters:
    ///   - bytes: everything received since the last message ended.
    ///   - scanned: how many of them the last call on this head saw (it said `incomplete`); 0 at first.
    package static func parse(_ bytes: Span<UInt8>, scanned: Int = 0, limits: HTTPLimits) -> ParsedResponseHead {
        guard HeadProgress.isWorthParsing(bytes, scanned: scanned, limits: limits) else { return .incomplete }
        do throws(HeadStop) {
            var reader = HeadReader(available: bytes.count, limits: limits)
            let (head, length) = try reader.readAnswer(bytes.extracting(0..<min(bytes.count, reader.capacity)))
            return .head(head, consumed: length)
        } catch {
            switch error {
            case .incomplete: return .incomplete
            case .failed(let failure): return .failed(failure)
            }
        }
    }
}

extension HeadReader {
    /// Reads the whole head of an answer; gives it and the count of its bytes.
    fileprivate mutating func readAnswer(_ window: Span<UInt8>) throws(HeadStop) -> (HTTPResponseHead, Int) {
        let line = try StatusLine.read(window, limits: self.limits, atEnd: self.atEnd)
        let length = try self.readFields(window, from: line.end)
        let head = window.extracting(0..<length)
        do throws(HTTPFailure) {
            let framing = try FramingRule.framing(head, self.table, of: line)
            // A length beside `chunked` is overridden by it, but whoever sends both is not trusted further.
            let isClear = framing != .untilClose && (framing != .chunked || self.table.first(.contentLength) == nil)
            let keepAlive = line.minorVersion > 0 && isClear && !ConnectionRule.asksToClose(head, self.table)
            return (
                HTTPResponseHead(
                    bytes: Self.copy(head), line: line, framing: framing, keepAlive: keepAlive, table: self.table),
                length
            )
        } catch {
            throw .failed(error)
        }
    }
}

extension FramingRule {
    fileprivate static func framing(
        _ head: Span<UInt8>, _ table: FieldTable, of line: StatusLine
    ) throws(HTTPFailure) -> ResponseFraming {
        if line.status < 200 || line.status == 204 || line.status == 304 { return .none }
        if let coding = table.first(.transferEncoding) {
            guard line.minorVersion > 0, !table.isRepeated(.transferEncoding) else { throw .invalidTransferEncoding }
            try self.checkCoding(head.extracting(coding))
            return .chunked
        }
        guard let length = table.first(.contentLength) else { return .untilClose }
        guard !table.isRepeated(.contentLength) else { throw .invalidContentLength }
        return .length(try self.contentLength(head.extracting(length)))
    }
}
