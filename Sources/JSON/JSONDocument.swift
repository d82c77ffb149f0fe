// Sendable: nothing changes the tape after `init`.
/// A parsed document: the strict reader for everything that crosses a trust boundary (RFC 8259).
///
/// Members named twice, NUL bytes, invalid UTF-8, lone surrogates, numbers that no finite `Double` holds, anything
/// after the value, and documents beyond the limits are refused. Values keep their document alive, so both may be kept
/// and sent anywhere.
package final class JSONDocument: @unchecked Sendable {
    let tape: JSONTape

    /// Parses a whole document; the bytes are not needed afterwards.
    package init(parsing bytes: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()) throws(JSONFailure) {
        self.tape = try Self.parse(bytes, limits: limits)
    }

    /// Parses a whole document; the bytes are not needed afterwards.
    package init(parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONFailure) {
        self.tape = try bytes.withUnsafeBytes { (raw) throws(JSONFailure) in try Self.parse(raw, limits: limits) }
    }

    /// Parses a whole document; the bytes are not needed afterwards.
    package convenience init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONFailure) {
        try self.init(parsing: bytes.span, limits: limits)
    }

    /// The document's one value.
    package var root: JSONValue { JSONValue(document: self, node: self.tape.nodes) }

    private static func parse(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONFailure) -> JSONTape {
        guard bytes.count <= limits.bytes, bytes.count <= JSONLimits.mostBytes else {
            throw JSONFailure(reason: .tooLarge, position: min(limits.bytes, JSONLimits.mostBytes), line: 1)
        }
        do throws(JSONReader.Fault) {
            return try JSONReader.read(bytes, depthLimit: limits.depth)
        } catch {
            throw JSONFailure(error, in: bytes)
        }
    }
}

extension JSONFailure {
    fileprivate init(_ fault: JSONReader.Fault, in bytes: UnsafeRawBufferPointer) {
        var line = 1
        for byte in bytes.prefix(fault.position) where byte == UInt8(ascii: "\n") { line &+= 1 }
        self.init(reason: fault.reason, position: fault.position, line: line)
    }
}
