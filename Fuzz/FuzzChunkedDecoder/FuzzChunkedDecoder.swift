import FuzzDriver
import HTTPCodec

/// What decoding gave.
private struct Outcome: Equatable {
    var body: [UInt8] = []
    var consumed = 0
    var state = ChunkProgress.State.needMore
}

/// Decodes the input in one call, byte by byte and in uneven parts, and checks that all give one sound answer.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzChunkedDecoder(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    for (limits, bodyLimit) in [(HTTPLimits(), 1 << 16), (narrowLimits(), 24)] {
        let whole = decode(bytes, step: max(count, 1), limits: limits, bodyLimit: bodyLimit)
        precondition(whole.consumed <= count && whole.body.count <= min(bodyLimit, whole.consumed))
        precondition(whole == decode(bytes, step: 1, limits: limits, bodyLimit: bodyLimit))
        if count > 0 {
            let step = 1 + Int(bytes[count / 2] % 16)
            precondition(whole == decode(bytes, step: step, limits: limits, bodyLimit: bodyLimit))
        }
        guard whole.state != .needMore else { continue }
        let longer = bytes + Array("\r\n0\r\n\r\n".utf8)
        precondition(whole == decode(longer, step: longer.count, limits: limits, bodyLimit: bodyLimit))
    }
    expectRoundTrip(bytes)
    return 0
}

/// Limits that small inputs can reach.
private func narrowLimits() -> HTTPLimits {
    var limits = HTTPLimits()
    limits.chunkExtensionBytes = 8
    limits.trailerBytes = 24
    limits.trailerFields = 2
    return limits
}

private func decode(_ bytes: [UInt8], step: Int, limits: HTTPLimits, bodyLimit: Int) -> Outcome {
    var decoder = ChunkedDecoder(limits: limits)
    var outcome = Outcome()
    var start = 0
    while start < bytes.count, outcome.state == .needMore {
        let end = min(start + step, bytes.count)
        var piece: [UInt8] = []
        let progress = decoder.decode(bytes.span.extracting(start..<end), into: &piece, bodyLimit: bodyLimit)
        precondition(progress.consumed <= end - start)
        precondition(progress.state != .needMore || progress.consumed == end - start)
        outcome.body += piece
        outcome.consumed += progress.consumed
        outcome.state = progress.state
        start = end
    }
    return outcome
}

/// What the writer frames, the decoder gives back.
private func expectRoundTrip(_ bytes: [UInt8]) {
    var framed: [UInt8] = []
    let half = bytes.count / 2
    ChunkWriter.append(bytes.span.extracting(0..<half), to: &framed)
    ChunkWriter.append(bytes.span.extracting(half..<bytes.count), to: &framed)
    ChunkWriter.end(to: &framed)
    let outcome = decode(framed, step: framed.count, limits: HTTPLimits(), bodyLimit: bytes.count)
    precondition(outcome == Outcome(body: bytes, consumed: framed.count, state: .complete))
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzChunkedDecoder_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzChunkedDecoder)
}
