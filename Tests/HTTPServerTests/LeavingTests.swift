import EventLoops
import GatewayTesting
import GatewayTypes
import HTTPServer
import Testing

/// How a client goes away.
enum Leaving: Sendable, CaseIterable {
    /// Ends its side and waits.
    case finish
    case close
    case reset

    func leave(_ client: RawClient) {
        switch self {
        case .finish: client.finish()
        case .close: client.close()
        case .reset: client.close(reset: true)
        }
    }
}

@Suite("Clients that leave", .ownThread)
struct LeavingTests {
    /// Waits for the client to go, for as long as a test may take.
    private static func await(_ exchange: Exchange) async {
        for _ in 0..<1500 where !exchange.isClientGone { await exchange.loop.sleep(for: .milliseconds(10)) }
    }

    @Test(arguments: Leaving.allCases)
    func `The answerer is told once when its client leaves before the answer`(leaving: Leaving) async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onClientGone = { told.note("gone") }
            told.note("began")
            await Self.await(exchange)
            exchange.respond(200, "too late")
            told.note("answered")
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            #expect(told.becomes { $0 == ["began"] })
            leaving.leave(client)
            #expect(told.becomes { $0 == ["began", "gone", "answered"] })
            #expect(server.waitUntilEmpty())
        }
    }

    @Test(arguments: Leaving.allCases)
    func `The answerer is told once when its client leaves during the answer`(leaving: Leaving) async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onClientGone = { told.note("gone") }
            exchange.beginStream()
            while !exchange.isClientGone {
                exchange.send("word ")
                await exchange.loop.sleep(for: .milliseconds(5))
            }
            for _ in 0..<100 { exchange.send("into the void") }
            exchange.endStream(isComplete: true)
            told.note("ended")
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            _ = try client.head()
            _ = try client.piece()
            leaving.leave(client)
            #expect(told.becomes { $0 == ["gone", "ended"] })
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `A request and a reset that come together are seen both`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            guard exchange.path != "/last" else { return exchange.respond(200, "all were accepted") }
            exchange.onClientGone = { told.note("gone") }
            await Self.await(exchange)
            told.note("over")
        }
        // One loop accepts in the order of coming.
        try await withServer(loops: 1, answering: answering) { server in
            for _ in 0..<20 {
                let client = try server.client()
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n")
                client.close(reset: true)
            }
            let last = try server.client()
            try last.request("GET", "/last", headers: [("Connection", "close")])
            #expect(try last.response()?.status == 200)
            #expect(server.waitUntilEmpty())
            // A reset may take the request with it, but hardly all twenty.
            #expect(told.now.contains("over"))
            #expect(told.now.count { $0 == "gone" } == told.now.count { $0 == "over" })
        }
    }

    @Test(arguments: [Leaving.finish, .reset])
    func `A reader of a body is told that it will not come`(leaving: Leaving) async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            do throws(HTTPServerFailure) {
                _ = try await exchange.readBody(limit: 1000)
                told.note("read")
            } catch {
                told.note(error.metricLabel)
            }
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
            Stopwatch.sleep(milliseconds: 30)
            leaving.leave(client)
            #expect(told.becomes { $0 == ["client_gone"] })
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `Who asks to be told after the client has gone is told at once`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            await Self.await(exchange)
            exchange.onClientGone = { told.note("gone") }
            told.note("asked")
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            client.close()
            #expect(told.becomes { $0 == ["gone", "asked"] })
        }
    }

    @Test func `An answerer that waits for a slow reader is let go on when it leaves`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onDrained = { told.note("drained") }
            exchange.beginStream()
            exchange.send(String(repeating: "x", count: 8_000_000))
            told.note("waiting")
            await Self.await(exchange)
            told.note("pending \(exchange.pendingBytes)")
        }
        try await withServer(answering: answering) { server in
            let client = try server.client(receiveBuffer: 4096)
            try client.request("GET", "/")
            #expect(told.becomes { $0 == ["waiting"] })
            client.close(reset: true)
            #expect(told.becomes { $0.count >= 3 })
            #expect(told.now == ["waiting", "drained", "pending 0"])
        }
    }

    @Test func `An answerer whose reader first ends its side and then breaks is let go on too`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onDrained = { told.note("drained") }
            exchange.beginStream()
            exchange.send(String(repeating: "x", count: 8_000_000))
            await Self.await(exchange)
            told.note("gone")
            for _ in 0..<500 where exchange.pendingBytes > 0 { await exchange.loop.sleep(for: .milliseconds(10)) }
        }
        try await withServer(answering: answering) { server in
            let client = try server.client(receiveBuffer: 4096)
            try client.request("GET", "/")
            client.finish()
            #expect(told.becomes { $0 == ["gone"] })
            client.close(reset: true)
            #expect(told.becomes { $0 == ["gone", "drained"] })
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `An answerer whose reader ends its side and then takes nothing is told once`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onClientGone = { told.note("gone") }
            exchange.beginStream()
            exchange.send(String(repeating: "x", count: 8_000_000))
            for _ in 0..<500 where exchange.pendingBytes > 0 { await exchange.loop.sleep(for: .milliseconds(10)) }
            told.note("given up")
        }
        try await withServer({ $0.writeTimeout = .milliseconds(200) }, answering: answering) { server in
            let client = try server.client(receiveBuffer: 4096)
            try client.request("GET", "/")
            client.finish()
            #expect(told.becomes { $0.contains("given up") })
            #expect(told.now == ["gone", "given up"])
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `An answerer that was held back by what it gathered itself is let go on once that is sent`() async throws
    {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onDrained = { told.note("drained") }
            exchange.beginStream()
            exchange.write { $0.append(contentsOf: Array("all of it".utf8)) }
            exchange.flushSoon()
            for _ in 0..<500 where told.now.isEmpty { await exchange.loop.sleep(for: .milliseconds(10)) }
            exchange.endStream(isComplete: true)
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            #expect(try client.response()?.text == "all of it")
            #expect(told.now.first == "drained")
        }
    }

    @Test func `What an answerer writes while it hears that its client has gone does no harm`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onClientGone = {
                for _ in 0..<3 { exchange.write { $0.append(contentsOf: Array("more".utf8)) } }
                told.note("gone")
            }
            exchange.beginStream()
            // The loop is kept busy for a while, so that the broken connection is first met by a write.
            for turn in 0..<3000 where told.now.isEmpty {
                Stopwatch.sleep(milliseconds: 1)
                exchange.send(String(repeating: "x", count: 2000))
                if turn % 200 == 199 { await exchange.loop.sleep(for: .milliseconds(1)) }
            }
            exchange.send("and more")
            exchange.endStream(isComplete: true)
            told.note("ended")
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            _ = try client.head()
            client.close(reset: true)
            #expect(told.becomes { $0 == ["gone", "ended"] })
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `A client that says it sends no more still gets a quick answer`() async throws {
        try await withServer(answering: { $0.respond(200, "quick") }) { server in
            let client = try server.client()
            try client.request("GET", "/")
            client.finish()
            #expect(try client.response()?.text == "quick")
            #expect(try client.everything().isEmpty)
        }
    }
}
