internal import GatewayTypes

/// How long an answer may be used, from `Cache-Control` and `Age` (RFC 9111 §5).
enum Freshness {
    static let usual = TimeSpan.seconds(600)
    static let longest = TimeSpan.seconds(86_400)

    /// Clamped to what is neither a burden to the issuer nor too late for its next rotation.
    static func lifetime(cacheControl: String?, age: String?, least: TimeSpan) -> TimeSpan {
        var lifetime = Self.usual
        for directive in (cacheControl ?? "").split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.trimmed(parts.first ?? "").lowercased()
            if name == "no-store" || name == "no-cache" { return least }
            guard name == "max-age", parts.count == 2, let seconds = Self.seconds(Self.trimmed(parts[1])) else {
                continue
            }
            lifetime = .seconds(seconds - min(seconds, age.flatMap { Self.seconds(Self.trimmed($0[...])) } ?? 0))
        }
        return max(least, min(Self.longest, lifetime))
    }

    /// Digits only, possibly in quotes; a huge number is as good as a large one.
    private static func seconds(_ text: Substring) -> Int64? {
        let digits = text.hasPrefix("\"") && text.hasSuffix("\"") ? text.dropFirst().dropLast() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int64(digits) ?? .max, 1 << 31)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.utf8.first == 0x20 || text.utf8.first == 0x09 { text.removeFirst() }
        while text.utf8.last == 0x20 || text.utf8.last == 0x09 { text.removeLast() }
        return text
    }
}
