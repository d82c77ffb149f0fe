extension JSONReader {
    /// Reads one escape, and writes what it stands for where the decoded text ends.
    @inline(__always)
    mutating func readEscape(at source: inout Int, to target: inout Int) throws(Fault) {
        let decoded: UInt8
        switch self.tape.byte(source &+ 1) {
        case UInt8(ascii: "u"):
            return self.write(try self.readScalar(at: &source), to: &target)
        case UInt8(ascii: "\""): decoded = 0x22
        case UInt8(ascii: "\\"): decoded = 0x5C
        case UInt8(ascii: "/"): decoded = 0x2F
        case UInt8(ascii: "b"): decoded = 0x08
        case UInt8(ascii: "f"): decoded = 0x0C
        case UInt8(ascii: "n"): decoded = 0x0A
        case UInt8(ascii: "r"): decoded = 0x0D
        case UInt8(ascii: "t"): decoded = 0x09
        default: throw self.fault(at: source &+ 1)
        }
        self.tape.write(decoded, at: target)
        source &+= 2
        target &+= 1
    }

    /// Reads `\uXXXX`, or two of them that are a surrogate pair; halves of a pair stand for nothing.
    private func readScalar(at source: inout Int) throws(Fault) -> UInt32 {
        let first = source
        let unit = try self.readUnit(at: &source)
        guard unit & 0xF800 == 0xD800 else { return unit }
        guard unit < 0xDC00 else { throw Fault(reason: .syntax, position: first) }
        guard self.tape.byte(source) == UInt8(ascii: "\\") else { throw self.fault(at: source) }
        guard self.tape.byte(source &+ 1) == UInt8(ascii: "u") else { throw self.fault(at: source &+ 1) }
        let second = source
        let low = try self.readUnit(at: &source)
        guard low & 0xFC00 == 0xDC00 else { throw Fault(reason: .syntax, position: second) }
        return 0x10000 &+ ((unit & 0x3FF) << 10 | low & 0x3FF)
    }

    /// Reads the four hexadecimal digits behind `\u`.
    @inline(__always)
    private func readUnit(at source: inout Int) throws(Fault) -> UInt32 {
        var unit: UInt32 = 0
        for offset in 2..<6 {
            let byte = self.tape.byte(source &+ offset)
            let digit = UInt32(byte &- 0x30)
            let letter = UInt32((byte | 0x20) &- 0x61)
            guard digit < 10 || letter < 6 else { throw self.fault(at: source &+ offset) }
            unit = unit << 4 | (digit < 10 ? digit : letter &+ 10)
        }
        source &+= 6
        return unit
    }

    /// Writes a character as UTF-8: at most three bytes for one escape, four for two.
    private mutating func write(_ scalar: UInt32, to target: inout Int) {
        if scalar < 0x80 {
            self.write(scalar, to: &target, mark: 0)
        } else if scalar < 0x800 {
            self.write(scalar >> 6, to: &target, mark: 0xC0)
            self.write(scalar & 0x3F, to: &target, mark: 0x80)
        } else if scalar < 0x10000 {
            self.write(scalar >> 12, to: &target, mark: 0xE0)
            self.write(scalar >> 6 & 0x3F, to: &target, mark: 0x80)
            self.write(scalar & 0x3F, to: &target, mark: 0x80)
        } else {
            self.write(scalar >> 18, to: &target, mark: 0xF0)
            self.write(scalar >> 12 & 0x3F, to: &target, mark: 0x80)
            self.write(scalar >> 6 & 0x3F, to: &target, mark: 0x80)
            self.write(scalar & 0x3F, to: &target, mark: 0x80)
        }
    }

    @inline(__always)
    private mutating func write(_ bits: UInt32, to target: inout Int, mark: UInt8) {
        self.tape.write(UInt8(truncatingIfNeeded: bits) | mark, at: target)
        target &+= 1
    }
}
