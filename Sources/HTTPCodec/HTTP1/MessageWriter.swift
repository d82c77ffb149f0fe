import GatewayTypes

/// Appends the parts of HTTP/1.1 responses to a buffer of the caller.
///
/// Nothing a value holds can end a line: control bytes are written as spaces (RFC 9110 §5.5).
package enum MessageWriter {
    /// The interim answer that lets a waiting client send its body.
    package static func continueResponse(to output: inout [UInt8]) {
        self.append("HTTP/1.1 100 Continue\r\n\r\n", to: &output)
    }

    /// `HTTP/1.1 200 OK` and its line end. A status outside 100...599 is written as 500.
    package static func statusLine(_ status: Int, to output: inout [UInt8]) {
        let status = (100...599).contains(status) ? status : 500
        let phrase = ReasonPhrase.of(status)
        output.append(addingCapacity: 12 &+ Decimal.mostPlaces &+ phrase.utf8CodeUnitCount) { line in
            line.append("HTTP/1.1 ")
            Decimal.append(status, to: &line)
            line.append(" ")
            line.append(phrase)
            line.append("\r\n")
        }
    }

    /// A field whose name and value are ours.
    package static func field(_ name: StaticString, _ value: StaticString, to output: inout [UInt8]) {
        output.append(addingCapacity: name.utf8CodeUnitCount &+ value.utf8CodeUnitCount &+ 4) { line in
            line.append(name)
            line.append(": ")
            line.append(value)
            line.append("\r\n")
        }
    }

    /// A field with a decimal number.
    package static func field(_ name: StaticString, _ value: Int, to output: inout [UInt8]) {
        output.append(addingCapacity: name.utf8CodeUnitCount &+ Decimal.mostPlaces &+ 4) { line in
            self.field(name, value, to: &line)
        }
    }

    /// A field with a decimal number; there must be room for its name and 24 bytes.
    package static func field(_ name: StaticString, _ value: Int, to line: inout OutputSpan<UInt8>) {
        line.append(name)
        line.append(": ")
        Decimal.append(value, to: &line)
        line.append("\r\n")
    }

    /// A field whose value comes from elsewhere; control bytes in it become spaces.
    package static func field(_ name: StaticString, bytes value: Span<UInt8>, to output: inout [UInt8]) {
        self.append(name, to: &output)
        self.append(": ", to: &output)
        let start = output.count
        self.append(value, to: &output)
        self.clean(&output, from: start)
        self.append("\r\n", to: &output)
    }

    /// The empty line that ends a head.
    package static func endOfHead(to output: inout [UInt8]) { self.append("\r\n", to: &output) }

    /// Appends text of ours as it stands.
    package static func append(_ text: StaticString, to output: inout [UInt8]) {
        output.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends bytes as they stand.
    package static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { output.append(contentsOf: $0) }
    }

    /// Turns control bytes from `start` on into spaces, so that a value stays on its line.
    private static func clean(_ output: inout [UInt8], from start: Int) {
        var at = ByteSearch.firstControl(output.span, from: min(start, output.count))
        while at < output.count {
            if output[at] != Byte.tab { output[at] = Byte.space }
            at = ByteSearch.firstControl(output.span, from: at &+ 1)
        }
    }
}
