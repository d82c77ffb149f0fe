import FuzzDriver
import HTTPCodec

/// What reading a stream gave.
private struct Outcome: Equatable {
    var types: [[UInt8]] = []
    var data: [[UInt8]] = []
    var lastEventID: [UInt8] = []
    var retry: Int?
    var isCut = false
    var failure: EventFailure?
}

/// Reads the input in one call, byte by byte, in uneven parts, and event by event, and checks that all agree.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzEventParser(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    for limits in [EventLimits(), EventLimits(lineBytes: 24, eventBytes: 32)] {
        let whole = read(bytes, step: max(count, 1), limits: limits, stops: false)
        precondition(whole == read(bytes, step: 1, limits: limits, stops: false))
        precondition(whole == read(bytes, step: max(count, 1), limits: limits, stops: true))
        if count > 0 {
            precondition(whole == read(bytes, step: 1 + Int(bytes[count / 2] % 16), limits: limits, stops: false))
        }
        for index in whole.data.indices {
            precondition(whole.data[index].count + whole.types[index].count <= limits.eventBytes)
            precondition(!whole.data[index].contains(0x0D) && !whole.types[index].contains { $0 == 0x0A || $0 == 0x0D })
        }
    }
    expectRoundTrip(bytes)
    return 0
}

private func read(_ bytes: [UInt8], step: Int, limits: EventLimits, stops: Bool) -> Outcome {
    var parser = EventParser(limits: limits)
    var outcome = Outcome()
    var start = 0
    do throws(EventFailure) {
        while start < bytes.count {
            let end = min(start + step, bytes.count)
            let taken = try parser.feed(bytes.span.extracting(start..<end)) { type, data in
                outcome.types.append(type.withUnsafeBufferPointer { Array($0) })
                outcome.data.append(data.withUnsafeBufferPointer { Array($0) })
                return !stops
            }
            precondition(taken > 0 && taken <= end - start && (stops || taken == end - start))
            start += taken
        }
        outcome.lastEventID = parser.lastEventID
        outcome.retry = parser.retryMilliseconds
        outcome.isCut = parser.finish()
    } catch {
        outcome.failure = error
    }
    return outcome
}

/// Whatever is written as data comes back as one event with the same lines.
private func expectRoundTrip(_ bytes: [UInt8]) {
    var written: [UInt8] = []
    EventWriter.heartbeat(to: &written)
    EventWriter.event("kind", data: bytes.span, to: &written)
    var lines: [UInt8] = []
    for (at, byte) in bytes.enumerated() {
        if byte == 0x0D {
            lines.append(0x0A)
        } else if byte != 0x0A || at == 0 || bytes[at - 1] != 0x0D {
            lines.append(byte)
        }
    }
    let outcome = read(written, step: written.count, limits: EventLimits(), stops: false)
    precondition(outcome.types == [Array("kind".utf8)] && outcome.data == [lines] && !outcome.isCut)
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzEventParser_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzEventParser)
}
