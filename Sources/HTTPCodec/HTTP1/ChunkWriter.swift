/// Frames a body in chunks (RFC 9112 §7.1).
package enum ChunkWriter {
    /// Where an open chunk began; belongs to the buffer it was opened in.
    package struct Mark: Sendable {
        fileprivate let start: Int
    }

    /// Digits of every size written: enough for 4 GiB, and of fixed width so that data need not move.
    private static let sizeDigits = 8

    /// Opens a chunk whose data the caller appends to `output` before `close`.
    package static func open(in output: inout [UInt8]) -> Mark {
        let mark = Mark(start: output.count)
        MessageWriter.append("00000000\r\n", to: &output)
        return mark
    }

    /// Ends the chunk and writes its size; takes back a chunk without data, which would end the body.
    package static func close(_ mark: Mark, in output: inout [UInt8]) {
        let dataStart = mark.start &+ self.sizeDigits &+ 2
        guard output.count > dataStart else {
            output.removeSubrange(min(mark.start, output.count)...)
            return
        }
        var size = output.count &- dataStart
        for offset in stride(from: self.sizeDigits &- 1, through: 0, by: -1) {
            output[mark.start &+ offset] = self.digit(size & 15)
            size &>>= 4
        }
        MessageWriter.append("\r\n", to: &output)
    }

    /// Appends one whole chunk; nothing for no data.
    package static func append(_ data: Span<UInt8>, to output: inout [UInt8]) {
        guard data.count > 0 else { return }
        let mark = self.open(in: &output)
        MessageWriter.append(data, to: &output)
        self.close(mark, in: &output)
    }

    /// The last chunk, without trailers: the body is complete.
    package static func end(to output: inout [UInt8]) { MessageWriter.append("0\r\n\r\n", to: &output) }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 10 ? 48 &+ value : 87 &+ value)
    }
}
