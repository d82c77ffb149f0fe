import HTTPCodec
import Testing

@Suite struct HostTests {
    @Test(arguments: [
        "app.test", "app.test:8080", "127.0.0.1", "[::1]", "[::1]:443", "[fe80::1.2.3.4]:1", "a", "app.test:",
        "under_score.test", "%41pp.test", "x-1.test:65535", "app.test.",
    ])
    func hostsAreAccepted(_ host: String) {
        #expect(parse(request(host: host)).facts?.authority == host)
    }

    @Test(arguments: [
        "", " ", "a b", "a,b", "a, b", "user@app.test", "user:secret@app.test", "app.test/", "app.test/x",
        "http://app.test",
        "app.test:x", "app.test:65536", "app.test:123456", "app.test:80:80", ":80", "[]", "[:]", "[::1", "::1",
        "[::1]x",
        "[g::1]", "[::1%25eth0]", "app\u{E9}.test", "a\\b", "a?b", "a#b", "a\"b", "%4", "%4x", "%", "a\tb",
        "app.test:-1",
    ])
    func otherValuesAreRefused(_ host: String) {
        #expect(parse(request(host: host)).failure == .hostInvalid)
    }

    @Test func hostIsNeededOnceWithHTTP11() {
        #expect(parse(request(host: nil)).failure == .hostMissing)
        #expect(parse(request("GET / HTTP/1.1", "Host: app.test")).failure == .hostInvalid)
        #expect(parse(request("GET / HTTP/1.1", "host: other.test")).failure == .hostInvalid)
        #expect(parse(request("GET / HTTP/1.0", "Host: app.test")).failure == .hostInvalid)
        #expect(parse(request("GET / HTTP/1.0", host: nil)).facts?.authority == .some(nil))
    }
}

@Suite struct FramingTests {
    @Test(arguments: [
        ([], BodyFraming.none), (["Content-Length: 0"], .length(0)), (["Content-Length: 17"], .length(17)),
        (["Content-Length:\t0017 "], .length(17)),
        (["content-length: 999999999999999999"], .length(999_999_999_999_999_999)),
        (["Transfer-Encoding: chunked"], .chunked), (["transfer-encoding:  CHUNKED\t"], .chunked),
        (["Transfer_Encoding: chunked"], .none), (["Content_Length: 5"], .none),
        (["X-Transfer-Encoding: chunked"], .none),
    ])
    func bodiesAreFramed(_ fields: [String], _ framing: BodyFraming) {
        for method in ["GET", "HEAD", "DELETE", "POST"] {
            #expect(parse(request("\(method) / HTTP/1.1", fields)).facts?.framing == framing)
        }
    }

    @Test(arguments: [
        "", "+5", "-1", "0x5", "5_0", "5 0", "5,5", "5, 5", "5;", "5.0", "5e0", "\u{665}", "1000000000000000000",
        "99999999999999999999", "five", "5 5", "'5'", "\"5\"",
    ])
    func contentLengthIsDigitsOnly(_ value: String) {
        #expect(parse(request("POST / HTTP/1.1", "Content-Length: \(value)")).failure == .invalidContentLength)
    }

