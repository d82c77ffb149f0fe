import HTTPCodec
import Testing

/// The answer for some bytes must not depend on how reads cut them.
@Suite struct HeadSplitTests {
    static let heads = [
        request("GET /health HTTP/1.1"),
        "\r\n\r\n" + request("POST /v1/chat/completions?x=y HTTP/1.1", "Content-Length: 0"),
        request("POST /api/process HTTP/1.1", "Transfer-Encoding: chunked", "Expect: 100-continue", "X: \t a\tb \t"),
        request("GET http://app.test/x HTTP/1.1", "Connection: keep-alive, close", "Authorization: Bearer abc.def.ghi"),
        request("GET / HTTP/1.0", host: nil), request("OPTIONS * HTTP/1.1"), request("GET / HTTP/2.0"),
        request("CONNECT a:1 HTTP/1.1"), request("GET / HTTP/1.1", "Content-Length: 1", "Transfer-Encoding: chunked"),
        request("GET / HTTP/1.1", host: nil), request("G@T / HTTP/1.1"), request("GET /# HTTP/1.1"),
        request("GET / FTTP/1.1"), request("GET / X"), request("GET / HTTP/1.1", " folded: x"),
        request("GET / HTTP/1.1", "A : b"),
        request("GET / HTTP/1.1", "A: b\u{0}"), "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\r\n\rX",
        "\r\n\r\n\r\n", "\n", "\r\r", "GET /\r\n\r\n", "\r\n \r\n\r\n", "GET / HTTP/1.1\r\n\r\n\r\n",
    ]

    @Test(arguments: Self.heads)
    func everyCutGivesTheSameAnswer(_ text: String) {
        let bytes = Array(text.utf8)
        let whole = parse(bytes)
        #expect(whole != .incomplete)
        for cut in 1..<bytes.count {
            #expect(parse(bytes, cutAt: [cut, bytes.count]) == whole, "cut at \(cut)")
        }
        #expect(drip(bytes) == whole)
    }

    @Test(arguments: Self.heads)
    func whatFollowsAHeadIsLeftAlone(_ text: String) {
        let bytes = Array(text.utf8)
        guard let consumed = parse(bytes).consumed else { return }
        #expect(consumed == bytes.count)
        for rest in ["GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n", "\n", "\u{0}\u{0}", "\r\n\r\n", "x"] {
            #expect(parse(bytes + Array(rest.utf8)) == parse(bytes))
            #expect(drip(bytes + Array(rest.utf8)) == parse(bytes))
        }
    }

    @Test func pipelinedRequestsComeOneByOne() throws {
        let first = request("GET /a HTTP/1.1")
        let second = request("POST /b HTTP/1.1", "Content-Length: 2")
        var bytes = Array((first + second + "{}" + first).utf8)
        var paths: [String] = []
        while !bytes.isEmpty {
            let result = parse(bytes)
            let facts = try #require(result.facts)
            paths.append(facts.path)
            var consumed = try #require(result.consumed)
            if case .length(let length) = facts.framing { consumed += length }
            bytes.removeFirst(consumed)
        }
        #expect(paths == ["/a", "/b", "/a"])
    }

    @Test(arguments: Self.heads)
    func prefixesOfAHeadAreIncomplete(_ text: String) {
        let bytes = Array(text.utf8)
        guard parse(bytes).facts != nil else { return }
        for count in 0..<bytes.count { #expect(parse(Array(bytes.prefix(count))) == .incomplete) }
    }

    @Test func sameBytesAgainAreStillIncomplete() {
        let bytes = Array("GET / HTTP/1.1\r\nHost".utf8)
        #expect(parse(bytes, cutAt: [bytes.count, bytes.count]) == .incomplete)
    }

    @Test func wrongScanCountsDoNoHarm() {
        let bytes = Array(request().utf8)
        for scanned in [-5, bytes.count + 1, Int.max, Int.min] {
            let parsed = RequestHeadParser.parse(bytes.span, scanned: scanned, limits: HTTPLimits())
            #expect(HeadResult(parsed).facts != nil)
        }
    }
}
