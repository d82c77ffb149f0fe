/// How large and how deep a document may be.
package struct JSONLimits: Hashable, Sendable {
    /// Most bytes of a document; more than 1 GB is never read.
    package var bytes: Int
    /// Most arrays and objects standing in each other; `[[1]]` has two.
    package var depth: Int

    /// A depth above 1024 is taken for 1024: whoever walks over the values may do it by recursion.
    package init(bytes: Int = 1 << 20, depth: Int = 64) {
        self.bytes = bytes
        self.depth = min(depth, 1024)
    }

    /// Places in a document are kept in 32 bits.
    static let mostBytes = 1 << 30
}
