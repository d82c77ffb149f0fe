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

    static func contentLength(_ value: Span<UInt8>) throws(HTTPFailure) -> Int {
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
    static func checkCoding(_ value: Span<UInt8>) throws(HTTPFailure) {
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
