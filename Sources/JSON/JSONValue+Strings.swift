extension JSONValue {
    /// Where the string's bytes stand: valid UTF-8, perhaps with NULs, alive as long as the document; nil for other
    /// kinds.
    @usableFromInline var utf8: UnsafeBufferPointer<UInt8>? {
        self.content.kind == .string ? self.document.tape.text(of: self.content) : nil
    }

    /// Lends the string's UTF-8 without copying it; nil for other kinds. The bytes must not outlive the call.
    @inlinable
    package func withString<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        defer { withExtendedLifetime(self.document) {} }
        guard let utf8 = self.utf8 else { return nil }
        return try body(utf8)
    }

    /// The string's text; nil for other kinds.
    package var string: String? { self.withString { String(decoding: $0, as: UTF8.self) } }

    /// A copy of the string's UTF-8; nil for other kinds.
    package var bytes: [UInt8]? { self.withString { Array($0) } }

    /// Whether the value is a string of exactly these bytes.
    package func isString(_ text: String) -> Bool {
        guard self.content.kind == .string else { return false }
        defer { withExtendedLifetime(self.document) {} }
        var text = text
        return text.withUTF8 { self.document.tape.text(of: self.content, equals: $0) }
    }
}
