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

    mutating func append(decimal value: Int64) {
        if value < 0 { self.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        guard rest >= 10 else { return self.append(48 &+ UInt8(truncatingIfNeeded: rest)) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = 20
            while rest > 0 {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                start -= 1
                digits.initializeElement(at: start, to: 48 &+ UInt8(truncatingIfNeeded: digit))
                rest = quotient
            }
            self.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start..<20]))
        }
    }

    mutating func append(decimal value: Int) { self.append(decimal: Int64(value)) }

    /// Appends at least `width` digits, zeros in front; `width` is at most 20 and `value` not negative.
    mutating func append(decimal value: Int64, width: Int) {
        var threshold: Int64 = 10
        for _ in 1..<Swift.max(width, 1) {
            if value < threshold { self.append(48) }
            threshold = threshold &* 10
        }
        self.append(decimal: value)
    }

    /// Appends a whole number of `1 / 10^places` units as a decimal fraction, without trailing zeros.
    mutating func append(fixed value: Int64, places: Int) {
        var scale: UInt64 = 1
        for _ in 0..<places { scale = scale &* 10 }
        if value < 0 { self.append(UInt8(ascii: "-")) }
        let (whole, fraction) = value.magnitude.quotientAndRemainder(dividingBy: scale)
        self.append(decimal: Int64(clamping: whole))
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

    /// Appends 16 lower-case hexadecimal digits.
    mutating func append(hex word: UInt64) {
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            self.append(hexDigit(UInt8(truncatingIfNeeded: word &>> shift)))
        }
    }
}

/// The lower-case digit for the low four bits.
func hexDigit(_ value: UInt8) -> UInt8 {
    let digit = value & 15
    return digit < 10 ? 48 &+ digit : 87 &+ digit
}
