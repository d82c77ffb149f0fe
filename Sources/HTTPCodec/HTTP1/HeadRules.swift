/// Which host a request is for (RFC 9112 §3.2).
enum HostRule {
    /// Gives host and port; nil when an HTTP/1.0 client named none.
    static func authority(
        _ head: Span<UInt8>, _ table: FieldTable, _ line: RequestLine
    ) throws(HTTPFailure) -> Range<Int>? {
        if table.isRepeated(.host) { throw .hostInvalid }
        guard let host = table.first(.host) else {
            if line.minorVersion > 0 { throw .hostMissing }
            return line.authority
        }
        guard self.isValid(head.extracting(host)) else { throw .hostInvalid }
        guard let named = line.authority else { return host }
        // The target would win (RFC 9112 §3.2.2), but two answers to "which host" are a smuggler's tool.
        guard ByteComparison.equalsFolded(head.extracting(named), head.extracting(host)) else { throw .hostInvalid }
        return named
    }

    /// Whether `text` is `uri-host [":" port]`, not empty; user information, lists and paths are not hosts.
    static func isValid(_ text: Span<UInt8>) -> Bool {
        var at = 0
        if text.count > 0, text[0] == Byte.openBracket {
            at = 1
            while at < text.count, ByteClass.addressLiteral.contains(text[at]) { at &+= 1 }
            guard at >= 3, at < text.count, text[at] == Byte.closeBracket else { return false }
            at &+= 1
        } else {
            while at < text.count, ByteClass.registeredName.contains(text[at]) {
                if text[at] == Byte.percent, !self.isEscape(text, at: at) { return false }
                at &+= 1
            }
            guard at > 0 else { return false }
        }
        guard at < text.count else { return true }
        return text[at] == Byte.colon && self.isPort(text.extracting(at &+ 1..<text.count))
    }

    private static func isEscape(_ text: Span<UInt8>, at percent: Int) -> Bool {
        percent &+ 2 < text.count && Byte.hexadecimal(text[percent &+ 1]) != nil
            && Byte.hexadecimal(text[percent &+ 2]) != nil
    }

    /// An empty port is allowed by RFC 3986 §3.2.3.
    private static func isPort(_ text: Span<UInt8>) -> Bool {
        guard text.count <= 5 else { return false }
        var port = 0
        for at in 0..<text.count {
            guard let digit = Byte.digit(text[at]) else { return false }
            port = port &* 10 &+ digit
        }
        return port <= 65535
    }
}

/// Where a body ends: the decision order of RFC 9112 §6.3, with every doubt refused.
enum FramingRule {
    /// Digits that surely fit into an `Int`.
    private static let lengthDigits = 18

    static func framing(
        _ head: Span<UInt8>, _ table: FieldTable, minorVersion: Int
    ) throws(HTTPFailure) -> BodyFraming {
        let length = table.first(.contentLength)
        if let coding = table.first(.transferEncoding) {
            guard minorVersion > 0 else { throw .invalidTransferEncoding }
            guard length == nil else { throw .conflictingFraming }
            guard !table.isRepeated(.transferEncoding) else { throw .invalidTransferEncoding }
            try self.checkCoding(head.extracting(coding))
            return .chunked
        }
        guard let length else { return .none }
        guard !table.isRepeated(.contentLength) else { throw .invalidContentLength }
        return .length(try self.contentLength(head.extracting(length)))
    }

    private static func contentLength(_ value: Span<UInt8>) throws(HTTPFailure) -> Int {
        guard value.count > 0, value.count <= self.lengthDigits else { throw .invalidContentLength }
        var length = 0
        for at in 0..<value.count {
            guard let digit = Byte.digit(value[at]) else { throw .invalidContentLength }
            length = length &* 10 &+ digit
        }
        return length
    }

    /// Accepts `chunked` alone. A list of other codings that ends in `chunked` is sound but not spoken here (501);
    /// anything else leaves the length in doubt (400).
    private static func checkCoding(_ value: Span<UInt8>) throws(HTTPFailure) {
        if ByteComparison.equalsFolded(value, "chunked") { return }
        var failure = HTTPFailure.unsupportedTransferCoding
        var endsChunked = false
        FieldList.forEach(value) { element in
            if endsChunked || !self.isCoding(element) { failure = .invalidTransferEncoding }
            endsChunked = ByteComparison.equalsFolded(element, "chunked")
        }
        throw endsChunked ? failure : .invalidTransferEncoding
    }

    /// A bare coding name; `identity` was withdrawn and parameters are no part of any coding we know.
    private static func isCoding(_ element: Span<UInt8>) -> Bool {
        for at in 0..<element.count where !ByteClass.token.contains(element[at]) { return false }
        return element.count > 0 && !ByteComparison.equalsFolded(element, "identity")
    }
}

/// What the client says about the connection and about waiting.
enum ConnectionRule {
    /// Whether any `Connection` line holds the option `close` (RFC 9112 §9.6).
    static func asksToClose(_ head: Span<UInt8>, _ table: FieldTable) -> Bool {
        guard table.first(.connection) != nil else { return false }
        var closes = false
        for field in table.fields where field.known == .connection {
            FieldList.forEach(head.extracting(field.value)) { option in
                if ByteComparison.equalsFolded(option, "close") { closes = true }
            }
        }
        return closes
    }

    /// Whether the client waits for `100 Continue`; HTTP/1.0 clients never do (RFC 9110 §10.1.1).
    static func expectsContinue(
        _ head: Span<UInt8>, _ table: FieldTable, minorVersion: Int
    ) throws(HTTPFailure) -> Bool {
        guard table.first(.expect) != nil else { return false }
        for field in table.fields where field.known == .expect {
            guard ByteComparison.equalsFolded(head.extracting(field.value), "100-continue") else {
                throw .expectationFailed
            }
        }
        return minorVersion > 0
    }
}
