import Glibc

/// Random words of the system's generator, fetched many at a time: for each of them a call of the kernel would cost
/// more than all else that an identifier takes.
///
/// As hard to guess as the system's own: a word is given once, and forgotten when it is.
package struct RandomWords: ~Copyable {
    // What getentropy gives at once is at most 256 bytes.
    private static let fetched = 32

    private var words = [UInt64](repeating: 0, count: Self.fetched)
    private var left = 0

    package init() {}

    /// 64 random bits.
    package mutating func next() -> UInt64 {
        if self.left == 0 { self.fetch() }
        self.left &-= 1
        let word = self.words[self.left]
        self.words[self.left] = 0
        return word
    }

    private mutating func fetch() {
        let failed = self.words.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) != 0 }
        precondition(!failed, "the system gives no random bytes")
        self.left = Self.fetched
    }
}
