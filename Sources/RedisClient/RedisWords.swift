package import GatewayTypes

/// Words of a command in the form in which they are sent, `$length CRLF bytes CRLF` one after the other: a dozen keys
/// of a script are one piece of memory.
package struct RedisWords: Sendable {
    /// As they are sent.
    package private(set) var bytes: [UInt8] = []
    package private(set) var count = 0

    /// - Parameter capacity: of `bytes`.
    package init(capacity: Int = 0) { self.bytes.reserveCapacity(capacity) }

    package init(_ words: [ByteString]) {
        for word in words { self.append(word) }
    }

    package mutating func append(_ word: ByteString) {
        self.append(length: word.utf8.count) { $0.append(contentsOf: word.utf8) }
    }

    /// - Parameters:
    ///   - length: of the word in bytes.
    ///   - write: appends exactly as many.
    @inlinable
    package mutating func append(length: Int, _ write: (inout [UInt8]) -> Void) {
        self.begin(length)
        self.write(write)
    }

    @usableFromInline
    mutating func begin(_ length: Int) {
        self.count &+= 1
        CommandWriter.header(UInt8(ascii: "$"), length, to: &self.bytes)
    }

    @usableFromInline
    mutating func write(_ write: (inout [UInt8]) -> Void) {
        write(&self.bytes)
        CommandWriter.endLine(to: &self.bytes)
    }
}
