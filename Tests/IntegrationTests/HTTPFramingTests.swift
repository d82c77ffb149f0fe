import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Bytes on one connection, and the first answer that may come of them.
struct WireCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Header lines between `Host` and the empty line, each with its CRLF.
    let fields: String
    let body: String
    var statuses: Set<Int> = [400]

    init(_ name: String, _ fields: String, _ body: String = "", statuses: Set<Int> = [400]) {
        self.testDescription = name
        self.fields = fields
        self.body = body
        self.statuses = statuses
    }
}

@Suite("HTTP framing", .oneOfFewThreads, .gateway())
struct HTTPFramingTests {
    /// What a smuggler wants to be read as a request of its own.
    private static let hidden = "GET /hidden HTTP/1.1\r\nHost: gateway.test\r\n\r\n"

    /// Sends the bytes, reads everything, and checks that they were one request at most and the last.
    private func expectRefused(_ wire: String, with statuses: Set<Int>, caller: Caller) throws {
        let gateway = try TestGateway.current
        let calls = gateway.provider.calls.count
        let client = try gateway.client(limit: .seconds(10))
        try client.send(wire)
        if let response = try client.response() {
            #expect(statuses.contains(response.status), "\(response.status) \(response.text)")
            #expect(response.header("connection")?.lowercased() == "close")
        }
        let rest = try client.everything()
        #expect(rest.isEmpty, "a second answer: \(String(decoding: rest, as: UTF8.self))")
        #expect(
            gateway.provider.calls.count == calls || gateway.provider.calls.last?.bodyText.contains("hidden") == false)
        #expect(try gateway.counters(caller).values.allSatisfy { $0 == 0 })
        #expect(!gateway.process.everySink.contains("/hidden"))
        #expect(gateway.isAlive)
    }

    @Test(arguments: [
        WireCase("length and coding", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        WireCase("coding and length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
        WireCase("chunked first", "Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n", statuses: [400, 501]),
        WireCase("chunked twice", "Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"),
        WireCase("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
        WireCase("unknown coding", "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n", statuses: [400, 501]),
        WireCase("identity", "Transfer-Encoding: identity\r\nContent-Length: 0\r\n", statuses: [400, 501]),
        WireCase("space before the colon", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
        WireCase("vertical tab behind", "Transfer-Encoding: chunked\u{0B}\r\n", "0\r\n\r\n", statuses: [400, 501]),
        WireCase("quotes", "Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n", statuses: [400, 501]),
        WireCase("empty coding", "Transfer-Encoding: \r\n", "0\r\n\r\n", statuses: [400, 501]),
        WireCase("two lengths", "Content-Length: 4\r\nContent-Length: 0\r\n", "AAAA"),
        WireCase("equal lengths", "Content-Length: 4\r\nContent-Length: 4\r\n", "AAAA"),
        WireCase("lengths in a list", "Content-Length: 4, 4\r\n", "AAAA"),
        WireCase("plus", "Content-Length: +4\r\n", "AAAA"), WireCase("minus", "Content-Length: -1\r\n"),
        WireCase("hexadecimal", "Content-Length: 0x4\r\n", "AAAA"), WireCase("underscore", "Content-Length: 1_0\r\n"),
        WireCase("spaces inside", "Content-Length: 1 0\r\n"), WireCase("empty length", "Content-Length: \r\n"),
        WireCase("beyond Int64", "Content-Length: 18446744073709551616\r\n", statuses: [400, 413]),
        WireCase("folded line", "X-A: 1\r\n Transfer-Encoding: chunked\r\n"),
        WireCase("space before the first line", " X-A: 1\r\n"), WireCase("no colon", "nonsense\r\n"),
        WireCase("empty name", ": x\r\n"), WireCase("high byte in a name", "X-é: 1\r\n"),
        WireCase("NUL in a value", "X-A: a\u{0}b\r\n"), WireCase("bare CR in a value", "X-A: a\rb\r\n"),
        WireCase("bare LF", "X-A: 1\nX-B: 2\r\n"), WireCase("second host", "Host: other.test\r\n"),
        WireCase("same host twice", "Host: gateway.test\r\n"),
    ])
    func `Doubtful framing is refused and ends the connection`(wire: WireCase) throws {
        let caller = Caller()
        try self.expectRefused(
            "POST /api/process HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer \(caller.token)\r\n"
                + "Content-Type: application/json\r\n\(wire.fields)\r\n\(wire.body)\(Self.hidden)",
            with: wire.statuses, caller: caller)
    }

    @Test(arguments: [
        WireCase("line feed in an extension", "5;\nx\r\nhello\r\n0\r\n\r\n"),
        WireCase("quoted line end", "5;a=\"\r\n\r\n"),
        WireCase("too many digits", "000000000000000000005\r\nhello\r\n0\r\n\r\n"),
        WireCase("overflow", "FFFFFFFFFFFFFFFF1\r\nhello\r\n0\r\n\r\n", statuses: [400, 413]),
        WireCase("0x", "0x5\r\nhello\r\n0\r\n\r\n"), WireCase("sign", "+5\r\nhello\r\n0\r\n\r\n"),
        WireCase("underscore", "1_0\r\nhello\r\n0\r\n\r\n"), WireCase("space before", " 5\r\nhello\r\n0\r\n\r\n"),
        WireCase("empty size", "\r\nhello\r\n0\r\n\r\n"), WireCase("no line end behind data", "5\r\nhelloXX0\r\n\r\n"),
        WireCase("line feeds only", "5\nhello\n0\n\n"), WireCase("line feed behind data", "5\r\nhello\n0\r\n\r\n"),
        WireCase("line feed behind the last chunk", "0\r\n\n"),
        WireCase("long extensions", "5;a=\(String(repeating: "x", count: 3000))\r\nhello\r\n0\r\n\r\n"),
    ])
    func `Chunks are read to the letter`(wire: WireCase) throws {
        let caller = Caller()
        try self.expectRefused(
            "POST /api/process HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer \(caller.token)\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\(wire.fields)\(Self.hidden)",
            with: wire.statuses, caller: caller)
    }

    @Test func `A chunked ask with extensions and trailers is read, and trailers change nothing`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let body = Ask("chunks").json
        let cut = body.utf8.count / 2
        let client = try gateway.client()
        try client.send(
            "POST /api/process HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer \(caller.token)\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "\(String(cut, radix: 16));ext=1;q=\"a b\"\r\n\(body.prefix(cut))\r\n"
                + "\(String(body.utf8.count - cut, radix: 16, uppercase: true))\r\n\(body.dropFirst(cut))\r\n"
                + "0\r\nX-Trailer: 1\r\nAuthorization: Bearer x\r\n\r\n")
        #expect(try client.response()?.status == 200)
        try client.request("GET", "/api/health")
        #expect(try client.response()?.status == 200)
    }

    @Test(
        arguments: [
            ("no host", "GET /api/health HTTP/1.1\r\n\r\n", Set([400])),
            ("line feeds", "GET /api/health HTTP/1.1\nHost: a\n\n", [400]),
            ("two spaces", "GET  /api/health HTTP/1.1\r\nHost: a\r\n\r\n", [400]),
            ("method in small letters", "get /api/health HTTP/1.1\r\nHost: a\r\n\r\n", [400, 405, 501]),
            ("unknown method", "BREW /api/health HTTP/1.1\r\nHost: a\r\n\r\n", [405, 501]),
            ("fragment", "GET /api/health#x HTTP/1.1\r\nHost: a\r\n\r\n", [400]),
            ("version 2", "GET /api/health HTTP/2.0\r\nHost: a\r\n\r\n", [400, 505]),
            ("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400, 505]),
            ("version in small letters", "GET /api/health http/1.1\r\nHost: a\r\n\r\n", [400]),
            ("version 0.9", "GET /api/health\r\n\r\n", [400, 505]),
            ("tunnel", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", [400, 405, 501]),
            ("asterisk", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", [400]),
            ("user in the host", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", [400]),
            ("another host in the target", "GET http://b/api/health HTTP/1.1\r\nHost: a\r\n\r\n", [400]),
        ] as [(String, String, Set<Int>)])
    func `A request line has one form`(name: String, wire: String, statuses: Set<Int>) throws {
        let gateway = try TestGateway.current
        let client = try gateway.client(limit: .seconds(10))
        try client.send(wire)
        if let response = try client.response() { #expect(statuses.contains(response.status), "\(name)") }
        #expect(gateway.isAlive)
    }

    @Test func `A refusal never takes an unread body for a request`() throws {
        let gateway = try TestGateway.current
        let bodies = [
            ("POST /api/process", "Authorization: Bearer bad\r\n", 401), ("POST /nowhere", "", 404),
            ("POST /api/health", "", 405),
        ]
        for (line, field, status) in bodies {
            for size in [1, 3000] {
                let body = String(repeating: Self.hidden, count: size)
                let client = try gateway.client(limit: .seconds(10))
                try client.send(
                    "\(line) HTTP/1.1\r\nHost: a\r\n\(field)Content-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n")
                // The peer may have closed by now: that is as good as reading on.
                try? client.send(body)
                let response = try? client.response()
                if size == 1 { #expect(response?.status == status) }
                guard let response, response.header("connection")?.lowercased() != "close" else { continue }
                #expect(response.status == status)
                try client.request("GET", "/api/health")
                #expect(try client.response()?.status == 200)
            }
        }
        #expect(!gateway.process.everySink.contains("/hidden"))
    }

    @Test func `A refused chunked body does not spoil the connection`() throws {
        let gateway = try TestGateway.current
        let client = try gateway.client(limit: .seconds(10))
        try client.send(
            "POST /api/process HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer bad\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "5\r\nhello\r\n0\r\n\r\n")
        let response = try #require(try client.response())
        #expect(response.status == 401)
        if response.header("connection")?.lowercased() != "close" {
            try client.request("GET", "/api/health")
            #expect(try client.response()?.status == 200)
        } else {
            #expect(client.isClosed())
        }
    }

    @Test func `Requests sent at once are answered in order`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let client = try gateway.client()
        try client.request("GET", "/api/health")
        try gateway.send(Ask("pipelined"), as: caller, on: client)
        try client.request("GET", "/nowhere")
        try client.request("GET", "/api/health")
        let statuses = try (0..<4).map { _ in try client.response()?.status }
        #expect(statuses == [200, 200, 404, 200])
    }

    @Test func `A request may come byte by byte`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let body = Ask("drip").json
        let client = try gateway.client()
        let wire =
            "POST /api/process HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(caller.token)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
        for byte in wire.utf8 { try client.send([byte]) }
        #expect(try client.response()?.status == 200)
    }

    @Test func `The body is asked for only once the caller is known`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let body = Ask("expect").json
        let good = try gateway.client(limit: .seconds(10))
        let head =
            "POST /api/process HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
            + "Content-Length: \(body.utf8.count)\r\n"
        try good.send(head + "Authorization: Bearer \(caller.token)\r\n\r\n")
        #expect(try good.response()?.status == 100)
        try good.send(body)
        #expect(try good.response()?.status == 200)

        let bad = try gateway.client(limit: .seconds(10))
        try bad.send(head + "Authorization: Bearer bad\r\n\r\n")
        #expect(try bad.response()?.status == 401)

        let other = try gateway.client(limit: .seconds(10))
        try other.send("GET /api/health HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n")
        #expect(try other.response()?.status == 417)
    }

    @Test func `An old client gets an old answer`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let body = Ask("old", stream: true).json
        let client = try gateway.client()
        try client.send(
            "POST /api/process HTTP/1.0\r\nAuthorization: Bearer \(caller.token)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)
        let head = try client.head()
        #expect(head.status == 200)
        #expect(head.header("transfer-encoding") == nil)
        #expect(try client.allEvents().last { !$0.isComment }?.name == "finish")
        #expect(client.isClosed())
    }

    @Test func `A client that asks to close is closed`() throws {
        let client = try TestGateway.current.client()
        try client.request("GET", "/api/health", headers: [("Connection", "close")])
        #expect(try client.response()?.header("connection")?.lowercased() == "close")
        #expect(client.isClosed())
    }

    @Test func `Health says ok, the time, and is no secret`() throws {
        let client = try TestGateway.current.client()
        try client.request("GET", "/api/health")
        let response = try #require(try client.response())
        #expect(response.status == 200)
        #expect(response.json?["status"]?.string == "ok")
        let time = try #require(response.json?["timestamp"]?.string)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil)
        #expect(response.header("x-request-id") != nil)
        try client.request("HEAD", "/api/health")
        let head = try #require(try client.response(toHead: true))
        #expect([200, 405].contains(head.status))
    }

    @Test(arguments: ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `Another method says which are allowed`(method: String) throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let client = try gateway.client()
        try client.request(method, "/api/process", headers: [caller.authorization], body: Array(Ask("x").json.utf8))
        let response = try #require(try client.response())
        #expect(response.status == 405)
        #expect(response.header("allow")?.contains("POST") == true)
        #expect(response.json?["code"]?.string == "method_not_allowed")
        #expect(try gateway.used("requests_per_minute", by: caller) == 0)
    }

    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
    func `A body of another type is refused`(type: String) throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let client = try gateway.client()
        try client.request(
            "POST", "/api/process", headers: [caller.authorization, ("Content-Type", type)],
            body: Array(Ask("type").json.utf8))
        let response = try #require(try client.response())
        #expect(response.status == 415)
        #expect(response.json?["code"]?.string == "unsupported_media_type")
    }

    @Test(arguments: ["application/json; charset=utf-8", "Application/JSON", "application/json ; x=1"])
    func `The type of JSON is known with parameters and in capitals`(type: String) throws {
        let gateway = try TestGateway.current
        let client = try gateway.client()
        try client.request(
            "POST", "/api/process", headers: [Caller().authorization, ("Content-Type", type)],
            body: Array(Ask("type").json.utf8))
        #expect(try client.response()?.status == 200)
    }

    @Test(arguments: [
        ("twice", #"{"task":"summarize","text":"A text of more than twenty characters.","task":"titles"}"#),
        (
            "twice with an escape",
            #"{"task":"summarize","text":"A text of more than twenty.","str\u0065am":true,"stream":false}"#
        ),
        ("twice, deep", #"{"task":"summarize","text":"A text of more than twenty.","x":{"a":1,"a":2}}"#),
        ("no object", "[]"), ("nothing", ""), ("cut", #"{"task":"summarize","text":"A text of more"#),
        ("a comma too many", #"{"task":"summarize","text":"A text of more than twenty.",}"#),
        ("two documents", #"{"task":"summarize","text":"A text of more than twenty."}{}"#),
        ("a NUL behind", "{\"task\":\"summarize\",\"text\":\"A text of more than twenty.\"}\0"),
        ("task is a number", #"{"task":1,"text":"A text of more than twenty."}"#),
        ("no task", #"{"text":"A text of more than twenty."}"#),
        ("no text", #"{"task":"summarize"}"#),
        ("text is a list", #"{"task":"summarize","text":["A text of more than"]}"#),
        ("stream is text", #"{"task":"summarize","text":"A text of more than twenty.","stream":"yes"}"#),
        (
            "deep arrays",
            #"{"task":"summarize","x":"# + String(repeating: "[", count: 50_000) + String(repeating: "]", count: 50_000)
                + "}"
        ),
        (
            "deep objects",
            #"{"task":"summarize","x":"# + String(repeating: "{\"a\":", count: 20_000) + "1"
                + String(repeating: "}", count: 20_000) + "}"
        ),
        ("unknown tone", #"{"task":"short","text":"A text.","tone":"angry"}"#),
    ])
    func `A malformed ask is a 400 and moves nothing`(name: String, body: String) throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let response = try gateway.post(body, as: caller)
        #expect(response.status == 400)
        #expect(response.json?["code"]?.string == "invalid_request")
        #expect(try gateway.counters(caller).values.allSatisfy { $0 == 0 })
        #expect(gateway.isAlive)
    }

    @Test func `A body over the limit is refused before it is sent`() throws {
        let gateway = try TestGateway.current
        let client = try gateway.client(limit: .seconds(10))
        try client.send(
            "POST /api/process HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(Caller().token)\r\n"
                + "Content-Type: application/json\r\nContent-Length: 900000000\r\n\r\n")
        let response = try #require(try client.response())
        #expect(response.status == 413)
        #expect(response.json?["code"]?.string == "body_too_large")
        #expect(client.isClosed())
    }

    @Test func `A problem is problem JSON with all its members`() throws {
        let gateway = try TestGateway.current
        let answer = try gateway.ask(Ask("x", task: "no-such-task"))
        let body = try #require(answer.response.json)
        #expect(answer.status == 400)
        #expect(answer.response.header("content-type")?.hasPrefix("application/problem+json") == true)
        #expect(body["status"]?.int == 400)
        #expect(body["code"]?.string == "unknown_task")
        #expect(body["message"]?.string?.isEmpty == false)
        #expect(body["requestId"]?.string == answer.requestID)
        #expect(body["type"]?.string != nil && body["title"]?.string != nil)
    }

    @Test func `The message is in the language of the client`() throws {
        let gateway = try TestGateway.current
        let messages = try ["en", "fa-IR,en;q=0.5", "ru", "ko", "xx, fa;q=0.1", "*"].map { language in
            let answer = try gateway.ask(Ask("x", task: "no-such-task"), headers: [("Accept-Language", language)])
            return try #require(answer.response.json?["message"]?.string)
        }
        #expect(Set(messages[0...3]).count == 4)
        #expect(messages[4] == messages[1])
        #expect(messages[5] == messages[0])
    }
}
