import GatewayTesting
import GatewayTypes
import Testing

@testable import HTTPClient

/// A server that answers each request of a connection by what a test says; one answer of nil closes.
private func answering(
    _ answer: @escaping @Sendable (_ connection: Int, _ request: Int) -> String?
) throws -> (LoopbackServer, Box<[String]>) {
    let requests = Box<[String]>([])
    let server = try LoopbackServer { socket, connection in
        var request = 0
        while case let bytes = try socket.receive(within: .seconds(20)), !bytes.isEmpty {
            requests.change { $0.append(String(decoding: bytes, as: UTF8.self)) }
            guard let text = answer(connection, request) else { return }
            request += 1
            try socket.send(Array(text.utf8))
        }
    }
    return (server, requests)
}

private let fine = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"

@Suite("Plain HTTP/1.1 upstream", .ownThread)
struct PlainTests {
    @Test func `A request is a head with what it needs, and the body behind it`() async throws {
        let (server, requests) = try answering { _, _ in fine }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let url = "http://127.0.0.1:\(server.port)/v1/x?y=z"
            #expect(try await upstream.perform(endpoint(url, headers: [("X-A", Secret("b"))]), "hello").text == "fine")
            let get = UpstreamEndpoint(
                url: "http://LOCALHOST:\(server.port)", headers: [("Host", Secret("other")), ("TE", Secret("x"))],
                isGet: true)
            #expect(try await upstream.perform(get).text == "fine")
            let cancel = UpstreamEndpoint(url: url, headers: [], isGet: true, method: "DELETE")
            #expect(try await upstream.perform(cancel, "").isWhole)
        }
        let common = "accept: */*\r\naccept-encoding: identity\r\n"
        let host = "host: 127.0.0.1:\(server.port)\r\n"
        #expect(
            requests.now == [
                "POST /v1/x?y=z HTTP/1.1\r\n\(host)\(common)X-A: b\r\ncontent-length: 5\r\n\r\nhello",
                "GET / HTTP/1.1\r\n\(common)Host: other\r\n\r\n",
                "DELETE /v1/x?y=z HTTP/1.1\r\n\(host)\(common)\r\n",
            ])
    }

    @Test(arguments: [
        "http://a", "http://a/", "HTTP://a:80/x", "http://[::1]/", "http://[::1]:8080?x", "http://a:65535/",
    ])
    func `An http address is taken apart`(url: String) throws {
        let target = try #require(PlainTarget(url, method: "GET", hasBody: false, []))
        #expect(target.peer.host == (url.contains("[") ? "::1" : "a"))
    }

    @Test(arguments: [
        "https://a/", "http://", "http:///x", "http://a:0/", "http://a:65536/", "http://a:x/", "http://u@a/",
        "http://a/#b", "http://a /", "http://[::1/", "http://[::1]x/", "http://é/", "http://a/\\b", "ftp://a/", "",
    ])
    func `What is none is left to libcurl`(url: String) {
        #expect(PlainTarget(url, method: "GET", hasBody: false, []) == nil)
    }

    @Test func `A connection that its peer closes as it is used again is replaced, once and unseen`() async throws {
        let (server, _) = try answering { connection, request in connection == 0 && request == 1 ? nil : fine }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let endpoint = endpoint("http://127.0.0.1:\(server.port)/")
            for _ in 0..<3 { #expect(try await upstream.perform(endpoint).text == "fine") }
        }
        #expect(server.opened == 2)
    }

    @Test func `A connection whose peer has closed it meanwhile is not waited for`() async throws {
        let server = try LoopbackServer { socket, _ in
            _ = try socket.receive(within: .seconds(20))
            try socket.send(Array(fine.utf8))
        }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let endpoint = endpoint("http://127.0.0.1:\(server.port)/")
            for _ in 0..<3 {
                #expect(try await upstream.perform(endpoint, deadline: .seconds(5)).text == "fine")
                Stopwatch.sleep(milliseconds: 100)
            }
        }
        #expect(server.opened == 3)
    }

    @Test func `A request that its peer worked on is not sent again when the connection breaks`() async throws {
        let (server, requests) = try answering { connection, request in
            guard connection == 0 && request == 1 else { return fine }
            Stopwatch.sleep(milliseconds: 1300)
            return nil
        }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let endpoint = endpoint("http://127.0.0.1:\(server.port)/")
            #expect(try await upstream.perform(endpoint).text == "fine")
            #expect(try await upstream.perform(endpoint).ends == [.broken])
        }
        #expect(server.opened == 1 && requests.now.count == 2)
    }

    @Test func `An answer that comes before the request has left whole is heard`() async throws {
        let refusal = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nwait"
        // Closes with most of the request unread, so that a reset follows the answer at once.
        let server = try LoopbackServer { socket, _ in
            _ = try socket.receive(within: .seconds(20))
            try socket.send(Array(refusal.utf8))
        }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let endpoint = endpoint("http://127.0.0.1:\(server.port)/")
            let body = String(repeating: "x", count: 30_000_000)
            for _ in 0..<5 {
                let told = try await upstream.perform(endpoint, body)
                #expect(told.isWhole && told.heads.first?.retryAfterSeconds == 7 && told.text == "wait")
            }
        }
    }

    @Test func `What lies unread behind an answer is nobody's answer`() async throws {
        // The answer ends where a read does, and another one lies behind it.
        let count = 16384 - "HTTP/1.1 200 OK\r\nContent-Length: 16000\r\n\r\n".utf8.count
        let own = "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n" + String(repeating: "o", count: count)
        let other = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"
        let (server, _) = try answering { connection, _ in connection == 0 ? own + other : fine }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let told = try await upstream.performTwice(endpoint("http://127.0.0.1:\(server.port)/"))
            #expect(told.map(\.count) == [count, 4] && told[1].text == "fine")
        }
        #expect(server.opened == 2)
    }

    @Test(arguments: ["204 No Content\r\n", "304 Not Modified\r\n", "200 OK\r\nContent-Length: 0\r\n"])
    func `An answer without a body may name a coding`(start: String) async throws {
        let (server, _) = try answering { _, _ in "HTTP/1.1 \(start)Content-Encoding: gzip\r\n\r\n" }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let endpoint = endpoint("http://127.0.0.1:\(server.port)/")
            for _ in 0..<2 { #expect(try await upstream.perform(endpoint).isWhole) }
        }
        #expect(server.opened == 1)
    }

    @Test func `What was packed in several parts is unpacked whole, or not taken`() async throws {
        let provider = try FakeProvider { call, _ in
            let rest: [UInt8] = call.body == Array("parts".utf8) ? CallTests.zipped : [0x1F, 0x8B, 0x07]
            return .events([.split(CallTests.zipped + rest, every: 50)], headers: [("Content-Encoding", "gzip")])
        }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let told = try await upstream.perform(provider.endpoint(), "parts", stream: true)
            #expect(told.isWhole && told.text == String(repeating: "zipped text ", count: 40))
            #expect(try await upstream.perform(provider.endpoint(), "rubbish", stream: true).ends == [.coding])
        }
    }

    @Test func `A call is made twice at most`() async throws {
        let (server, _) = try answering { connection, request in connection == 0 && request == 0 ? fine : nil }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let endpoint = endpoint("http://127.0.0.1:\(server.port)/")
            #expect(try await upstream.perform(endpoint).text == "fine")
            #expect(try await upstream.perform(endpoint).ends == [.broken])
        }
        #expect(server.opened == 2)
    }

    @Test func `A short head behind a long one that came in pieces is seen`() async throws {
        let server = try LoopbackServer { socket, _ in
            _ = try socket.receive(within: .seconds(20))
            try socket.send(Array("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload".utf8))
            Stopwatch.sleep(milliseconds: 50)
            // Behind the short head no byte makes the bytes worth another look.
            try socket.send(Array("\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\(String(repeating: "x", count: 100))".utf8))
        }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let told = try await upstream.perform(endpoint("http://127.0.0.1:\(server.port)/"), deadline: .seconds(5))
            #expect(told.isWhole && told.heads.map(\.status) == [200] && told.count == 100)
        }
    }

    @Test(arguments: [fine, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n"])
    func `What came with a head that its reader paused at is kept`(answer: String) async throws {
        let (server, _) = try answering { _, _ in answer }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let call = try await upstream.start(endpoint("http://127.0.0.1:\(server.port)/")) { test in
                test.onHead = { $0.call?.setPaused(true) }
            }
            #expect(Stopwatch.wait(upTo: .seconds(15)) { !call.told.heads.isEmpty })
            Stopwatch.sleep(milliseconds: 50)
            #expect(call.told.count == 0 && call.told.ends.isEmpty)
            try await upstream.run { _ in call.call?.setPaused(false) }
            #expect(call.ends() && call.told.isWhole && call.told.text == "fine")
        }
    }

    @Test(arguments: [
        ("", 1), ("HTTP/1.1 2", 1), ("HTTP/1.1 100 Continue\r\n\r\n", 1),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfi", 1),
    ])
    func `A call whose answer has begun, or on a new connection, is not made again`(
        begun: String, connections: Int
    ) async throws {
        let requests = Box(0)
        let server = try LoopbackServer { socket, _ in
            if !begun.isEmpty {
                _ = try socket.receive(within: .seconds(20))
                try socket.send(Array(fine.utf8))
            }
            _ = try socket.receive(within: .seconds(20))
            requests.change { $0 += 1 }
            if !begun.isEmpty { try socket.send(Array(begun.utf8)) }
        }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let endpoint = endpoint("http://127.0.0.1:\(server.port)/")
            if !begun.isEmpty { #expect(try await upstream.perform(endpoint).text == "fine") }
            #expect(try await upstream.perform(endpoint).ends == [.broken])
        }
        #expect(server.opened == connections && requests.now == 1)
    }

    @Test(arguments: [
        fine + "more", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nfine",
        "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nfine",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n",
    ])
    func `A connection that may not be used again is not`(answer: String) async throws {
        let (server, _) = try answering { _, _ in answer }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            for _ in 0..<2 {
                #expect(try await upstream.perform(endpoint("http://127.0.0.1:\(server.port)/")).text == "fine")
            }
        }
        #expect(server.opened == 2)
    }

    @Test func `A connection whose peer speaks unasked is not used again`() async throws {
        let chatty = try LoopbackServer { socket, _ in
            _ = try socket.receive(within: .seconds(20))
            try socket.send(Array(fine.utf8))
            Stopwatch.sleep(milliseconds: 50)
            let bad = Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad".utf8)
            try socket.send(bad)
            guard try !socket.receive(within: .seconds(20)).isEmpty else { return }
            try socket.send(bad)
        }
        defer { chatty.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let endpoint = endpoint("http://127.0.0.1:\(chatty.port)/")
            #expect(try await upstream.perform(endpoint).text == "fine")
            Stopwatch.sleep(milliseconds: 150)
            #expect(try await upstream.perform(endpoint).text == "fine")
        }
        #expect(chatty.opened == 2)
    }

    @Test(arguments: [1, 2, 7, 4096])
    func `An answer may come in pieces of any size`(every: Int) async throws {
        let wire = Array(
            ("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n5\r\ndata:\r\n3;a=b\r\n 1\n\r\n1\r\n\n\r\n0\r\nX: y\r\n\r\n").utf8)
        let server = try LoopbackServer { socket, _ in
            while case let bytes = try socket.receive(within: .seconds(20)), !bytes.isEmpty {
                for start in stride(from: 0, to: wire.count, by: every) {
                    try socket.send(Array(wire[start..<min(start + every, wire.count)]))
                    if every < 8 { Stopwatch.sleep(milliseconds: 1) }
                }
            }
        }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            for _ in 0..<2 {
                let told = try await upstream.perform(endpoint("http://127.0.0.1:\(server.port)/"), stream: true)
                #expect(told.isWhole && told.text == "data: 1\n\n" && told.heads.map(\.status) == [200])
            }
        }
        #expect(server.opened == 1)
    }

    @Test func `A protocol that nobody asked for is no answer`() async throws {
        let (server, _) = try answering { _, _ in "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + fine }
        defer { server.stop() }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let told = try await upstream.perform(endpoint("http://127.0.0.1:\(server.port)/"))
            #expect(told.ends == [.broken] && told.heads.isEmpty)
        }
    }

    @Test func `A paused call holds the rest of one read and takes no more`() async throws {
        let provider = try FakeProvider { _, _ in .events([.flood("data: words\n\n", times: 5_000_000)]) }
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            let call = try await upstream.start(provider.endpoint(), keeps: false) { test in
                test.onHead = { $0.call?.setPaused(true) }
            }
            #expect(Stopwatch.wait(upTo: .seconds(15)) { !call.told.heads.isEmpty })
            Stopwatch.sleep(milliseconds: 200)
            let held = try await upstream.run { _ in (call.call as? PlainCall)?.heldBytes }
            #expect((0...16384).contains(try #require(held)))
            try await upstream.run { _ in call.call?.cancel() }
        }
    }

    @Test(arguments: [true, false])
    func `A client that goes away gives its calls up`(isAnswered: Bool) async throws {
        let provider = try FakeProvider { _, _ in
            isAnswered ? .events([.send("data: 1\n\n"), .hold(milliseconds: 60_000)]) : .body("{}", delay: 60_000)
        }
        let upstream = try await Upstream()
        let call = try await upstream.start(provider.endpoint(), deadline: .seconds(1))
        let seen = try #require(provider.rest.waitForCall())
        if isAnswered { #expect(Stopwatch.wait(upTo: .seconds(15)) { call.told.count > 0 }) }
        try await upstream.dropClient()
        #expect(seen.waitForEnd() == .peerClosed)
        // Nor does the deadline find anything to end.
        Stopwatch.sleep(milliseconds: 1200)
        try await upstream.run { _ in call.call?.cancel() }
        #expect(call.told.ends.isEmpty)
    }

    @Test func `Connections are kept for their peer while others come and go`() async throws {
        let gate = Gate()
        let provider = try FakeProvider { call, _ in
            call.bodyText == "long" ? .events([.send("data: 1\n\n"), .wait(gate), .send("data: 2\n\n")]) : .answer()
        }
        let other = try FakeProvider()
        try await withUpstream { (upstream: Upstream) async throws -> Void in
            defer { gate.open() }
            let call = try await upstream.start(provider.endpoint(), "long")
            #expect(Stopwatch.wait(upTo: .seconds(15)) { call.told.count > 0 })
            #expect(try await upstream.perform(other.endpoint()).isWhole)
            gate.open()
            #expect(call.ends() && call.told.isWhole)
            #expect(try await upstream.perform(provider.endpoint()).isWhole)
            #expect(provider.connectionsOpened == 1)
        }
    }
}
