import GatewayTypes
import Testing

@testable import RedisClient

@Suite("Reading replies")
struct ReplyReaderTests {
    /// All replies of some bytes that come in pieces of a size.
    static func read(_ bytes: [UInt8], pieces: Int) throws -> [RedisReply] {
        guard var reader = ReplyReader() else { throw NeverHappened() }
        var replies: [RedisReply] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            piece.withUnsafeBytes { reader.append($0) }
            while let reply = try reader.next() { replies.append(reply) }
        }
        return replies
    }

    @Test(arguments: [1, 2, 3, 7, 64, 100_000])
    func piecesMakeNoDifference(size: Int) throws {
        let long = String(repeating: "y", count: 5000)
        let text =
            "+OK\r\n:0\r\n:-9223372036854775808\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n*1\r\n+a\rb\r\n$5000\r\n\(long)\r\n-ERR x\r\n"
        let wanted: [RedisReply] = [
            .status(Array("OK".utf8)), .integer(0), .integer(.min), .bulk([]), .null, .null, .array([]),
            .array([.array([.status(Array("a\rb".utf8))]), .bulk(Array(long.utf8))]),
            .error(RedisServerError(Array("ERR x".utf8))),
        ]
        #expect(try Self.read(Array(text.utf8), pieces: size) == wanted)
    }

    @Test func manyRepliesInOneGoAreAllRead() throws {
        let bytes = (0..<20_000).flatMap { Array(":\($0)\r\n".utf8) }
        #expect(try Self.read(bytes, pieces: bytes.count) == (0..<20_000).map { .integer($0) })
    }

    @Test func whatIsTooLongIsRefusedBeforeItCame() throws {
        for text in ["$\(ReplyReader.mostBytes + 1)\r\n", "*\(ReplyReader.mostElements + 1)\r\n", "$1000000000\r\n"] {
            #expect(throws: ReplyReader.Malformed.self) { try Self.read(Array(text.utf8), pieces: 4) }
        }
    }

    @Test func theLargestAllowedIsRead() throws {
        let count = ReplyReader.mostBytes - 64
        let bytes = Array("$\(count)\r\n".utf8) + [UInt8](repeating: 7, count: count) + [13, 10]
        let replies = try Self.read(bytes, pieces: 1 << 20)
        #expect(replies.first?.bytes?.count == count)
    }

    @Test func manyPartsThatAreLongTogetherAreRefused() throws {
        let part = Array("$1000000\r\n".utf8) + [UInt8](repeating: 7, count: 1_000_000) + [13, 10]
        let bytes = Array("*20\r\n".utf8) + Array(repeating: part, count: 20).flatMap { $0 }
        #expect(throws: ReplyReader.Malformed.self) { try Self.read(bytes, pieces: 65536) }
    }

    @Test func randomBytesNeverDoHarm() throws {
        var random = SeededNumbers(seed: 7)
        let alphabet = Array("+-:$*0123456789\r\n\r\n\r\nabc ".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            let whole = Result { try Self.read(bytes, pieces: 64) }
            let single = Result { try Self.read(bytes, pieces: 1) }
            #expect((try? whole.get()) == (try? single.get()))
        }
    }

    @Test(arguments: [
        ("MOVED 7 10.0.0.1:6380", "10.0.0.1"), ("ASK 7 ::1:6380", "::1"), ("MOVED 7 :6380", "own"),
        ("MOVED 7 ?:6380", "own"), ("MOVED 7 redis-1.example:6380 more", "redis-1.example"),
    ])
    func aRedirectionNamesAnAddress(text: String, host: String) throws {
        let own = RedisAddress(host: "own", port: 1)
        let found = try #require(RedisServerError(Array(text.utf8)).redirection(from: own))
        #expect(found.slot == 7)
        #expect(found.address == RedisAddress(host: host, port: 6380))
    }

    @Test func onlyTheFirstWordOfAnErrorCounts() {
        for kind in RedisServerError.Kind.allCases {
            let text = "\(kind.rawValue) script: 5f, on @user_script:1."
            #expect(RedisServerError(Array(text.utf8)).kind == kind)
        }
        #expect(RedisServerError(Array("MOVEDX 1 a:1".utf8)).kind == .other)
        #expect(RedisServerError([]).kind == .other)
        #expect(RedisServerError([UInt8](repeating: 0xFF, count: 5000)).kind == .other)
    }
}
