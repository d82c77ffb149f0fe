import CCurl
import GatewayTypes

/// Reads `Retry-After` (RFC 9110 §10.2.3): seconds or a date.
enum RetryAfter {
    /// Longest wait that is believed, in seconds.
    private static let longest = 30

    /// Whole seconds, rounded up, from 0 to `longest`; nil for junk, signs and absence.
    static func seconds(_ value: String, now: WallTime) -> Int? {
        guard let first = value.utf8.first else { return nil }
        if first >= 0x30, first <= 0x39 {
            // A date may begin with a digit in no form that HTTP allows; hexadecimal and exponents are junk.
            guard value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2E }), let number = Double(value)
            else { return nil }
            return Int(min(Double(self.longest), number.rounded(.up)))
        }
        guard first >= 0x41 else { return nil }
        let date = curl_getdate(value, nil)
        guard date >= 0 else { return nil }
        return Int(min(Int64(self.longest), max(0, Int64(date) - now.seconds)))
    }
}
