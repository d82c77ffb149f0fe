import GatewayTypes

/// Writes one document onto an array of bytes, minding the commas.
///
/// The caller minds the nesting: what begins must end, and members of objects are written with their name. Every
/// string must be valid UTF-8.
package struct JSONWriter {
    /// What stood there at first and what was written since.
    package private(set) var bytes: [UInt8]
    private var needsComma = false

    /// Writes at the end of `bytes`.
    package init(appendingTo bytes: consuming [UInt8] = []) { self.bytes = bytes }

    /// Writes at the end of the caller's buffer, in place.
    @inlinable
    package static func append<Failure: Error>(
        to buffer: inout [UInt8], _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        var taken: [UInt8] = []
        swap(&taken, &buffer)
        var writer = JSONWriter(appendingTo: consume taken)
        defer { buffer = writer.bytes }
        try body(&writer)
    }

    /// Opens an object; members follow as name and value.
    package mutating func beginObject() { self.open(UInt8(ascii: "{")) }
    /// Closes the innermost object.
    package mutating func endObject() { self.close(UInt8(ascii: "}")) }
    /// Opens an array; values follow.
    package mutating func beginArray() { self.open(UInt8(ascii: "[")) }
    /// Closes the innermost array.
    package mutating func endArray() { self.close(UInt8(ascii: "]")) }

    /// Writes a member's name, which needs no escapes; its value comes next.
    package mutating func name(_ name: StaticString) {
        name.withUTF8Buffer { bytes in
            assert(endOfPlainRun(bytes, from: 0) == bytes.count, "\(name) needs escapes")
            self.plain(bytes, end: "\":")
        }
        self.needsComma = false
    }

    /// Writes a member's name; its value comes next.
    package mutating func name(utf8 name: UnsafeBufferPointer<UInt8>) {
        self.string(utf8: name)
        self.bytes.append(UInt8(ascii: ":"))
        self.needsComma = false
    }

    /// Writes a text as a string.
    package mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { self.string(utf8: $0) }
    }

    /// Writes UTF-8 as a string.
    package mutating func string(utf8: UnsafeBufferPointer<UInt8>) {
        // Most of what is written here is as plain as our own words.
        guard endOfPlainRun(utf8, from: 0) == utf8.count else { return self.escaped(utf8) }
        self.plain(utf8, end: "\"")
        self.needsComma = true
    }

    /// Writes what needs no escapes, its quotes and what ends it, with one look for room.
    @inline(__always)
    private mutating func plain(_ utf8: UnsafeBufferPointer<UInt8>, end: StaticString) {
        self.bytes.append(addingCapacity: utf8.count &+ 4) { output in
            output.append(self.needsComma ? ",\"" : "\"")
            output.append(utf8)
            output.append(end)
        }
    }

    private mutating func escaped(_ utf8: UnsafeBufferPointer<UInt8>) {
        self.separate()
        self.bytes.append(UInt8(ascii: "\""))
        appendEscaped(utf8, to: &self.bytes)
        self.bytes.append(UInt8(ascii: "\""))
    }

    /// Writes UTF-8 as a string.
    package mutating func string(utf8: [UInt8]) {
        utf8.withUnsafeBufferPointer { self.string(utf8: $0) }
    }

    /// Writes an integer in decimal.
    package mutating func integer(_ value: Int) {
        self.separate()
        Decimal.append(value, to: &self.bytes)
    }

    /// Writes the shortest text that reads back as the same number; `null` for what JSON has no word for.
    package mutating func number(_ value: Double) {
        self.separate()
        self.bytes.append(contentsOf: value.isFinite ? value.description.utf8 : "null".utf8)
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) {
        self.separate()
        self.bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
    }

    /// Writes `null`.
    package mutating func null() {
        self.separate()
        self.bytes.append(contentsOf: "null".utf8)
    }

    /// Writes one value that is JSON already.
    package mutating func raw(_ json: UnsafeBufferPointer<UInt8>) {
        self.separate()
        self.bytes.append(contentsOf: json)
    }

    /// Writes one value that is JSON already.
    package mutating func raw(_ json: [UInt8]) {
        self.separate()
        self.bytes.append(contentsOf: json)
    }

    private mutating func separate() {
        if self.needsComma { self.bytes.append(UInt8(ascii: ",")) }
        self.needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        self.separate()
        self.bytes.append(bracket)
        self.needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        self.bytes.append(bracket)
        self.needsComma = true
    }
}
