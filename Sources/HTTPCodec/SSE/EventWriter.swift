/// Appends server-sent events to a buffer of the caller.
///
/// Data can never end its event early: data of several lines becomes several `data` lines, which a client joins again.
package enum EventWriter {
    /// Where the data of an open event begins; belongs to the buffer it was opened in.
    package struct Mark: Sendable {
        fileprivate let start: Int
    }

    /// A comment that keeps a silent stream alive; clients ignore it.
    package static func heartbeat(to output: inout [UInt8]) { MessageWriter.append(": ping\n\n", to: &output) }

    /// One event, with a type when `type` is given.
    package static func event(_ type: StaticString? = nil, data: Span<UInt8>, to output: inout [UInt8]) {
        let mark = self.open(type, in: &output)
        MessageWriter.append(data, to: &output)
        self.close(mark, in: &output)
    }

    /// Opens an event whose data the caller appends to `output` before `close`.
    package static func open(_ type: StaticString? = nil, in output: inout [UInt8]) -> Mark {
        if let type {
            MessageWriter.append("event: ", to: &output)
            MessageWriter.append(type, to: &output)
            MessageWriter.append("\ndata: ", to: &output)
        } else {
            MessageWriter.append("data: ", to: &output)
        }
        return Mark(start: output.count)
    }

    /// Ends the event. Data on one line stays where it is; line ends inside it are turned into lines of the event.
    package static func close(_ mark: Mark, in output: inout [UInt8]) {
        let start = min(mark.start, output.count)
        if ByteSearch.firstLineEnd(output.span, from: start) < output.count { self.divide(&output, from: start) }
        MessageWriter.append("\n\n", to: &output)
    }

    private static func divide(_ output: inout [UInt8], from start: Int) {
        let data = Array(output[start...])
        output.removeSubrange(start...)
        var at = 0
        while true {
            let end = ByteSearch.firstLineEnd(data.span, from: at)
            output.append(contentsOf: data[at..<end])
            guard end < data.count else { return }
            MessageWriter.append("\ndata: ", to: &output)
            at = end &+ 1
            if data[end] == Byte.carriageReturn, at < data.count, data[at] == Byte.lineFeed { at &+= 1 }
        }
    }
}
