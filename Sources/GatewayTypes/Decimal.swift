/// Whole numbers in decimal.
package enum Decimal {
    /// Appends a number without a temporary string.
    package static func append(_ value: Int, to output: inout [UInt8]) {
        // Twenty places hold any number with its sign.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { places in
            var rest = value.magnitude
            var at = places.count
            repeat {
                at &-= 1
                places.initializeElement(at: at, to: 0x30 &+ UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            } while rest > 0
            if value < 0 {
                at &-= 1
                places.initializeElement(at: at, to: 0x2D)
            }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: places[at...]))
        }
    }
}
