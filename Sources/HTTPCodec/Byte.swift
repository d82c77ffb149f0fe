/// The bytes that the codecs name.
enum Byte {
    @inline(__always) static var tab: UInt8 { 0x09 }
    @inline(__always) static var lineFeed: UInt8 { 0x0A }
    @inline(__always) static var carriageReturn: UInt8 { 0x0D }
    @inline(__always) static var space: UInt8 { 0x20 }
    @inline(__always) static var quote: UInt8 { 0x22 }
    @inline(__always) static var percent: UInt8 { 0x25 }
    @inline(__always) static var asterisk: UInt8 { 0x2A }
    @inline(__always) static var comma: UInt8 { 0x2C }
    @inline(__always) static var hyphen: UInt8 { 0x2D }
    @inline(__always) static var period: UInt8 { 0x2E }
    @inline(__always) static var slash: UInt8 { 0x2F }
    @inline(__always) static var zero: UInt8 { 0x30 }
    @inline(__always) static var one: UInt8 { 0x31 }
    @inline(__always) static var colon: UInt8 { 0x3A }
    @inline(__always) static var semicolon: UInt8 { 0x3B }
    @inline(__always) static var equals: UInt8 { 0x3D }
    @inline(__always) static var question: UInt8 { 0x3F }
    @inline(__always) static var openBracket: UInt8 { 0x5B }
    @inline(__always) static var backslash: UInt8 { 0x5C }
    @inline(__always) static var closeBracket: UInt8 { 0x5D }
    @inline(__always) static var delete: UInt8 { 0x7F }

    /// SP or HTAB: the only optional white space there is (RFC 9110 §5.6.3).
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// The value of a decimal digit, nil for other bytes.
    @inline(__always)
    static func digit(_ byte: UInt8) -> Int? {
        let value = byte &- zero
        return value < 10 ? Int(value) : nil
    }

    /// The value of a hexadecimal digit, nil for other bytes.
    @inline(__always)
    static func hexadecimal(_ byte: UInt8) -> Int? {
        if let value = digit(byte) { return value }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? Int(letter) &+ 10 : nil
    }
}
