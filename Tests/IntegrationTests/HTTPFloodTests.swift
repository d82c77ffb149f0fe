import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("HTTP floods", .oneOfFewThreads, .serialized, .gateway(), .tags(.memory))
struct HTTPFloodTests {
    @Test(arguments: [
        ("small fields", "GET /api/health HTTP/1.1\r\nHost: a\r\n", "X-A: b\r\n", 200_000),
        ("one long field", "GET /api/health HTTP/1.1\r\nHost: a\r\nX-L: ", "aaaaaaaa", 131_072),
        ("a long target", "GET /", "aaaaaaaa", 131_072),
        ("empty lines", "", "\r\n", 300_000),
        (
            "trailers",
            "POST /api/process HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            "X-T: b\r\n", 200_000
        ),
        (
            "chunk extensions",
            "POST /api/process HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
            "1;a=b\r\nx\r\n", 200_000
        ),
    ])
    func `A head without end is refused early and costs no memory`(
        name: String, start: String, piece: String, times: Int
    ) throws {
        let gateway = try TestGateway.current
        let before = gateway.process.child.residentMemory
        let client = try gateway.client(limit: .seconds(10))
        try client.send(start.replacing("TOKEN", with: Caller().token))
        let block = Array(String(repeating: piece, count: 1000).utf8)
        // The gateway closes long before everything is sent.
        for _ in 0..<(times / 1000) { if (try? client.send(block)) == nil { break } }
        if let response = try? client.response() {
            #expect([400, 413, 414, 431].contains(response.status), "\(response.status)")
            #expect(response.header("x-request-id") != nil)
        }
        #expect(client.isClosed())
        #expect(gateway.process.child.residentMemory - before < 8 << 20)
        #expect(gateway.isAlive)
    }

    @Test func `A slow head does not hold up others`() throws {
        let gateway = try TestGateway.current
        let slow = try (0..<50).map { _ in
            let client = try gateway.client()
            try client.send("GET /api/health HTTP/1.1\r\nHos")
            return client
        }
        #expect(gateway.isAlive)
        for client in slow {
            try client.send("t: a\r\n\r\n")
            #expect(try client.response()?.status == 200)
        }
    }
}

extension Tag {
    /// Watches the gateway's resident memory.
    @Tag static var memory: Self
}
