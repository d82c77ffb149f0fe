import GatewayTypes

/// Appending text to a byte buffer without temporary strings. Kept to this target: answers to clients have a JSON
/// writer of their own, logs need stricter escaping.
extension [UInt8] {
    mutating func append(literal text: StaticString) {
        if text.hasPointerRepresentation {
            self.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        } else {
            text.withUTF8Buffer { self.append(contentsOf: $0) }
        }
    }

    /// Appends words of ours and a number or null.
    mutating func append(literal text: StaticString, number: Int?) {
        self.append(addingCapacity: text.utf8CodeUnitCount &+ Decimal.mostPlaces) { output in
            output.append(text)
            if let number { Decimal.append(number, to: &output) } else { output.append("null") }
        }
    }

    /// Appends words of ours and milliseconds with up to three decimals, or null.
    mutating func append(literal text: StaticString, milliseconds span: TimeSpan?) {
        self.append(addingCapacity: text.utf8CodeUnitCount &+ 2 &* Decimal.mostPlaces) { output in
            output.append(text)
            guard let span else { return output.append("null") }
            output.append(fixed: span.nanoseconds / 1000, places: 3)
        }
    }

    /// Appends a whole number of `1 / 10^places` units as a decimal fraction, without trailing zeros.
    mutating func append(fixed value: Int64, places: Int) {
        self.append(addingCapacity: 2 &* Decimal.mostPlaces) { $0.append(fixed: value, places: places) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends at least `width` digits, zeros in front; `width` is at most 20 and `value` not negative.
    mutating func append(decimal value: Int64, width: Int) {
        var threshold: Int64 = 10
        for _ in 1..<Swift.max(width, 1) {
            if value < threshold { self.append(48) }
            threshold = threshold &* 10
        }
        Decimal.append(Int(value), to: &self)
    }

    /// Appends a whole number of `1 / 10^places` units as a decimal fraction, without trailing zeros; there must be
    /// room for it.
    mutating func append(fixed value: Int64, places: Int) {
        var scale: UInt64 = 1
        for _ in 0..<places { scale = scale &* 10 }
        if value < 0 { self.append(UInt8(ascii: "-")) }
        let (whole, fraction) = value.magnitude.quotientAndRemainder(dividingBy: scale)
        Decimal.append(Int(clamping: whole), to: &self)
        guard fraction > 0 else { return }
        self.append(UInt8(ascii: "."))
        var rest = fraction
        while rest > 0 {
            scale /= 10
            let (digit, remainder) = rest.quotientAndRemainder(dividingBy: scale)
            self.append(48 &+ UInt8(truncatingIfNeeded: digit))
            rest = remainder
        }
    }
}
