import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What refused requests are told: that body and status line agree, and what the developer of an app can mend.
@Suite("Bodies of refusals", .oneOfFewThreads, .gateway())
struct RefusalBodyTests {
    @Test(arguments: [
        (
            "GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\nHost: x\r\n\r\n", 414, "URI Too Long",
            "invalid_request"
        ),
        ("CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n", 501, "Not Implemented", "invalid_request"),
        ("GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505, "HTTP Version Not Supported", "invalid_request"),
        (
            "GET / HTTP/1.1\r\nHost: x\r\nA: \(String(repeating: "a", count: 20_000))\r\n\r\n", 431,
            "Request Header Fields Too Large", "headers_too_large"
        ),
        ("GET / HTTP/1.1\r\n\r\n", 400, "Bad Request", "invalid_request"),
    ])
    func `The body says what the status line says`(wire: String, status: Int, title: String, code: String) throws {
        let gateway = try TestGateway.current
        for port in [gateway.process.port, gateway.process.adminPort] {
            let client = try RawClient(port: port, limit: .seconds(20))
            try client.send(wire)
            let response = try #require(try client.response())
            #expect(response.status == status && response.json?["status"]?.int == status, "\(response.text)")
            #expect(response.json?["title"]?.string == title && response.json?["code"]?.string == code)
        }
    }

    /// A body and its coding, at every route that reads one.
    private static let routes = [
        ("/api/process", Ask("coding").json), ("/v1/questions", #"{"question":"Why?"}"#),
        ("/v1/chat/completions", #"{"model":"summarize","messages":[{"role":"user","content":"Long enough a text"}]}"#),
        ("/v1/guest-sessions/claim", #"{"guestToken":"x"}"#), ("/admin/v1/tenants/acme/revocations", "{}"),
    ]

    @Test(arguments: [["gzip"], ["identity, br"], ["identity", "gzip"]])
    func `A body in another coding is refused`(codings: [String]) throws {
        for (path, body) in Self.routes {
            let response = try self.post(path, body, codings)
            #expect(response.status == 415, "\(path) \(response.text)")
            #expect((response.json?["error"] ?? response.json)?["code"]?.string == "unsupported_media_type")
        }
    }

    @Test func `A body that is not encoded may say so`() throws {
        for (path, body) in Self.routes {
            #expect(try self.post(path, body, ["Identity"]).status != 415, "\(path)")
        }
        #expect(try self.post("/api/process", Ask("coding").json, ["identity", ""]).status == 200)
    }

    private func post(_ path: String, _ body: String, _ codings: [String]) throws -> HTTPResponse {
        let gateway = try TestGateway.current
        let isAdmin = path.hasPrefix("/admin")
        let client = try RawClient(
            port: isAdmin ? gateway.process.adminPort : gateway.process.port, limit: .seconds(20))
        let credentials = isAdmin ? ("Authorization", "Bearer \(Operators.boss)") : Caller().authorization
        try client.request(
            "POST", path,
            headers: [credentials, ("Content-Type", "application/json")] + codings.map { ("Content-Encoding", $0) },
            body: Array(body.utf8))
        return try #require(try client.response())
    }

    @Test func `A question without an agent is told to name one where there is no default`() throws {
        let response = try self.post("/v1/questions", #"{"question":"Why do tides rise?"}"#, [])
        #expect(response.status == 400 && response.json?["code"]?.string == "unknown_task")
        #expect(response.json?["detail"]?.string == "Name an `agent`: this tenant has no default one.")
    }
}
