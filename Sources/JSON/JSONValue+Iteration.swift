internal import CJansson

extension JSONValue {
    /// Calls `body` with each member's name (UTF-8, lent for the call) and value, in the order of the document;
    /// not at all for other kinds than objects.
    package func forEachMember<Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>, JSONValue) throws(Failure) -> Void
    ) throws(Failure) {
        defer { withExtendedLifetime(self.document) {} }
        guard self.kind == .object else { return }
        let object = self.node
        var iterator = json_object_iter(object)
        while let member = iterator {
            if let name = json_object_iter_key(member), let value = json_object_iter_value(member) {
                let start = UnsafeRawPointer(name).assumingMemoryBound(to: UInt8.self)
                let utf8 = UnsafeBufferPointer(start: start, count: json_object_iter_key_len(member))
                try body(utf8, JSONValue(document: self.document, node: value))
            }
            iterator = json_object_iter_next(object, member)
        }
    }

    /// The elements of an array in order; empty for other kinds.
    package var elements: Elements { Elements(array: self, count: self.kind == .array ? self.count : 0) }

    /// The elements of one array.
    package struct Elements: Sequence, IteratorProtocol {
        private let array: JSONValue
        private let count: Int
        private var index = 0

        init(array: JSONValue, count: Int) {
            self.array = array
            self.count = count
        }

        package mutating func next() -> JSONValue? {
            guard self.index < self.count else { return nil }
            defer { self.index &+= 1 }
            return self.array[self.index]
        }
    }
}
