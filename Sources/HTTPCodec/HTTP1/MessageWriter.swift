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
        self.append("HTTP/1.1 ", to: &output)
        Decimal.append(status, to: &output)
        output.append(Byte.space)
        self.append(ReasonPhrase.of(status), to: &output)
        self.append("\r\n", to: &output)
    }

    /// A field whose name and value are ours.
    package static func field(_ name: StaticString, _ value: StaticString, to output: inout [UInt8]) {
        self.append(name, to: &output)
        self.append(": ", to: &output)
        self.append(value, to: &output)
        self.append("\r\n", to: &output)
    }

    /// A field with a decimal number.
    package static func field(_ name: StaticString, _ value: Int, to output: inout [UInt8]) {
        self.append(name, to: &output)
        self.append(": ", to: &output)
        Decimal.append(value, to: &output)
        self.append("\r\n", to: &output)
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

    /// A field whose value is written by `body` straight into the buffer; control bytes in it become spaces.
    @inlinable
    package static func field(_ name: StaticString, to output: inout [UInt8], writing body: (inout [UInt8]) -> Void) {
        self.append(name, to: &output)
        self.append(": ", to: &output)
        let start = output.count
        body(&output)
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
    @usableFromInline
    package static func clean(_ output: inout [UInt8], from start: Int) {
        var at = ByteSearch.firstControl(output.span, from: min(start, output.count))
        while at < output.count {
            if output[at] != Byte.tab { output[at] = Byte.space }
            at = ByteSearch.firstControl(output.span, from: at &+ 1)
        }
    }
}
