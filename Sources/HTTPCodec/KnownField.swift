/// The request fields that the gateway looks at; found while parsing, each in a slot of its own.
package enum KnownField: UInt8, Sendable, CaseIterable {
    case host
    case authorization
    case contentType
    case contentLength
    case transferEncoding
    case connection
    case accept
    case acceptLanguage
    case expect
    case idempotencyKey
    case lastEventID
    case traceparent
    case tracestate
    case xForwardedFor
    case forwarded
    case contentEncoding

    /// Recognises a field name, whatever its case; nil for any other token.
    init?(name: Span<UInt8>) {
        switch name.count {
        case 4 where ByteComparison.isName(name, "host"): self = .host
        case 6 where ByteComparison.isName(name, "accept"): self = .accept
        case 6 where ByteComparison.isName(name, "expect"): self = .expect
        case 9 where ByteComparison.isName(name, "forwarded"): self = .forwarded
        case 10 where ByteComparison.isName(name, "connection"): self = .connection
        case 10 where ByteComparison.isName(name, "tracestate"): self = .tracestate
        case 11 where ByteComparison.isName(name, "traceparent"): self = .traceparent
        case 12 where ByteComparison.isName(name, "content-type"): self = .contentType
        case 13 where ByteComparison.isName(name, "authorization"): self = .authorization
        case 13 where ByteComparison.isName(name, "last-event-id"): self = .lastEventID
        case 14 where ByteComparison.isName(name, "content-length"): self = .contentLength
        case 15 where ByteComparison.isName(name, "accept-language"): self = .acceptLanguage
        case 15 where ByteComparison.isName(name, "idempotency-key"): self = .idempotencyKey
        case 15 where ByteComparison.isName(name, "x-forwarded-for"): self = .xForwardedFor
        case 16 where ByteComparison.isName(name, "content-encoding"): self = .contentEncoding
        case 17 where ByteComparison.isName(name, "transfer-encoding"): self = .transferEncoding
        default: return nil
        }
    }
}
