/// One value of a document. Copies are cheap and keep the document alive.
package struct JSONValue: Sendable {
    /// What a value is; integers and reals are both numbers.
    package enum Kind: Sendable {
        case object, array, string, number, bool, null
    }

    @usableFromInline let document: JSONDocument
    // Sendable: a place in the document's tape, which nothing changes and which lives as long as the document.
    @usableFromInline nonisolated(unsafe) let node: UnsafePointer<JSONNode>

    init(document: JSONDocument, node: UnsafePointer<JSONNode>) {
        self.document = document
        self.node = node
    }

    /// What the tape says of the value.
    @inlinable var content: JSONNode {
        defer { withExtendedLifetime(self.document) {} }
        return self.node.pointee
    }

    /// What the value is.
    @inlinable
    package var kind: Kind {
        switch self.content.kind {
        case .object: .object
        case .array: .array
        case .string: .string
        case .integer, .real: .number
        case .yes, .no: .bool
        case .null: .null
        }
    }

    /// Whether the value is `null`; an absent member is nil instead.
    @inlinable
    package var isNull: Bool { self.kind == .null }

    /// Nil unless the value is `true` or `false`; numbers and strings are never taken for one.
    package var bool: Bool? {
        switch self.content.kind {
        case .yes: true
        case .no: false
        default: nil
        }
    }

    /// The exact integer, also when it was written as `12.0` or `1e3`; nil for fractions, for other kinds, beyond
    /// 64 bits, and for doubles beyond 2^53, which may stand for several integers.
    package var int: Int? {
        defer { withExtendedLifetime(self.document) {} }
        switch self.content.kind {
        case .integer: return Int(decimal: self.document.tape.text(of: self.content))
        case .real:
            guard let value = self.number, value.magnitude <= 0x1p53 else { return nil }
            let whole = Int(value)  // cannot trap: the bound above
            return Double(whole) == value ? whole : nil
        default: return nil
        }
    }

    /// Nil for other kinds; always finite.
    package var number: Double? {
        defer { withExtendedLifetime(self.document) {} }
        let kind = self.content.kind
        guard kind == .integer || kind == .real else { return nil }
        let text = self.document.tape.text(of: self.content)
        if kind == .integer, let whole = Int(decimal: text) { return Double(whole) }
        return Double(decimal: text)
    }

    /// Members of an object or elements of an array; 0 for other kinds.
    package var count: Int {
        switch self.content.kind {
        case .object, .array: Int(self.content.count)
        default: 0
        }
    }

    /// The member of this name; nil when there is none or the value is no object. Names are compared as bytes.
    package subscript(_ name: String) -> JSONValue? {
        guard self.content.kind == .object else { return nil }
        var name = name
        return name.withUTF8 { self.member(named: $0) }
    }

    /// The element at this index, found by stepping over those before it; nil when there is none or the value is no
    /// array.
    package subscript(_ index: Int) -> JSONValue? {
        defer { withExtendedLifetime(self.document) {} }
        guard self.content.kind == .array, index >= 0, index < Int(self.content.count) else { return nil }
        var element = self.node + 1
        for _ in 0..<index { element += Int(element.pointee.extent) }
        return JSONValue(document: self.document, node: element)
    }

    private func member(named name: UnsafeBufferPointer<UInt8>) -> JSONValue? {
        defer { withExtendedLifetime(self.document) {} }
        var member = self.node + 1
        for _ in 0..<self.content.count {
            let value = member + 1
            if self.document.tape.text(of: member.pointee, equals: name) {
                return JSONValue(document: self.document, node: value)
            }
            member = value + Int(value.pointee.extent)
        }
        return nil
    }
}
