/// Comparisons of UTF-8 bytes in place.
enum Bytes {
    static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Shorter first, then by byte: any total order serves a binary search, and this one is the cheapest.
    static func precedes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        if left.count != right.count { return left.count < right.count }
        for index in left.indices where left[index] != right[index] { return left[index] < right[index] }
        return false
    }
}
