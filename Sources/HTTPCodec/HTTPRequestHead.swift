/// How the end of a body is found (RFC 9112 §6.3).
package enum BodyFraming: Hashable, Sendable {
    case none
    /// Bytes announced by `Content-Length`; may be 0.
    case length(Int)
    case chunked
}

/// A checked request head: one copy of its bytes, and where in it everything stands.
///
/// Nothing is decoded: path and values are the bytes the client sent. All ranges lie inside `bytes`.
package struct HTTPRequestHead: Sendable {
    /// The head from the request line to its last line end. Holds credentials: never log it.
    package let bytes: [UInt8]
    package let method: HTTPMethod
    /// The path without the query; `/` when an absolute target has none, `*` for `OPTIONS *`.
    package let path: Range<Int>
    /// What follows the first `?` of the target.
    package let query: Range<Int>?
    /// Host and port asked for: of an absolute target, else the `Host` value. Nil only for HTTP/1.0.
    package let authority: Range<Int>?
    /// 0 or 1; later minor versions count as 1 (RFC 9110 §6.2).
    package let minorVersion: Int
    package let framing: BodyFraming
    /// Whether the client lets the connection live on after the answer; never with HTTP/1.0.
    package let keepAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends the body that `framing` announces.
    package let expectsContinue: Bool
    let table: FieldTable

    /// All field lines in their order.
    package var fields: [HTTPField] { self.table.fields }

    /// Where the value of the field's first line stands; nil when the client sent none.
    package func range(of field: KnownField) -> Range<Int>? { self.table.first(field) }

    /// On how many lines the field came. More than one `Authorization` is an error for the caller to answer.
    package func count(of field: KnownField) -> Int { self.table.count(field) }

    /// Lends the value of the field's first line; nil without calling `body` when there is none.
    @inlinable
    package func withValue<Value>(of field: KnownField, _ body: (Span<UInt8>) throws -> Value) rethrows -> Value? {
        guard let range = self.range(of: field) else { return nil }
        return try self.withBytes(range, body)
    }

    /// Lends the values of all lines of the field, in their order.
    package func forEachValue(of field: KnownField, _ body: (Span<UInt8>) throws -> Void) rethrows {
        guard self.table.first(field) != nil else { return }
        for line in self.table.fields where line.known == field { try self.withBytes(line.value, body) }
    }

    /// Where the value of any other field stands: a walk over the fields. `name` is in lower case.
    package func value(named name: StaticString) -> Range<Int>? {
        for line in self.table.fields
        where ByteComparison.equalsFolded(self.bytes.span.extracting(line.name), name) {
            return line.value
        }
        return nil
    }

    /// Whether the path is exactly `path`; no decoding, no folding.
    package func pathIs(_ path: StaticString) -> Bool {
        ByteComparison.equals(self.bytes.span.extracting(self.path), path)
    }

    /// What follows `prefix` in the path, if the path begins so; no decoding, no folding.
    package func rest(ofPathAfter prefix: StaticString) -> Range<Int>? {
        let start = self.path.lowerBound &+ prefix.utf8CodeUnitCount
        guard start <= self.path.upperBound,
            ByteComparison.equals(self.bytes.span.extracting(self.path.lowerBound..<start), prefix)
        else { return nil }
        return start..<self.path.upperBound
    }

    /// Lends a part of the head. `range` has to come from this head; it is cut to the bytes there are.
    @inlinable
    package func withBytes<Value>(
        _ range: Range<Int>, _ body: (Span<UInt8>) throws -> Value
    ) rethrows -> Value {
        try body(self.bytes.span.extracting(range.clamped(to: 0..<self.bytes.count)))
    }
}
