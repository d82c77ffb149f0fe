/// A signed token in compact form (RFC 7515 §3.1), split and decoded but not verified.
package struct CompactJWS: Sendable {
    /// Sizes in bytes; the token's is looked at before anything is decoded.
    package struct Limits: Sendable {
        /// Of the whole token as it came.
        package var token: Int
        /// Of the decoded header.
        package var header: Int
        /// Of the decoded payload.
        package var payload: Int

        package init(token: Int = 8192, header: Int = 2048, payload: Int = 6144) {
            self.token = token
            self.header = header
            self.payload = payload
        }
    }

    /// The header's JSON.
    package let header: [UInt8]
    /// Raw bytes; JSON for a token of RFC 7519, which is the caller's to check.
    package let payload: [UInt8]
    /// Raw bytes, in the form of RFC 7518.
    package let signature: [UInt8]
    /// How many bytes at the start of the token are signed: `header.payload`.
    package let signedByteCount: Int

    /// Splits and decodes; the payload may be empty, the other parts may not.
    package init(parsing token: Span<UInt8>, limits: Limits = Limits()) throws(TokenFailure) {
        guard token.count <= limits.token else { throw .tooLong }
        let (first, second) = try Self.dots(of: token)
        guard first <= Self.encodedCount(limits.header), second - first - 1 <= Self.encodedCount(limits.payload) else {
            throw .tooLong
        }
        guard first > 0, second + 1 < token.count else { throw .malformed }
        guard let header = Base64URL.decode(token.extracting(0..<first)),
            let payload = Base64URL.decode(token.extracting(first + 1..<second)),
            let signature = Base64URL.decode(token.extracting(second + 1..<token.count))
        else { throw .invalidEncoding }
        self.header = header
        self.payload = payload
        self.signature = signature
        self.signedByteCount = second
    }

    /// The places of exactly two dots.
    private static func dots(of token: Span<UInt8>) throws(TokenFailure) -> (Int, Int) {
        var first = -1
        var second = -1
        for index in token.indices where token[index] == UInt8(ascii: ".") {
            if first < 0 {
                first = index
            } else if second < 0 {
                second = index
            } else {
                throw .malformed
            }
        }
        guard second >= 0 else { throw .malformed }
        return (first, second)
    }

    private static func encodedCount(_ bytes: Int) -> Int { (bytes * 4 + 2) / 3 }
}
