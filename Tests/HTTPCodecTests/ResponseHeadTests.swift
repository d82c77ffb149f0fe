import HTTPCodec
import Testing

/// A head of an answer and what it says.
private struct GoodHead: Sendable, CustomTestStringConvertible {
    let wire: String
    let status: Int
    let framing: ResponseFraming
    let keepAlive: Bool
    var testDescription: String { self.wire.debugDescription }

    init(_ status: Int, _ framing: ResponseFraming, _ keepAlive: Bool, _ lines: String...) {
        self.wire = lines.map { $0 + "\r\n" }.joined() + "\r\n"
        self.status = status
        self.framing = framing
        self.keepAlive = keepAlive
    }
}

@Suite("Heads of answers")
struct ResponseHeadTests {
    private static let good = [
        GoodHead(200, .length(5), true, "HTTP/1.1 200 OK", "Content-Length: 5"),
        GoodHead(200, .chunked, true, "HTTP/1.1 200 OK", "tRANSFER-eNCODING: Chunked"),
        GoodHead(200, .untilClose, false, "HTTP/1.1 200 OK"),
        GoodHead(200, .untilClose, false, "HTTP/1.0 200 OK"),
        GoodHead(200, .length(0), false, "HTTP/1.0 200 OK", "Content-Length: 0"),
        GoodHead(200, .length(0), true, "HTTP/1.7 200 OK", "Content-Length: 0"),
        GoodHead(200, .length(0), false, "HTTP/1.1 200 OK", "Content-Length: 0", "Connection: x, Close"),
        // Both: the coding holds, and the connection is not used again.
        GoodHead(200, .chunked, false, "HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked"),
        GoodHead(204, .none, true, "HTTP/1.1 204 No Content", "Content-Length: 5"),
        GoodHead(304, .none, true, "HTTP/1.1 304 Not Modified", "Transfer-Encoding: chunked"),
        GoodHead(100, .none, true, "HTTP/1.1 100 Continue"),
        GoodHead(599, .length(1), true, "HTTP/1.1 599", "Content-Length: 1"),
        GoodHead(429, .length(1), true, "HTTP/1.1 429 ", "Content-Length:\t1 "),
        GoodHead(200, .length(1), true, "HTTP/1.1 200 \u{E9}t\u{E9}\tok", "Content-Length: 1"),
    ]

    @Test(arguments: Self.good)
    private func `A head says where its body ends, however it is cut`(head: GoodHead) throws {
        let bytes = Array(head.wire.utf8)
        for cut in 0..<bytes.count {
            var scanned = 0
            if cut > 0 {
                let begun = ResponseHeadParser.parse(bytes.span.extracting(0..<cut), limits: HTTPLimits())
                guard case .incomplete = begun else {
                    Issue.record("\(begun) at \(cut)")
                    return
                }
                scanned = cut
            }
            let rest = bytes + Array("HTTP/1.1 500 No\r\n\r\n".utf8)
            let parsed = ResponseHeadParser.parse(rest.span, scanned: scanned, limits: HTTPLimits())
            guard case .head(let found, let consumed) = parsed else {
                Issue.record("\(parsed) at \(cut)")
                return
            }
            #expect(consumed == bytes.count && found.status == head.status)
            #expect(found.framing == head.framing && found.keepAlive == head.keepAlive)
        }
    }

    @Test(arguments: [
        "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 No\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 O\u{0}K\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\n\n", "\r\nHTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\rX\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\u{0}\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func `What leaves a doubt is refused`(wire: String) {
        let parsed = ResponseHeadParser.parse(Array(wire.utf8).span, limits: HTTPLimits())
        guard case .failed = parsed else {
            Issue.record("\(parsed)")
            return
        }
    }

    @Test func `Values of a field come in their order, whatever the case of its name`() {
        let wire = "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Type: Text/Plain \r\nx-a:\r\nX-AB: 3\r\n\r\n"
        guard case .head(let head, _) = ResponseHeadParser.parse(Array(wire.utf8).span, limits: HTTPLimits()) else {
            Issue.record("no head")
            return
        }
        #expect(head.values("x-a") == ["1", ""] && head.values("content-type") == ["Text/Plain"])
        #expect(head.values("x-b").isEmpty)
    }

    @Test func `Limits hold for lines, fields and the whole`() {
        var limits = HTTPLimits()
        limits.headBytes = 100
        limits.fields = 2
        limits.valueBytes = 20
        limits.requestLineBytes = 30
        let wires: [(String, HTTPFailure)] = [
            ("HTTP/1.1 200 \(String(repeating: "x", count: 40))\r\n\r\n", .headTooLarge),
            ("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 21))\r\n\r\n", .fieldTooLarge),
            ("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", .tooManyFields),
        ]
        for (wire, failure) in wires {
            guard case .failed(let found) = ResponseHeadParser.parse(Array(wire.utf8).span, limits: limits) else {
                Issue.record("\(wire.debugDescription) is taken")
                continue
            }
            #expect(found == failure)
        }
        let endless = Array("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 80))".utf8)
        limits.valueBytes = 1000
        guard case .failed(.headTooLarge) = ResponseHeadParser.parse(endless.span, limits: limits) else {
            Issue.record("a head without end is waited for")
            return
        }
    }
}
