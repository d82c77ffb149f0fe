import FuzzDriver
import HTTPCodec

/// What a client makes of some bytes: every status, every byte of a body, and how it ended.
private struct Answer: Equatable {
    var statuses: [Int] = []
    var body: [UInt8] = []
    var failure: HTTPFailure?
    var isComplete = false
}

/// Reads the input as an answer in one call, byte by byte and in uneven parts, and checks that all give the same.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzResponse(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0, count <= 9000 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let whole = read(bytes, step: count)
    precondition(whole.body.count <= count)
    for step in [1, 1 + Int(bytes[count / 2] % 32)] {
        let parts = read(bytes, step: step)
        // A fault in an unfinished head may wait for the byte that makes it worth a look.
        if whole.failure != nil, parts.failure == nil {
            precondition(!parts.isComplete && whole.body == parts.body)
        } else {
            precondition(whole == parts, "\(whole) or \(parts)")
        }
    }
    return 0
}

private func read(_ bytes: [UInt8], step: Int) -> Answer {
    var limits = HTTPLimits()
    limits.headBytes = 400
    limits.fields = 8
    var answer = Answer()
    var start = 0
    var scanned = 0
    var decoder: ChunkedDecoder?
    for end in Array(stride(from: step, to: bytes.count, by: step)) + [bytes.count] {
        while start < end {
            if decoder != nil {
                let window = bytes.span.extracting(start..<end)
                guard let progress = decoder?.decode(window, into: &answer.body, bodyLimit: .max) else { return answer }
                start += progress.consumed
                switch progress.state {
                case .needMore: break
                case .complete:
                    answer.isComplete = true
                    return answer
                case .failed(let failure):
                    answer.failure = failure
                    return answer
                }
                continue
            }
            switch ResponseHeadParser.parse(bytes.span.extracting(start..<end), scanned: scanned, limits: limits) {
            case .incomplete: scanned = end - start
            case .failed(let failure):
                answer.failure = failure
                return answer
            case .head(let head, let consumed):
                precondition(consumed > 0 && consumed <= end - start && head.values("content-length").count <= 8)
                answer.statuses.append(head.status)
                start += consumed
                scanned = 0
                if head.status >= 200 {
                    guard head.framing == .chunked else { return answer }
                    decoder = ChunkedDecoder(limits: limits)
                }
                continue
            }
            break
        }
    }
    return answer
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzResponse_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzResponse)
}
