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

    /// Of `description`, in bytes.
    package static let textLength = 32

    /// Appends the 32 digits without a temporary string.
    package func append(to output: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { places in
            var (high, low) = (self.high, self.low)
            for at in stride(from: 15, through: 0, by: -1) {
                places[at] = Hexadecimal.digit(UInt8(truncatingIfNeeded: high & 15))
                places[at &+ 16] = Hexadecimal.digit(UInt8(truncatingIfNeeded: low & 15))
                high >>= 4
                low >>= 4
            }
            output.append(contentsOf: UnsafeBufferPointer(places))
        }
    }

    package var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        self.append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