    @Test func contentLengthComesOnce() {
        #expect(
            parse(request("POST / HTTP/1.1", "Content-Length: 5", "Content-Length: 0")).failure == .invalidContentLength
        )
        #expect(
            parse(request("POST / HTTP/1.1", "Content-Length: 5", "content-length: 5")).failure == .invalidContentLength
        )
    }

    @Test(arguments: [
        ["Content-Length: 6", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Content-Length: 6"],
        ["Transfer-Encoding: identity", "Content-Length: 6"], ["Transfer-Encoding: xchunked", "Content-Length: 5"],
        ["Transfer-Encoding:", "Content-Length: 5"],
    ])
    func bothFramingsTogetherAreRefused(_ fields: [String]) {
        #expect(parse(request("POST / HTTP/1.1", fields)).failure == .conflictingFraming)
    }

    @Test(arguments: [
        "", "identity", "chunked, identity", "chunked, chunked", "chunked,", ",chunked", "chunked;q=1", "chunked;",
        "\"chunked\"", "'chunked", "chunked gzip", "identity, chunked", "xchunked", "chunke", "chunkedx", "gzip",
        "chunked, gzip", "gzip;x=1, chunked", "gzip, chunked, chunked", "\u{E9}, chunked", "gzip,, chunked",
        "chunked\u{A0}",
    ])
    func codingsThatLeaveTheEndInDoubtAreRefused(_ value: String) {
        let result = parse(request("POST / HTTP/1.1", "Transfer-Encoding: \(value)"))
        #expect(result.failure == .invalidTransferEncoding)
        #expect(result.failure?.status == 400)
    }

    @Test(arguments: ["gzip, chunked", "deflate ,\tgzip, Chunked", "x-thing,chunked"])
    func otherCodingsBeforeChunkedAreNotImplemented(_ value: String) {
        let result = parse(request("POST / HTTP/1.1", "Transfer-Encoding: \(value)"))
        #expect(result.failure == .unsupportedTransferCoding)
        #expect(result.failure?.status == 501)
    }

    @Test(arguments: ["chunked\u{B}", "\u{B}chunked", "chunked\u{C}", "chunked\u{0}"])
    func controlBytesAroundTheCodingAreRefused(_ value: String) {
        #expect(parse(request("POST / HTTP/1.1", "Transfer-Encoding: \(value)")).failure == .invalidFieldValue)
    }

    @Test(arguments: [
        ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ["Transfer-Encoding: chunked", "transfer-encoding: chunked"],
        ["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"],
    ])
    func codingComesOnce(_ fields: [String]) {
        #expect(parse(request("POST / HTTP/1.1", fields)).failure == .invalidTransferEncoding)
    }

    @Test func chunkedIsNoPartOfHTTP10() {
        #expect(parse(request("POST / HTTP/1.0", "Transfer-Encoding: chunked")).failure == .invalidTransferEncoding)
        #expect(parse(request("POST / HTTP/1.0", "Content-Length: 3")).facts?.framing == .length(3))
    }

    @Test func foldedAndSpacedCodingsNeverHide() {
        #expect(parse(request("POST / HTTP/1.1", "Transfer-Encoding : chunked")).failure == .invalidFieldName)
        #expect(parse(request("POST / HTTP/1.1", "X: 1\r\n Transfer-Encoding: chunked")).failure == .obsoleteFolding)
        #expect(parse(request("POST / HTTP/1.1", "Transfer-Encoding:\r\n chunked")).failure == .obsoleteFolding)
        #expect(parse(request("POST / HTTP/1.1", "X: 1\nTransfer-Encoding: chunked")).failure == .bareLineEnd)
    }
}

@Suite struct ConnectionTests {
    @Test(arguments: [
        ([], true), (["Connection: keep-alive"], true), (["Connection: close"], false), (["connection: CLOSE"], false),
        (["Connection: keep-alive, close"], false), (["Connection: close,"], false), (["Connection: ,\tClose "], false),
        (["Connection: x", "Connection: close"], false), (["Connection: closed"], true), (["Connection: clos"], true),
        (["Connection: upgrade", "Upgrade: h2c"], true), (["Connection:"], true),
    ])
    func closeIsHeeded(_ fields: [String], _ keepAlive: Bool) {
        #expect(parse(request("GET / HTTP/1.1", fields)).facts?.keepAlive == keepAlive)
    }

    @Test func http10NeverLivesOn() {
        #expect(parse(request("GET / HTTP/1.0", "Connection: keep-alive")).facts?.keepAlive == false)
    }

    @Test(arguments: [
        ("HTTP/1.1", ["Expect: 100-continue", "Content-Length: 5"], true),
        ("HTTP/1.1", ["Expect: 100-Continue", "Transfer-Encoding: chunked"], true),
        ("HTTP/1.1", ["Expect: 100-continue"], false),
        ("HTTP/1.1", ["Expect: 100-continue", "Content-Length: 0"], false),
        ("HTTP/1.0", ["Expect: 100-continue", "Content-Length: 5"], false), ("HTTP/1.1", ["Content-Length: 5"], false),
    ])
    func continueIsExpectedOnlyForABody(_ version: String, _ fields: [String], _ expects: Bool) {
        #expect(parse(request("POST / \(version)", fields)).facts?.expectsContinue == expects)
    }

    @Test(arguments: [
        ["Expect: 200-ok"], ["Expect:"], ["Expect: 100-continue, x"], ["Expect: 100-continue", "Expect: x"],
    ])
    func otherExpectationsFail(_ fields: [String]) {
        #expect(parse(request("POST / HTTP/1.1", fields)).failure == .expectationFailed)
        #expect(HTTPFailure.expectationFailed.status == 417)
    }
}

func request(_ line: String, _ fields: [String]) -> String {
    ([line, "Host: app.test"] + fields).map { $0 + "\r\n" }.joined() + "\r\n"
}
