/// A value that must never be shown: prints, interpolates and mirrors as `redacted`.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package init(_ string: String) { self.bytes = Array(string.utf8) }

    /// Lends the bytes to the one caller that has to send or sign with them.
    package func reveal<Result>(_ body: ([UInt8]) throws -> Result) rethrows -> Result { try body(self.bytes) }

    /// The secret behind a constant, as `Authorization` wants it.
    package func prefixed(with prefix: StaticString) -> Secret {
        Secret(Array(UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)) + self.bytes)
    }

    package var isEmpty: Bool { self.bytes.isEmpty }
    package var description: String { "redacted" }
    package var debugDescription: String { "redacted" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
