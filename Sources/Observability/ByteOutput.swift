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

    mutating func append(decimal value: Int) { Decimal.append(value, to: &self) }

    mutating func append(decimal value: Int64) { Decimal.append(Int(value), to: &self) }

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
        let digits = (
            hexDigits(UInt32(truncatingIfNeeded: word &>> 32)), hexDigits(UInt32(truncatingIfNeeded: word))
        )
        Swift.withUnsafeBytes(of: digits) { self.append(contentsOf: $0) }
    }
}

/// Eight lower-case digits, the first in the lowest address: half bytes are spread to bytes, then all lifted at once.
private func hexDigits(_ word: UInt32) -> UInt64 {
    var spread = UInt64(word)
    spread = (spread &<< 16 | spread) & 0x0000_FFFF_0000_FFFF
    spread = (spread &<< 8 | spread) & 0x00FF_00FF_00FF_00FF
    spread = (spread &<< 4 | spread) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = (spread &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
    return (spread &+ 0x3030_3030_3030_3030 &+ letters &* 39).bigEndian
}

/// The lower-case digit for the low four bits.
func hexDigit(_ value: UInt8) -> UInt8 {
    let digit = value & 15
    return digit < 10 ? 48 &+ digit : 87 &+ digit
}
