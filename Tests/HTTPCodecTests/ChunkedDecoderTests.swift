import HTTPCodec
import Testing

/// What decoding some bytes gave: the body, the bytes taken in all, the last state.
struct Decoded: Equatable {
    var body = ""
    var consumed = 0
    var state = ChunkProgress.State.needMore
}

func decode(_ text: String, bodyLimit: Int = 1 << 20, limits: HTTPLimits = HTTPLimits()) -> Decoded {
    decode(Array(text.utf8), cutAt: [], bodyLimit: bodyLimit, limits: limits)
}

/// Decodes in pieces that end at `cuts` and at the end; the body is emptied between calls, as a relay would.
func decode(
    _ bytes: [UInt8], cutAt cuts: [Int], bodyLimit: Int = 1 << 20, limits: HTTPLimits = HTTPLimits()
) -> Decoded {
    var decoder = ChunkedDecoder(limits: limits)
    var body: [UInt8] = []
    var result = Decoded()
    var start = 0
    for end in cuts + [bytes.count] {
        var piece: [UInt8] = []
        let progress = decoder.decode(bytes.span.extracting(start..<end), into: &piece, bodyLimit: bodyLimit)
        body += piece
        result.consumed += progress.consumed
        result.state = progress.state
        if progress.state != .needMore { break }
        start = end
    }
    result.body = String(decoding: body, as: UTF8.self)
    return result
}

@Suite struct ChunkedDecoderTests {
    static let bodies: [(String, String)] = [
        ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"), ("1\r\na\r\n2\r\nbc\r\n00000000\r\n\r\n", "abc"),
        ("A\r\n0123456789\r\na\r\nabcdefghij\r\n0\r\n\r\n", "0123456789abcdefghij"),
        ("00000002\r\nhi\r\n000\r\n\r\n", "hi"),
        ("4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"), ("5;ext=1\r\nhello\r\n0;last\r\n\r\n", "hello"),
        ("5 ; a ; b\t=\t\"q;\\\"\u{E9}\\\\\t\" ;c=d\r\nhello\r\n0\r\n\r\n", "hello"),
        ("1;a=\"\"\r\nx\r\n0\r\n\r\n", "x"),
        ("2\r\nhi\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\nHost: evil.test\r\n\r\n", "hi"),
        ("2\r\nhi\r\n0\r\nEmpty:\r\nT: a\tb\u{E9}\r\n\r\n", "hi"),
    ]

