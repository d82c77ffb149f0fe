/// Pieces that are written side by side into room that was made once: to look for room costs a buffer more than most
/// pieces do.
extension OutputSpan<UInt8> {
    /// Appends text of ours; there must be room for it.
    @inlinable @inline(__always)
    package mutating func append(_ text: StaticString) {
        self.append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends bytes; there must be room for them.
    @inlinable @inline(__always)
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        precondition(bytes.count <= self.freeCapacity, "no room was made for these bytes")
        guard let source = bytes.baseAddress else { return }
        self.withUnsafeMutableBufferPointer { places, count in
            guard let start = places.baseAddress else { return }
            (start + count).initialize(from: source, count: bytes.count)
            count &+= bytes.count
        }
    }
}
