/// Names one ask across log, store and answer: 128 random bits, written as 32 lower-case hexadecimal digits.
package struct RequestID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func random() -> RequestID {
        var generator = SystemRandomNumberGenerator()
        return RequestID(high: generator.next(), low: generator.next())
    }

    /// Appends the 32 digits without a temporary string.
    package func append(to output: inout [UInt8]) {
        for word in [self.high, self.low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                Hexadecimal.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)), to: &output)
            }
        }
    }

    package var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        self.append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
