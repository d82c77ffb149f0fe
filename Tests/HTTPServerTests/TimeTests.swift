import EventLoops
import GatewayTesting
import GatewayTypes
import HTTPServer
import Testing

@Suite("Slow peers", .ownThread)
struct TimeTests {
    /// Sends piece after piece until the server says something or closes.
    private func drip(_ client: RawClient, _ pieces: [String], every milliseconds: Int = 20) {
        for piece in pieces {
            guard !client.hasInput, (try? client.send(piece)) != nil else { return }
            Stopwatch.sleep(milliseconds: milliseconds)
        }
    }

    @Test(arguments: [false, true])
    func `The time of a head runs from its first byte, however it drips in`(isSecond: Bool) async throws {
        try await withServer({ $0.headTimeout = .milliseconds(300) }, answering: { $0.respond(200, "ok") }) { server in
            let client = try server.client()
            if isSecond {
                try client.request("GET", "/")
                #expect(try client.response()?.status == 200)
            }
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n")
            self.drip(client, Array(repeating: "x: y\r\n", count: 90) + Array(repeating: "z", count: 200))
            let response = try #require(try client.response())
            #expect(response.status == 408 && response.text == "timeout")
            #expect(response.header("connection") == "close")
            #expect(try client.everything().isEmpty)
        }
    }

    @Test func `A client that says nothing is let go without a word`() async throws {
        let change: (inout HTTPServerConfiguration) -> Void = {
            $0.headTimeout = .milliseconds(150)
            $0.idleTimeout = .milliseconds(150)
        }
        try await withServer(change, answering: { $0.respond(200, "ok") }) { server in
            let silent = try server.client()
            #expect(try silent.everything().isEmpty)
            let idle = try server.client()
            try idle.request("GET", "/")
            #expect(try idle.response()?.status == 200)
            #expect(try idle.everything().isEmpty)
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `A body slower than the least rate is given up after its grace`() async throws {
        let change: (inout HTTPServerConfiguration) -> Void = {
            $0.bodyGrace = .milliseconds(300)
            $0.bodyMinimumRate = 1_000_000
        }
        try await withServer(change, answering: { await $0.echo() }) { server in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
            self.drip(client, Array(repeating: "x", count: 1000))
            let response = try #require(try client.response())
            #expect(response.status == 408 && response.header("connection") == "close")
            #expect(try client.everything().isEmpty)
        }
    }

    @Test func `A body that keeps the least rate may take longer than its grace`() async throws {
        let change: (inout HTTPServerConfiguration) -> Void = {
            $0.bodyGrace = .milliseconds(50)
            $0.bodyMinimumRate = 1
        }
        try await withServer(change, answering: { await $0.echo() }) { server in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 70\r\n\r\n")
            self.drip(client, Array(repeating: "x", count: 70))
            #expect(try client.response()?.text.utf8.count == 70)
        }
    }

    @Test func `A reader that has stopped is cut off, and the answerer told`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onClientGone = { told.note("gone") }
            exchange.beginStream()
            exchange.send(String(repeating: "x", count: 8_000_000))
            // Little by little more comes: that must not give the reader more time.
            while !exchange.isClientGone {
                exchange.send("more")
                await exchange.loop.sleep(for: .milliseconds(20))
            }
            exchange.endStream(isComplete: true)
        }
        try await withServer({ $0.writeTimeout = .milliseconds(300) }, answering: answering) { server in
            let client = try server.client(receiveBuffer: 4096)
            try client.request("GET", "/")
            #expect(told.becomes { $0 == ["gone"] })
            #expect(server.waitUntilEmpty())
            #expect(throws: MessageFault.self) { while try client.response() != nil {} }
        }
    }

    @Test func `A reader that is slow but goes on is not cut off`() async throws {
        let answering: Answering = { exchange in
            exchange.beginStream()
            for _ in 0..<30 { exchange.send(String(repeating: "x", count: 200_000)) }
            exchange.endStream(isComplete: true)
        }
        try await withServer({ $0.writeTimeout = .seconds(1) }, answering: answering) { server in
            let client = try server.client(receiveBuffer: 65536)
            try client.request("GET", "/")
            _ = try client.head()
            var count = 0
            // Twice the write timeout altogether.
            while let piece = try client.piece() {
                count += piece.count
                Stopwatch.sleep(milliseconds: 70)
            }
            #expect(count == 6_000_000)
        }
    }

    @Test func `What is held for a slow reader is seen, and its going told`() async throws {
        let told = Box<[String]>([])
        let pending = Box<[Int]>([])
        let answering: Answering = { exchange in
            exchange.onDrained = { told.note("drained") }
            exchange.beginStream()
            var sent = 0
            while exchange.pendingBytes < 1_000_000, sent < 100 {
                exchange.send(String(repeating: "x", count: 200_000))
                sent += 1
            }
            pending.change { $0.append(exchange.pendingBytes) }
            told.note("full")
            while exchange.pendingBytes > 0 { await exchange.loop.sleep(for: .milliseconds(5)) }
            exchange.endStream(isComplete: true)
            pending.change { $0.append(sent * 200_000) }
        }
        try await withServer(answering: answering) { server in
            let client = try server.client(receiveBuffer: 4096)
            try client.request("GET", "/")
            #expect(told.becomes { $0 == ["full"] })
            let held = try #require(pending.now.first)
            #expect(held >= 1_000_000 && held < 1_300_000)
            let response = try #require(try client.response())
            #expect(told.now == ["full", "drained"])
            #expect(pending.becomes { $0.count == 2 })
            #expect(response.body.count == pending.now[1])
        }
    }
}
