import EventLoops
import GatewayTesting
import GatewayTypes
import HTTPServer
import Testing

/// Bytes that cannot be a request, and what they are answered.
struct BadRequest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int
    let wire: String

    init(_ name: String, _ status: Int, _ wire: String) {
        self.testDescription = name
        self.status = status
        self.wire = wire
    }
}

@Suite("Requests that cannot be read", .ownThread)
struct RefusalTests {
    private static let long = String(repeating: "x", count: 40_000)

    @Test(arguments: [
        BadRequest("nonsense", 400, "hello there\r\n\r\n"),
        BadRequest("bare line feed", 400, "GET / HTTP/1.1\nHost: a\n\n"),
        BadRequest("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
        BadRequest(
            "two framings", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
        ),
        BadRequest("endless target", 414, "GET /\(long)"),
        BadRequest("endless field", 431, "GET / HTTP/1.1\r\nHost: a\r\nX-A: \(long)"),
        BadRequest("too many fields", 431, "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "a: b\r\n", count: 200)),
        BadRequest("expectation", 417, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: magic\r\n\r\n"),
        BadRequest("CONNECT", 501, "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
        BadRequest("coding", 501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        BadRequest("version", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ])
    func `Each gets its status and the end, also behind a good request`(bad: BadRequest) async throws {
        let answered = Box(0)
        let answering: Answering = { exchange in
            answered.change { $0 += 1 }
            exchange.respond(200, "good")
        }
        try await withServer(answering: answering) { server in
            for before in ["", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"] {
                let client = try server.client()
                try client.send(before + bad.wire + "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n")
                if !before.isEmpty { #expect(try client.response()?.text == "good") }
                let response = try #require(try client.response())
                #expect(response.status == bad.status)
                #expect(response.header("connection") == "close")
                #expect(response.header("content-type") == "text/plain" && !response.text.isEmpty)
                #expect(try client.everything().isEmpty)
            }
            #expect(answered.now == 1)
            #expect(server.waitUntilEmpty())
        }
    }

    @Test(arguments: [
        BadRequest("chunk size", 400, "zz\r\n"), BadRequest("chunk end", 400, "2\r\nabXX"),
        BadRequest("trailer", 400, "0\r\nno colon\r\n\r\n"), BadRequest("too much", 413, "9\r\n123456789\r\n0\r\n\r\n"),
        BadRequest("huge size", 413, "7fffffff\r\n"),
    ])
    func `A body that breaks a rule fails its reader and ends the connection`(bad: BadRequest) async throws {
        try await withServer(answering: { await $0.echo(limit: 8) }) { server in
            let client = try server.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(bad.wire)GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
            )
            let response = try #require(try client.response())
            #expect(response.status == bad.status)
            #expect(response.header("connection") == "close")
            #expect(try client.everything().isEmpty)
        }
    }

    @Test func `An announced size above the limit fails before the body comes`() async throws {
        try await withServer(answering: { await $0.echo(limit: 8) }) { server in
            for length in ["9", "999999999999999999"] {
                let client = try server.client()
                try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
                #expect(try client.response()?.status == 413)
            }
            let client = try server.client()
            try client.request("POST", "/", body: Array("8 bytes.".utf8))
            #expect(try client.response()?.text == "8 bytes.")
        }
    }

    @Test func `A waiting client is let go on only by a reader`() async throws {
        let answering: Answering = { exchange in
            if exchange.path == "/refuse" { exchange.respond(401, "no") } else { await exchange.echo() }
        }
        try await withServer(answering: answering) { server in
            let head = "HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
            let client = try server.client()
            for _ in 0..<2 {
                try client.send("POST / \(head)")
                #expect(try client.response()?.status == 100)
                try client.send("body")
                #expect(try client.response()?.text == "body")
            }
            try client.send("POST /refuse \(head)")
            let refusal = try #require(try client.response())
            #expect(refusal.status == 401 && refusal.header("connection") == "close")
            #expect(try client.everything().isEmpty)
        }
    }

    @Test func `A client that did not wait gets no word between`() async throws {
        try await withServer(answering: { await $0.echo() }) { server in
            let client = try server.client()
            try client.send("POST / HTTP/1.0\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody")
            #expect(try client.response()?.text == "body")
        }
    }

    @Test(arguments: [0, 1, 1000, 65_536])
    func `A small body that nobody read does not become the next request`(count: Int) async throws {
        try await withServer({ $0.lingerTimeout = .seconds(20) }, answering: { $0.respond(401, $0.path) }) { server in
            let client = try server.client()
            let hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
            let body = Array(String(repeating: hidden, count: count / hidden.utf8.count + 1).utf8.prefix(count))
            try client.request("POST", "/first", body: body)
            #expect(try client.response()?.text == "/first")
            let size = String(count, radix: 16)
            try client.send("POST /second HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            if count > 0 { try client.send(Array("\(size)\r\n".utf8) + body + [13, 10]) }
            try client.send("0\r\n\r\nGET /third HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.response()?.text == "/second")
            let third = try #require(try client.response())
            #expect(third.text == "/third" && third.header("connection") == nil)
        }
    }

    @Test(arguments: [true, false])
    func `A large body that nobody read ends the connection, its answer arrives whole`(isChunked: Bool) async throws {
        try await withServer(answering: { $0.respond(401, String(repeating: "no ", count: 1000)) }) { server in
            let client = try server.client()
            let body = [UInt8](repeating: 0x41, count: 3_000_000)
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
            try client.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
            if isChunked { try client.send("\(String(body.count, radix: 16))\r\n") }
            // The server may end while this is being sent; what it said must be there all the same.
            try? client.send(body)
            let response = try #require(try client.response())
            #expect(response.status == 401 && response.text.utf8.count == 3000)
            if !isChunked { #expect(response.header("connection") == "close") }
            #expect(client.isClosed())
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `A chunked body that nobody read and never ends is given up`() async throws {
        try await withServer({ $0.lingerTimeout = .milliseconds(200) }, answering: { $0.respond(401, "no") }) {
            server in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
            #expect(try client.response()?.status == 401)
            #expect(try client.everything().isEmpty)
            #expect(server.waitUntilEmpty())
        }
    }
}
