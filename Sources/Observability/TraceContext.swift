package import GatewayTypes

/// Names one trace: 128 random bits, never all zero (W3C Trace Context §3.2.2.3).
package struct TraceID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    /// Nil for the all-zero identifier, which the standard calls invalid.
    package init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// The trace of an ask that nobody else traces has the ask's own name.
    package init(_ request: RequestID) {
        self.high = request.high
        self.low = request.high | request.low == 0 ? 1 : request.low
    }

    package var description: String {
        var bytes: [UInt8] = []
        self.append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends 32 lower-case hexadecimal digits.
    package func append(to output: inout [UInt8]) {
        Hexadecimal.append(self.high, to: &output)
        Hexadecimal.append(self.low, to: &output)
    }
}

/// What one `traceparent` field says.
package struct TraceContext: Hashable, Sendable {
    package let traceID: TraceID
    /// The caller's span, which becomes the parent of ours. Never zero.
    package let spanID: UInt64
    package let isSampled: Bool

    package init(traceID: TraceID, spanID: UInt64, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID == 0 ? 1 : spanID
        self.isSampled = isSampled
    }

    /// Reads one field value; nil when it must be ignored: another length, version `ff`, upper-case digits, an
    /// all-zero identifier. Of higher versions the first four members are read (Trace Context §4.3).
    ///
    /// A request with two `traceparent` fields has none: the caller must not pass either of them.
    package static func parse(_ field: Span<UInt8>) -> TraceContext? {
        guard field.count >= 55, hasSeparators(field),
            let version = hexadecimal(field, at: 0, digits: 2), version != 0xFF,
            field.count == 55 || (version > 0 && field[55] == UInt8(ascii: "-")),
            let high = hexadecimal(field, at: 3, digits: 16), let low = hexadecimal(field, at: 19, digits: 16),
            let trace = TraceID(high: high, low: low),
            let span = hexadecimal(field, at: 36, digits: 16), span != 0,
            let flags = hexadecimal(field, at: 53, digits: 2)
        else { return nil }
        return TraceContext(traceID: trace, spanID: span, isSampled: flags & 1 == 1)
    }
}

private func hasSeparators(_ field: Span<UInt8>) -> Bool {
    field[2] == UInt8(ascii: "-") && field[35] == UInt8(ascii: "-") && field[52] == UInt8(ascii: "-")
}

/// The value of lower-case hexadecimal digits; nil for any other byte. At most 16 digits.
private func hexadecimal(_ field: Span<UInt8>, at start: Int, digits: Int) -> UInt64? {
    var value: UInt64 = 0
    for position in start..<(start + digits) {
        switch field[position] {
        case let byte where byte >= 0x30 && byte <= 0x39: value = value &<< 4 | UInt64(byte &- 0x30)
        case let byte where byte >= 0x61 && byte <= 0x66: value = value &<< 4 | UInt64(byte &- 0x57)
        default: return nil
        }
    }
    return value
}
