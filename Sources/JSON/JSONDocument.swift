internal import CJansson

// Sendable: nothing changes the tree after `init`, and jansson's getters only read.
/// A parsed document: the strict reader for everything that crosses a trust boundary.
///
/// Members named twice, NUL bytes, invalid UTF-8, lone surrogates, anything after the value, and documents beyond
/// the limits are refused. Values keep their document alive, so both may be kept and sent anywhere.
package final class JSONDocument: @unchecked Sendable {
    private let node: UnsafeMutablePointer<json_t>

    /// Parses a whole document; the bytes are not needed afterwards.
    package init(parsing bytes: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()) throws(JSONFailure) {
        self.node = try Self.parse(bytes, limits: limits)
    }

    /// Parses a whole document; the bytes are not needed afterwards.
    package init(parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONFailure) {
        self.node = try bytes.withUnsafeBytes { (raw) throws(JSONFailure) in try Self.parse(raw, limits: limits) }
    }

    /// Parses a whole document; the bytes are not needed afterwards.
    package convenience init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONFailure) {
        try self.init(parsing: bytes.span, limits: limits)
    }

    deinit { json_decref(self.node) }

    /// The document's one value.
    package var root: JSONValue { JSONValue(document: self, node: self.node) }

    private static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: JSONLimits
    ) throws(JSONFailure) -> UnsafeMutablePointer<json_t> {
        try limits.check(bytes)
        Self.seedOnce
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            throw JSONFailure(reason: .unexpectedEnd, position: 0, line: 1)
        }
        let text = start.assumingMemoryBound(to: CChar.self)
        let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL
        var error = json_error_t()
        if let node = json_loadb(text, bytes.count, Int(flags), &error) { return node }
        if json_error_code(&error) == json_error_numeric_overflow {
            // An integer beyond 64 bits must not spoil its whole document: once more with every number as a double.
            if let node = json_loadb(text, bytes.count, Int(flags | JSON_DECODE_INT_AS_REAL), &error) { return node }
        }
        throw JSONFailure(error)
    }

    /// Gives jansson's hash its random seed, so that nobody can choose member names that collide.
    private static let seedOnce: Void = json_object_seed(0)
}

extension JSONFailure {
    init(_ error: json_error_t) {
        var error = error
        self.init(
            reason: Reason(json_error_code(&error)), position: max(0, Int(error.position)),
            line: max(1, Int(error.line)))
    }
}

extension JSONFailure.Reason {
    init(_ code: json_error_code) {
        switch code {
        case json_error_out_of_memory: self = .outOfMemory
        case json_error_stack_overflow: self = .tooDeep
        case json_error_invalid_utf8: self = .invalidUTF8
        case json_error_premature_end_of_input: self = .unexpectedEnd
        case json_error_end_of_input_expected: self = .trailingBytes
        case json_error_null_character, json_error_null_byte_in_key: self = .nulByte
        case json_error_duplicate_key: self = .duplicateMember
        case json_error_numeric_overflow: self = .numberOutOfRange
        default: self = .syntax
        }
    }
}
