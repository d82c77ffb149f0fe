import EventLoops
import GatewayTypes
import TLS

/// A script, sent by its digest and in full to a server that does not know it.
package final class RedisScript: Sendable {
    let text: [UInt8]
    let digest: [UInt8]

    package init(_ text: [UInt8]) {
        self.text = text
        self.digest = Hexadecimal.text(of: scriptDigest(of: text))
    }
}

/// One call on its way, until it is answered. On its loop.
final class RedisCall {
    enum Subject {
        case command([ByteString])
        case script(RedisScript, keys: RedisWords, arguments: RedisWords)
    }

    let subject: Subject
    /// Slot of its keys; nil when any node will do.
    let slot: Int?
    let deadline: MonotonicTime
    let isIdempotent: Bool
    private var then: ((Result<RedisReply, RedisFailure>) -> Void)?
    var hops = 0
    var backOffs = 0
    /// Sent again after a connection broke, which is done once.
    var isResent = false
    /// The server did not know the digest.
    var sendsText = false
    /// Sent behind an `ASKING`, whose answer comes first; until the next answer.
    var isAsking = false

    init(
        _ subject: Subject, slot: Int?, deadline: MonotonicTime, isIdempotent: Bool,
        then: @escaping (Result<RedisReply, RedisFailure>) -> Void
    ) {
        self.subject = subject
        self.slot = slot
        self.deadline = deadline
        self.isIdempotent = isIdempotent
        self.then = then
    }

    /// Answers; a second time does nothing.
    func finish(_ result: Result<RedisReply, RedisFailure>) {
        let then = self.then
        self.then = nil
        // Whatever kept it from being done again: the first time it may have been.
        if self.isResent, case .failure(let failure) = result, !failure.mayHaveActed {
            then?(.failure(.connectionLost))
        } else {
            then?(result)
        }
    }

    func append(to output: inout [UInt8]) {
        switch self.subject {
        case .command(let words):
            CommandWriter.begin(words.count, to: &output)
            for word in words { CommandWriter.append(word, to: &output) }
        case .script(let script, let keys, let arguments):
            CommandWriter.begin(3 + keys.count + arguments.count, to: &output)
            CommandWriter.append(literal: self.sendsText ? "EVAL" : "EVALSHA", to: &output)
            CommandWriter.append(self.sendsText ? script.text : script.digest, to: &output)
            CommandWriter.append(keys.count, to: &output)
            output.append(contentsOf: keys.bytes)
            output.append(contentsOf: arguments.bytes)
        }
    }
}

/// Writes commands as arrays of bulk strings.
enum CommandWriter {
    static func begin(_ count: Int, to output: inout [UInt8]) { Self.header(UInt8(ascii: "*"), count, to: &output) }

    static func append(_ word: ByteString, to output: inout [UInt8]) {
        Self.header(UInt8(ascii: "$"), word.utf8.count, to: &output)
        output.append(contentsOf: word.utf8)
        Self.endLine(to: &output)
    }

    static func append(literal word: StaticString, to output: inout [UInt8]) {
        Self.header(UInt8(ascii: "$"), word.utf8CodeUnitCount, to: &output)
        output.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        Self.endLine(to: &output)
    }

    static func append(_ word: [UInt8], to output: inout [UInt8]) {
        Self.header(UInt8(ascii: "$"), word.count, to: &output)
        output.append(contentsOf: word)
        Self.endLine(to: &output)
    }

    static func append(_ number: Int, to output: inout [UInt8]) { Self.append(ByteString("\(number)"), to: &output) }

    static func header(_ kind: UInt8, _ count: Int, to output: inout [UInt8]) {
        output.append(kind)
        if count < 10 {
            output.append(48 &+ UInt8(truncatingIfNeeded: count))
        } else if count < 100 {
            output.append(48 &+ UInt8(truncatingIfNeeded: count / 10))
            output.append(48 &+ UInt8(truncatingIfNeeded: count % 10))
        } else {
            output.append(contentsOf: "\(count)".utf8)
        }
        Self.endLine(to: &output)
    }

    static func endLine(to output: inout [UInt8]) {
        output.append(13)
        output.append(10)
    }
}
