internal import CJansson

/// One value of a document. Copies are cheap and keep the document alive.
package struct JSONValue: Sendable {
    /// What a value is; integers and reals are both numbers.
    package enum Kind: Sendable {
        case object, array, string, number, bool, null
    }

    @usableFromInline let document: JSONDocument
    // Sendable: a place in the document's tree, which nothing changes.
    nonisolated(unsafe) let node: UnsafeMutablePointer<json_t>

    init(document: JSONDocument, node: UnsafeMutablePointer<json_t>) {
        self.document = document
        self.node = node
    }

    /// What the value is.
    package var kind: Kind {
        switch self.node.pointee.type {
        case JSON_OBJECT: .object
        case JSON_ARRAY: .array
        case JSON_STRING: .string
        case JSON_INTEGER, JSON_REAL: .number
        case JSON_TRUE, JSON_FALSE: .bool
        default: .null
        }
    }

    /// Whether the value is `null`; an absent member is nil instead.
    package var isNull: Bool { self.node.pointee.type == JSON_NULL }

    /// Nil unless the value is `true` or `false`; numbers and strings are never taken for one.
    package var bool: Bool? {
        switch self.node.pointee.type {
        case JSON_TRUE: true
        case JSON_FALSE: false
        default: nil
        }
    }

    /// The exact integer, also when it was written as `12.0` or `1e3`; nil for fractions, for other kinds, beyond
    /// 64 bits, and for doubles beyond 2^53, which may stand for several integers.
    package var int: Int? {
        switch self.node.pointee.type {
        case JSON_INTEGER: return Int(exactly: json_integer_value(self.node))
        case JSON_REAL:
            let value = json_real_value(self.node)
            guard value.magnitude <= 0x1p53 else { return nil }
            let whole = Int(value)  // cannot trap: the bound above
            return Double(whole) == value ? whole : nil
        default: return nil
        }
    }

    /// Nil for other kinds; always finite.
    package var number: Double? {
        switch self.node.pointee.type {
        case JSON_INTEGER: Double(json_integer_value(self.node))
        case JSON_REAL: json_real_value(self.node)
        default: nil
        }
    }

    /// Members of an object or elements of an array; 0 for other kinds.
    package var count: Int {
        switch self.node.pointee.type {
        case JSON_OBJECT: json_object_size(self.node)
        case JSON_ARRAY: json_array_size(self.node)
        default: 0
        }
    }

    /// The member of this name; nil when there is none or the value is no object. Names are compared as bytes.
    package subscript(_ name: String) -> JSONValue? {
        guard self.node.pointee.type == JSON_OBJECT else { return nil }
        var name = name
        let member = name.withUTF8 { name in
            name.withMemoryRebound(to: CChar.self) { json_object_getn(self.node, $0.baseAddress, $0.count) }
        }
        guard let member else { return nil }
        return JSONValue(document: self.document, node: member)
    }

    /// The element at this index; nil when there is none or the value is no array.
    package subscript(_ index: Int) -> JSONValue? {
        guard index >= 0, let element = json_array_get(self.node, index) else { return nil }
        return JSONValue(document: self.document, node: element)
    }
}