    @Test(arguments: Self.bodies)
    func bodiesAreDecodedWhereverTheyAreCut(_ text: String, _ body: String) {
        let bytes = Array(text.utf8)
        let expected = Decoded(body: body, consumed: bytes.count, state: .complete)
        #expect(decode(text) == expected)
        for cut in 0..<bytes.count { #expect(decode(bytes, cutAt: [cut]) == expected, "cut at \(cut)") }
        #expect(decode(bytes, cutAt: Array(1..<bytes.count)) == expected)
        #expect(decode(text + "GET /next HTTP/1.1\r\n") == expected)
        for count in 0..<bytes.count {
            #expect(decode(Array(bytes.prefix(count)), cutAt: []).state == .needMore)
        }
    }

    static let faults: [(String, HTTPFailure)] = [
        ("\r\n", .invalidChunkSize), ("x\r\n", .invalidChunkSize), ("0x5\r\nhello", .invalidChunkSize),
        ("+5\r\nhello", .invalidChunkSize), ("-5\r\nhello", .invalidChunkSize), ("5_0\r\n", .invalidChunkSize),
        (" 5\r\nhello", .invalidChunkSize), ("\t5\r\nhello", .invalidChunkSize), ("5g\r\nhello", .invalidChunkSize),
        ("5,\r\nhello", .invalidChunkSize), ("5.\r\nhello", .invalidChunkSize),
        ("000000005\r\nhello", .invalidChunkSize),
        ("FFFFFFFFF\r\n", .invalidChunkSize), ("FFFFFFFFFFFFFFFFF\r\nhello", .invalidChunkSize),
        (";a=b\r\n", .invalidChunkSize), ("\u{0}5\r\nhello", .invalidChunkSize), ("5\u{0}\r\nhello", .invalidChunkSize),
        ("\"5\"\r\nhello", .invalidChunkSize), ("5\u{B}\r\nhello", .invalidChunkSize),
        ("\u{665}\r\n", .invalidChunkSize),
        ("5\nhello\n0\n\n", .bareLineEnd), ("5\r\r\nhello", .bareLineEnd), ("5\rhello", .bareLineEnd),
        ("5 \r\nhello", .invalidChunkExtension), ("5 5\r\nhello", .invalidChunkExtension),
        ("5;\r\nhello", .invalidChunkExtension), ("5; \r\nhello", .invalidChunkExtension),
        ("5;a \r\nhello", .invalidChunkExtension), ("5;a=\r\nhello", .invalidChunkExtension),
        ("5;a=b \r\nhello", .invalidChunkExtension), ("5;=b\r\nhello", .invalidChunkExtension),
        ("5;;a\r\nhello", .invalidChunkExtension), ("5;a=\"\r\n\r\nGET /x", .invalidChunkExtension),
        ("5;a=\"b\nc\"\r\nhello", .invalidChunkExtension), ("5;\nx\r\nhello", .invalidChunkExtension),
        ("5;a\n", .invalidChunkExtension), ("5;a=b\n", .invalidChunkExtension),
        ("5;a=\"b\"c\r\n", .invalidChunkExtension),
        ("5;a=\"\u{0}\"\r\nhello", .invalidChunkExtension), ("5;a=\"\\\r\"\r\n", .invalidChunkExtension),
        ("5;a=b=c\r\nhello", .invalidChunkExtension), ("5;a b\r\nhello", .invalidChunkExtension),
        ("5;\u{E9}=1\r\nhello", .invalidChunkExtension), ("5;a=\u{7F}\r\nhello", .invalidChunkExtension),
        ("5;a\r\r\nhello", .bareLineEnd), ("5\r\nhelloXX0\r\n\r\n", .invalidChunkEnd),
        ("5\r\nhello0\r\n\r\n", .invalidChunkEnd), ("5\r\nhello\n0\r\n\r\n", .invalidChunkEnd),
        ("5\r\nhello\r0\r\n\r\n", .invalidChunkEnd), ("4\r\nhello\r\n0\r\n\r\n", .invalidChunkEnd),
        ("0\r\n\n", .bareLineEnd), ("0\r\n\r\r", .bareLineEnd), ("0\r\nA: b\n\r\n", .bareLineEnd),
        ("0\r\nA: b\r\r\n\r\n", .bareLineEnd), ("0\r\n A: b\r\n\r\n", .invalidTrailer),
        ("0\r\nA : b\r\n\r\n", .invalidTrailer),
        ("0\r\nA\r\n\r\n", .invalidTrailer), ("0\r\n: b\r\n\r\n", .invalidTrailer),
        ("0\r\nA: \u{0}\r\n\r\n", .invalidTrailer),
        ("0\r\nA: b\r\n c\r\n\r\n", .invalidTrailer), ("0\r\n\u{E9}: b\r\n\r\n", .invalidTrailer),
        ("0\r\nGET /smuggled HTTP/1.1\r\n", .invalidTrailer),
    ]

    @Test(arguments: Self.faults)
    func faultsAreRefusedWhereverTheyAreCut(_ text: String, _ failure: HTTPFailure) {
        let whole = decode(text)
        #expect(whole.state == .failed(failure))
        #expect(failure.status == 400)
        let bytes = Array(text.utf8)
        for cut in 0..<bytes.count { #expect(decode(bytes, cutAt: [cut]) == whole, "cut at \(cut)") }
        #expect(decode(bytes, cutAt: Array(1..<bytes.count)) == whole)
    }

    @Test func bodyOverItsLimitIsRefusedBeforeItsBytes() {
        #expect(decode("5\r\nhello\r\n0\r\n\r\n", bodyLimit: 5).state == .complete)
        let over = decode("6\r\nhello!", bodyLimit: 5)
        #expect(over == Decoded(body: "", consumed: 2, state: .failed(.bodyTooLarge)))
        #expect(HTTPFailure.bodyTooLarge.status == 413)
        #expect(decode("3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n", bodyLimit: 5).state == .failed(.bodyTooLarge))
        #expect(decode("0\r\n\r\n", bodyLimit: 0).state == .complete)
        #expect(decode("FFFFFFFF\r\n", bodyLimit: 5).state == .failed(.bodyTooLarge))
        #expect(decode("1\r\n", bodyLimit: -1).state == .failed(.bodyTooLarge))
        #expect(decode("FFFFFFFF\r\nx", bodyLimit: Int.max).body == "x")
    }

    @Test func extensionsAreCountedOverTheWholeMessage() {
        let chunk = { (count: Int) in "1;" + String(repeating: "a", count: count - 1) + "\r\nx\r\n" }
        #expect(decode(chunk(1024) + "0\r\n\r\n").state == .complete)
        #expect(decode(chunk(1025)).state == .failed(.chunkExtensionsTooLarge))
        #expect(decode(chunk(512) + chunk(512) + "0\r\n\r\n").body == "xx")
        #expect(decode(chunk(512) + chunk(512) + "0;a\r\n\r\n").state == .failed(.chunkExtensionsTooLarge))
        let flood = String(repeating: "1;a\r\nx\r\n", count: 1000)
        #expect(decode(flood).state == .failed(.chunkExtensionsTooLarge))
        #expect(HTTPFailure.chunkExtensionsTooLarge.status == 400)
    }

    @Test func trailersAreLimited() {
        let trailers = { (count: Int) in "0\r\n" + String(repeating: "X-T: b\r\n", count: count) + "\r\n" }
        #expect(decode(trailers(16)).state == .complete)
        #expect(decode(trailers(17)).state == .failed(.trailersTooLarge))
        #expect(decode(trailers(200_000)).state == .failed(.trailersTooLarge))
        let long = { (count: Int) in "0\r\nX: " + String(repeating: "v", count: count - 7) + "\r\n\r\n" }
        #expect(decode(long(4096)).state == .complete)
        #expect(decode(long(4097)).state == .failed(.trailersTooLarge))
        #expect(decode("0\r\n" + String(repeating: "n", count: 5000)).state == .failed(.trailersTooLarge))
        #expect(HTTPFailure.trailersTooLarge.status == 431)
        var limits = HTTPLimits()
        limits.trailerBytes = 0
        limits.trailerFields = 0
        #expect(decode("0\r\n\r\n", limits: limits).state == .complete)
    }

    @Test func nothingIsTakenAfterTheEnd() {
        var decoder = ChunkedDecoder(limits: HTTPLimits())
        var body: [UInt8] = []
        let end = Array("0\r\n\r\n5\r\n".utf8)
        #expect(decoder.decode(end.span, into: &body, bodyLimit: 9) == ChunkProgress(consumed: 5, state: .complete))
        #expect(decoder.decode(end.span, into: &body, bodyLimit: 9) == ChunkProgress(consumed: 0, state: .complete))
        var failing = ChunkedDecoder(limits: HTTPLimits())
        let fault = Array("1\r\nxyz".utf8)
        let failed = ChunkProgress.State.failed(.invalidChunkEnd)
        #expect(failing.decode(fault.span, into: &body, bodyLimit: 9) == ChunkProgress(consumed: 4, state: failed))
        #expect(failing.decode(end.span, into: &body, bodyLimit: 9) == ChunkProgress(consumed: 0, state: failed))
        #expect(body == Array("x".utf8))
    }

    @Test func manySmallChunksAreJoined() {
        let text = String(repeating: "1\r\nx\r\n", count: 10_000) + "0\r\n\r\n"
        #expect(decode(text).body == String(repeating: "x", count: 10_000))
    }
}
