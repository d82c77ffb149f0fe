import HTTPCodec

/// Finds access tokens where they must not be: in the query (RFC 6750 §2.3 allows it; logs and proxies keep queries).
enum QueryToken {
    /// Whether the query has a parameter named `access_token`.
    static func isPresent(in head: HTTPRequestHead) -> Bool {
        guard let query = head.query, !query.isEmpty else { return false }
        return head.withBytes(query) { bytes in
            var start = 0
            while start < bytes.count {
                var end = start
                while end < bytes.count, bytes[end] != UInt8(ascii: "&") { end += 1 }
                if self.isNamed(bytes.extracting(start..<end)) { return true }
                start = end + 1
            }
            return false
        }
    }

    private static func isNamed(_ parameter: Span<UInt8>) -> Bool {
        let name: StaticString = "access_token"
        guard parameter.count >= name.utf8CodeUnitCount else { return false }
        for index in 0..<name.utf8CodeUnitCount where parameter[index] != name.utf8Start[index] { return false }
        return parameter.count == name.utf8CodeUnitCount || parameter[name.utf8CodeUnitCount] == UInt8(ascii: "=")
    }
}
