extension JSONValue {
    /// Calls `body` with each member's name (UTF-8, lent for the call) and value, in the order of the document;
    /// not at all for other kinds than objects.
    package func forEachMember<Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>, JSONValue) throws(Failure) -> Void
    ) throws(Failure) {
        defer { withExtendedLifetime(self.document) {} }
        guard self.content.kind == .object else { return }
        var name = self.node + 1
        for _ in 0..<self.content.count {
            let value = name + 1
            try body(self.document.tape.text(of: name.pointee), JSONValue(document: self.document, node: value))
            name = value + Int(value.pointee.extent)
        }
    }

    /// The elements of an array in order; empty for other kinds.
    package var elements: Elements { Elements(of: self) }

    /// The elements of one array.
    package struct Elements: Sequence, IteratorProtocol {
        private let document: JSONDocument
        private var node: UnsafePointer<JSONNode>
        private var remaining: UInt32

        fileprivate init(of array: JSONValue) {
            self.document = array.document
            self.node = array.node + 1
            self.remaining = array.content.kind == .array ? array.content.count : 0
        }

        package mutating func next() -> JSONValue? {
            guard self.remaining > 0 else { return nil }
            let value = JSONValue(document: self.document, node: self.node)
            self.remaining &-= 1
            self.node += Int(self.node.pointee.extent)
            return value
        }
    }
}
