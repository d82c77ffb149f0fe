/// Finds the token in an `Authorization` field (RFC 6750 §2.1).
enum BearerToken {
    /// The place of the token in the field's value; its bytes are not judged yet.
    ///
    /// - Parameter value: trimmed of spaces and tabs at both ends.
    static func range(in value: Span<UInt8>) throws(AuthenticationFailure) -> Range<Int> {
        guard Self.hasScheme(value) else { throw .noCredentials }
        guard value.count > Self.scheme.count + 1, value[Self.scheme.count] == UInt8(ascii: " ") else {
            throw .malformedCredentials
        }
        return Self.scheme.count + 1..<value.count
    }

    /// Refuses what is no single token. The rest of its form is for the token's own reader, which is stricter than
    /// the header's grammar.
    static func check(_ token: Span<UInt8>) throws(AuthenticationFailure) {
        for index in token.indices {
            switch token[index] {
            // Two fields that something in between joined.
            case UInt8(ascii: ","): throw .severalCredentials
            case 0...0x20, 0x7F...: throw .malformedCredentials
            default: break
            }
        }
    }

    private static let scheme = Array("bearer".utf8)

    /// The scheme in any case, at the end of the value or before something that is no part of its name.
    private static func hasScheme(_ value: Span<UInt8>) -> Bool {
        guard value.count >= Self.scheme.count else { return false }
        for index in 0..<Self.scheme.count where value[index] | 0x20 != Self.scheme[index] { return false }
        guard value.count > Self.scheme.count else { return true }
        let next = value[Self.scheme.count]
        return next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") || next == UInt8(ascii: ",")
    }
}
