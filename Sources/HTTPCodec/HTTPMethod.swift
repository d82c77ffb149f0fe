/// The methods that a route can name; case-sensitive (RFC 9110 §9.1).
package enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case options = "OPTIONS"
    case patch = "PATCH"
    case trace = "TRACE"
    /// A token that is none of these; to be answered 501.
    case unknown

    /// Recognises a method token; `CONNECT` is not among them, the parser refuses it.
    init(token: Span<UInt8>) {
        switch token.count {
        case 3 where Self.matches(token, "GET"): self = .get
        case 3 where Self.matches(token, "PUT"): self = .put
        case 4 where Self.matches(token, "POST"): self = .post
        case 4 where Self.matches(token, "HEAD"): self = .head
        case 5 where Self.matches(token, "PATCH"): self = .patch
        case 5 where Self.matches(token, "TRACE"): self = .trace
        case 6 where Self.matches(token, "DELETE"): self = .delete
        case 7 where Self.matches(token, "OPTIONS"): self = .options
        default: self = .unknown
        }
    }

    @inline(__always)
    private static func matches(_ token: Span<UInt8>, _ name: StaticString) -> Bool {
        ByteComparison.equals(token, name)
    }
}
