/// A set of ASCII bytes, one bit each; bytes from 0x80 are in no set.
///
/// Sets are computed properties, so that the masks become immediates and no lazy global stands in a loop.
struct ByteClass {
    /// Bit n stands for byte n.
    let low: UInt64
    /// Bit n stands for byte 64 + n.
    let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 64 == 0 ? self.low : self.high
        return byte < 128 && (word &>> UInt64(byte & 63)) & 1 == 1
    }

    /// `tchar` of RFC 9110 §5.6.2: letters, digits and ``!#$%&'*+-.^_`|~``.
    @inline(__always)
    static var token: ByteClass { ByteClass(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }

    /// What a request target may hold: visible ASCII without `#` and `\`.
    @inline(__always)
    static var target: ByteClass { ByteClass(low: 0xFFFF_FFF6_0000_0000, high: 0x7FFF_FFFF_EFFF_FFFF) }

    /// `reg-name` of RFC 3986 §3.2.2 without the comma, which would make one host look like a list.
    @inline(__always)
    static var registeredName: ByteClass { ByteClass(low: 0x2BFF_6FF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }

    /// Inside the brackets of an IPv6 literal: hexadecimal digits, `:` and `.`.
    @inline(__always)
    static var addressLiteral: ByteClass { ByteClass(low: 0x07FF_4000_0000_0000, high: 0x0000_007E_0000_007E) }
}
