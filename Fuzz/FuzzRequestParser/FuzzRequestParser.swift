import FuzzDriver
import HTTPCodec

/// Parses the input in one call, byte by byte and in two parts, and checks that all give one sound answer.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzRequestParser(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    for limits in [HTTPLimits(), narrowLimits()] {
        let whole = RequestHeadParser.parse(bytes.span, limits: limits)
        check(whole, of: bytes)
        guard count > 0, count <= 9000 else { continue }
        expectSame(whole, bytes, step: 1, limits: limits)
        expectSame(whole, bytes, step: 1 + Int(bytes[count / 2]), limits: limits)
        expectLongerInputAgrees(whole, bytes, limits: limits)
    }
    return 0
}

/// Limits that small inputs can reach.
private func narrowLimits() -> HTTPLimits {
    var limits = HTTPLimits()
    limits.requestLineBytes = 40
    limits.headBytes = 160
    limits.fields = 4
    limits.nameBytes = 18
    limits.valueBytes = 32
    limits.authorizationBytes = 16
    limits.leadingEmptyLines = 1
    return limits
}

private func parse(_ bytes: [UInt8], step: Int, limits: HTTPLimits) -> ParsedHead {
    var scanned = 0
    for end in Array(stride(from: step, to: bytes.count, by: step)) + [bytes.count] {
        let parsed = RequestHeadParser.parse(bytes.span.extracting(0..<end), scanned: scanned, limits: limits)
        if case .incomplete = parsed { scanned = end } else { return parsed }
    }
    return .incomplete
}

/// In parts comes the same answer; a fault in an unfinished head may wait for the byte that makes it worth a look.
private func expectSame(_ whole: ParsedHead, _ bytes: [UInt8], step: Int, limits: HTTPLimits) {
    var parts = parse(bytes, step: step, limits: limits)
    if case .failed = whole, case .incomplete = parts { parts = parse(bytes + [0], step: step, limits: limits) }
    expectSame(whole, parts)
}

private func expectSame(_ left: ParsedHead, _ right: ParsedHead) {
    switch (left, right) {
    case (.incomplete, .incomplete): break
    case (.failed(let one), .failed(let other)): precondition(one == other, "\(one) or \(other)")
    case (.head(let one, let count), .head(let other, let otherCount)):
        precondition(count == otherCount && one.bytes == other.bytes && one.framing == other.framing)
    default: preconditionFailure("\(left) or \(right)")
    }
}

/// An answer stands whatever comes after it.
private func expectLongerInputAgrees(_ parsed: ParsedHead, _ bytes: [UInt8], limits: HTTPLimits) {
    if case .incomplete = parsed { return }
    for rest: [UInt8] in [[0x0A], [0x00], Array("\r\n\r\nGET / HTTP/1.1\r\n\r\n".utf8)] {
        expectSame(parsed, RequestHeadParser.parse((bytes + rest).span, limits: limits))
    }
}

private func check(_ parsed: ParsedHead, of bytes: [UInt8]) {
    guard case .head(let head, let consumed) = parsed else { return }
    precondition(consumed <= bytes.count && head.bytes.count <= consumed)
    precondition(bytes[(consumed - head.bytes.count)..<consumed].elementsEqual(head.bytes))
    precondition(head.bytes.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]))
    for (at, byte) in head.bytes.enumerated() where byte == 0x0A || byte == 0x0D {
        precondition(byte == 0x0A ? at > 0 && head.bytes[at - 1] == 0x0D : head.bytes[at + 1] == 0x0A)
    }
    for range in [head.path, head.query, head.authority].compactMap({ $0 })
        + head.fields.flatMap({ [$0.name, $0.value] })
    {
        precondition(head.bytes.indices.contains(range.lowerBound) && range.upperBound <= head.bytes.count)
        precondition(head.bytes[range].allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) })
    }
    precondition(!head.path.isEmpty)
    for field in KnownField.allCases { precondition((head.count(of: field) == 0) == (head.range(of: field) == nil)) }
    switch head.framing {
    case .none: precondition(head.count(of: .contentLength) + head.count(of: .transferEncoding) == 0)
    case .length(let length): precondition(length >= 0 && head.count(of: .transferEncoding) == 0)
    case .chunked: precondition(head.count(of: .contentLength) == 0 && head.minorVersion == 1)
    }
    _ = head.prefersEventStream
    _ = head.withValue(of: .contentType) { MediaType.isJSON($0) }
    _ = head.withValue(of: .contentEncoding) { MediaType.isIdentity($0) }
    _ = head.value(named: "x-none")
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzRequestParser_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzRequestParser)
}
