import EventLoops
import GatewayTesting
import GatewayTypes
import HTTPServer
import Testing

@Suite("Requests on one connection", .ownThread)
struct ConnectionTests {
    @Test func `A connection carries request after request`() async throws {
        try await withServer(answering: { $0.respond(200, $0.path) }) { server in
            let client = try server.client()
            for number in 0..<20 {
                try client.request("GET", "/\(number)")
                let response = try #require(try client.response())
                #expect(response.status == 200 && response.text == "/\(number)")
                #expect(response.header("connection") == nil)
                #expect(response.header("date") != nil)
                #expect(response.header("content-length") == "\(response.text.utf8.count)")
            }
            #expect(server.server.openConnections == 1)
        }
    }

    @Test func `A client that asks to close gets its answer and the end`() async throws {
        try await withServer(answering: { $0.respond(200, $0.path) }) { server in
            let client = try server.client()
            try client.send(
                "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /never HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try #require(try client.response())
            #expect(response.text == "/last" && response.header("connection") == "close")
            #expect(try client.everything().isEmpty)
            client.close()
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `An old client is answered once`() async throws {
        try await withServer(answering: { $0.respond(200, "old") }) { server in
            let client = try server.client()
            try client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let response = try #require(try client.response())
            #expect(response.text == "old" && response.header("connection") == "close")
            #expect(try client.everything().isEmpty)
        }
    }

    @Test func `Requests sent ahead are answered in their order, one at a time`() async throws {
        let running = Box((now: 0, most: 0))
        let answering: Answering = { exchange in
            running.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            let number = Int(exchange.path.dropFirst()) ?? 0
            if number % 3 == 0 { await exchange.loop.sleep(for: .milliseconds(Int64(number % 7))) }
            running.change { $0.now -= 1 }
            exchange.respond(200, exchange.path)
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.send((0..<100).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            for number in 0..<100 { #expect(try client.response()?.text == "/\(number)") }
            #expect(running.now.most == 1)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 50])
    func `It does not matter how bytes are cut`(every: Int) async throws {
        try await withServer(answering: { await $0.echo() }) { server in
            let client = try server.client()
            let wire = Array(
                ("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
                    + "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\nT: 1\r\n\r\n"
                    + "GET /c HTTP/1.1\r\nHost: a\r\n\r\n").utf8)
            for start in stride(from: 0, to: wire.count, by: every) {
                try client.send(wire[start..<min(wire.count, start + every)])
                if every < 8 { Stopwatch.sleep(milliseconds: 1) }
            }
            #expect(try client.response()?.text == "hello")
            #expect(try client.response()?.text == "abcde")
            #expect(try client.response()?.text == "")
        }
    }

    @Test func `Requests sent ahead without end stay in the client's hands`() async throws {
        let gate = Gate()
        let answering: Answering = { exchange in
            while !gate.isPassable { await exchange.loop.sleep(for: .milliseconds(5)) }
            exchange.respond(200, "done")
        }
        try await withServer(answering: answering) { server in
            defer { gate.open() }
            let client = try server.client(limit: .seconds(3))
            let request = Array(
                "GET / HTTP/1.1\r\nHost: a\r\nX-Padding: \(String(repeating: "x", count: 4000))\r\n\r\n".utf8)
            // More than both kernels' buffers hold.
            #expect(throws: MessageFault.socket(.timedOut)) {
                for _ in 0..<20_000 { try client.send(request) }
            }
            gate.open()
            #expect(try client.response()?.text == "done")
            #expect(try client.response()?.text == "done")
        }
    }

    @Test func `HEAD gets the head that GET would, and the next request its answer`() async throws {
        try await withServer(answering: { $0.respond(200, "twelve bytes") }) { server in
            let client = try server.client()
            try client.request("HEAD", "/")
            let head = try #require(try client.response(toHead: true))
            #expect(head.header("content-length") == "12")
            try client.request("GET", "/")
            #expect(try client.response()?.text == "twelve bytes")
        }
    }

    @Test func `An exchange that nobody answers ends its connection`() async throws {
        try await withServer(answering: { _ in }) { server in
            let client = try server.client()
            try client.request("GET", "/")
            #expect(try client.response() == nil)
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `A second answer to one request is not sent`() async throws {
        try await withServer(answering: { exchange in
            exchange.respond(200, "first")
            exchange.respond(500, "second")
            exchange.beginStream()
            exchange.send("third")
        }) { server in
            let client = try server.client()
            try client.request("GET", "/")
            try client.request("GET", "/")
            #expect(try client.response()?.text == "first")
            #expect(try client.response()?.text == "first")
            #expect(!client.hasInput)
        }
    }

    @Test func `More connections than may be open wait for one to end`() async throws {
        try await withServer({ $0.maxConnections = 2 }, answering: { $0.respond(200, "ok") }) { server in
            let first = try server.client()
            let second = try server.client()
            for client in [first, second] {
                try client.request("GET", "/")
                #expect(try client.response()?.status == 200)
            }
            let third = try server.client()
            try third.request("GET", "/")
            Stopwatch.sleep(milliseconds: 200)
            #expect(!third.hasInput)
            first.close()
            #expect(try third.response()?.status == 200)
            #expect(server.server.openConnections == 2)
        }
    }
}
