extension JSONReader {
    /// Longer exponents and digit runs are counted up to here: beyond every `Double`.
    private static var farOut: Int { 1_000_000_000 }

    /// Reads a number's grammar and adds its node; the value is found out when it is asked for.
    mutating func readNumber() throws(Fault) {
        let start = self.position
        var end = start
        if self.tape.byte(end) == UInt8(ascii: "-") { end &+= 1 }
        let first = end
        end = try self.endOfDigits(from: end)
        let digits = end &- first
        if digits > 1, self.tape.byte(first) == UInt8(ascii: "0") { throw self.fault(at: first &+ 1) }
        var isInteger = true
        var exponent = 0
        if self.tape.byte(end) == UInt8(ascii: ".") {
            isInteger = false
            end = try self.endOfDigits(from: end &+ 1)
        }
        if self.tape.byte(end) | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            exponent = try self.readExponent(at: &end)
        }
        self.position = end
        try self.append(isInteger ? .integer : .real, start: start, count: end &- start)
        // The value is below ten to this power; only near the largest `Double` a closer look is due.
        if digits &+ exponent > 300 { try self.refuseInfinity(from: start, to: end) }
    }

    /// The end of a run of one digit or more.
    @inline(__always)
    private func endOfDigits(from start: Int) throws(Fault) -> Int {
        var position = start
        while self.tape.byte(position) &- 0x30 < 10 { position &+= 1 }
        guard position > start else { throw self.fault(at: start) }
        return position
    }

    /// Reads an exponent from its letter on.
    private func readExponent(at position: inout Int) throws(Fault) -> Int {
        var digit = position &+ 1
        let sign = self.tape.byte(digit)
        if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { digit &+= 1 }
        position = try self.endOfDigits(from: digit)
        var value = 0
        while digit < position, value < Self.farOut {
            value = value &* 10 &+ Int(self.tape.byte(digit) &- 0x30)
            digit &+= 1
        }
        return sign == UInt8(ascii: "-") ? 0 &- value : value
    }

    @inline(never)
    private func refuseInfinity(from start: Int, to end: Int) throws(Fault) {
        let node = self.tape[self.tape.nodeCount &- 1]
        guard let value = Double(decimal: self.tape.text(of: node)), value.isFinite else {
            throw Fault(reason: .numberOutOfRange, position: start)
        }
    }
}

extension Double {
    /// Reads a number that the grammar has passed; infinite when it is out of range.
    init?(decimal text: UnsafeBufferPointer<UInt8>) {
        guard let value = Double(String(decoding: text, as: UTF8.self)) else { return nil }
        self = value
    }
}

extension Int {
    /// Reads an integer that the grammar has passed; nil when it is out of range.
    init?(decimal text: UnsafeBufferPointer<UInt8>) {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        // Nineteen digits fit 64 bits without a sign, and there are no leading zeros.
        guard digits.count <= 19 else { return nil }
        var magnitude: UInt = 0
        for digit in digits { magnitude = magnitude &* 10 &+ UInt(digit &- 0x30) }
        guard magnitude <= Int.max.magnitude &+ (isNegative ? 1 : 0) else { return nil }
        self = isNegative ? 0 &- Int(bitPattern: magnitude) : Int(bitPattern: magnitude)
    }
}
