import GatewayTypes

/// Appends the inside of a JSON string: quotes, backslashes and control characters escaped, runs of everything else
/// copied as they are.
///
/// - Parameter bytes: valid UTF-8; nothing else is checked here, and non-ASCII is not escaped.
package func appendEscaped(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    var runStart = 0
    var position = 0
    while true {
        position = endOfPlainRun(bytes, from: position)
        if position > runStart {
            output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[runStart..<position]))
        }
        guard position < bytes.count else { return }
        appendEscape(of: bytes[position], to: &output)
        position &+= 1
        runStart = position
    }
}

/// The index of the next byte that needs an escape, or the count.
func endOfPlainRun(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    let raw = UnsafeRawBufferPointer(bytes)
    let low: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    var position = start
    // Eight bytes at a time: a zero byte in `word ^ pattern`, or a byte below 0x20, lends its high bit.
    while position &+ 8 <= raw.count {
        let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        let quotes = word ^ (low &* 0x22)
        let backslashes = word ^ (low &* 0x5C)
        let found =
            ((quotes &- low) & ~quotes) | ((backslashes &- low) & ~backslashes) | ((word &- low &* 0x20) & ~word)
        if found & high != 0 { return position &+ (UInt64(littleEndian: found & high).trailingZeroBitCount >> 3) }
        position &+= 8
    }
    while position < raw.count {
        let byte = raw[position]
        if byte < 0x20 || byte == 0x22 || byte == 0x5C { return position }
        position &+= 1
    }
    return position
}

private func appendEscape(of byte: UInt8, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x22, 0x5C: output.append(byte)
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x09: output.append(UInt8(ascii: "t"))
    case 0x0A: output.append(UInt8(ascii: "n"))
    case 0x0C: output.append(UInt8(ascii: "f"))
    case 0x0D: output.append(UInt8(ascii: "r"))
    default:
        output.append(UInt8(ascii: "u"))
        output.append(UInt8(ascii: "0"))
        output.append(UInt8(ascii: "0"))
        output.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
        output.append(Hexadecimal.digit(byte))
    }
}
