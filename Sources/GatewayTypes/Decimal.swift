/// Whole numbers in decimal.
package enum Decimal {
    /// Places that hold any number with its sign.
    package static let mostPlaces = 20

    /// Appends a number without a temporary string.
    package static func append(_ value: Int, to output: inout [UInt8]) {
        output.append(addingCapacity: self.mostPlaces) { self.append(value, to: &$0) }
    }

    /// Appends a number; there must be room for `mostPlaces`.
    package static func append(_ value: Int, to output: inout OutputSpan<UInt8>) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: self.mostPlaces) { places in
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
            output.append(UnsafeBufferPointer(rebasing: places[at...]))
        }
    }
}
