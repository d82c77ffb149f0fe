/// Names one ask across log, store and answer: 128 random bits, written as 32 lower-case hexadecimal digits.
package struct RequestID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func random() -> RequestID {
        var words = SystemRandomNumberGenerator()
        return RequestID(high: words.next(), low: words.next())
    }

    /// For where many are made.
    package static func random(using words: inout RandomWords) -> RequestID {
        RequestID(high: words.next(), low: words.next())
    }

    /// Of `description`, in bytes.
    package static let textLength = 32

    /// Appends the 32 digits without a temporary string.
    package func append(to output: inout [UInt8]) {
        output.append(addingCapacity: Self.textLength) { self.append(to: &$0) }
    }

    /// Appends the 32 digits; there must be room for them.
    package func append(to output: inout OutputSpan<UInt8>) {
        Hexadecimal.append(self.high, to: &output)
        Hexadecimal.append(self.low, to: &output)
    }

    package var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        self.append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
