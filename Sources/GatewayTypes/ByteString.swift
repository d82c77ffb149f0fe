/// Text that is compared, hashed and stored as its UTF-8 bytes.
///
/// Swift's `String` compares by canonical equivalence, so `café` in two Unicode forms would be one subject in memory
/// and two in the store. Identifiers therefore never use `String` equality.
package struct ByteString: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    package let string: String

    package init(_ string: String) { self.string = string }

    package init(stringLiteral value: String) { self.string = value }

    /// Decodes UTF-8; nil when the bytes are not valid UTF-8.
    package init?(utf8 bytes: some Sequence<UInt8>) {
        guard let string = String(validating: bytes, as: UTF8.self) else { return nil }
        self.string = string
    }

    package var description: String { self.string }
    package var utf8: String.UTF8View { self.string.utf8 }
    package var isEmpty: Bool { self.string.utf8.isEmpty }

    package static func == (left: ByteString, right: ByteString) -> Bool {
        let same = left.string.utf8.withContiguousStorageIfAvailable { a in
            right.string.utf8.withContiguousStorageIfAvailable { b in a.elementsEqual(b) }
        }
        return (same ?? nil) ?? left.string.utf8.elementsEqual(right.string.utf8)
    }

    package static func < (left: ByteString, right: ByteString) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        let done: Void? = self.string.utf8.withContiguousStorageIfAvailable { bytes in
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        if done == nil { for byte in self.string.utf8 { hasher.combine(byte) } }
        hasher.combine(self.string.utf8.count)
    }
}
