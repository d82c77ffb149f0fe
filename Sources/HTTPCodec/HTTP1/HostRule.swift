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
