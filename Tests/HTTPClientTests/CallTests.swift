import GatewayTesting
import GatewayTypes
import Glibc
import HTTPClient
import Testing

@Suite("Calls upstream", .ownThread, .overBothTransports)
struct CallTests {
    @Test func `A call sends exactly what it was given, and tells head, bytes and end once`() async throws {
        let provider = try FakeProvider()
        try await withUpstream { upstream in
            let endpoint = provider.endpoint(headers: [
                ("Authorization", Secret("Bearer key")), ("Content-Type", Secret("application/json")),
                ("X-Forged", Secret("a\r\nX-More: b")), ("X-\u{7F}", Secret("c")),
            ])
            let body = #"{"stream":false,"text":"\#(String(repeating: "é", count: 700_000))"}"#
            let told = try await upstream.perform(endpoint, body)
            #expect(told.isWhole && told.heads.count == 1)
            #expect(told.heads.first?.status == 200 && told.heads.first?.contentType == "application/json")
            #expect(told.text == OpenAIShapes.completion("ok"))
            let call = try #require(provider.calls.first)
            #expect(call.method == "POST" && call.target == "/v1/chat/completions")
            #expect(call.body == Array(body.utf8))
            #expect(call.header("authorization") == "Bearer key" && call.header("content-type") == "application/json")
            let names = Set(call.headers.map { $0.name.lowercased() })
            #expect(!names.contains("expect") && !names.contains("x-forged") && !names.contains("x-more"))
            #expect(call.header("accept-encoding") ?? "identity" == "identity")
        }
    }

    @Test func `Calls in turn use one connection, calls side by side one each at most`() async throws {
        let provider = try FakeProvider()
        try await withUpstream { upstream in
            let endpoint = provider.endpoint()
            for _ in 0..<10 { #expect(try await upstream.perform(endpoint).isWhole) }
            #expect(provider.connectionsOpened == 1)
            var calls: [TestCall] = []
            for number in 0..<12 { calls.append(try await upstream.start(endpoint, stream: number % 2 == 0)) }
            for call in calls { #expect(call.ends() && call.told.isWhole) }
            #expect(provider.connectionsOpened <= 12)
            let opened = provider.connectionsOpened
            for _ in 0..<5 { #expect(try await upstream.perform(endpoint, stream: true).isWhole) }
            #expect(provider.connectionsOpened == opened)
        }
    }

    @Test func `A connection that the provider closed between calls is not used again`() async throws {
        let provider = try FakeProvider { call, _ in
            ProviderReply(headers: [("Content-Type", "application/json")], framing: .none, steps: [.send("{}")])
        }
        try await withUpstream { upstream in
            for _ in 0..<5 {
                let told = try await upstream.perform(provider.endpoint())
                #expect(told.isWhole && told.text == "{}")
                Stopwatch.sleep(milliseconds: 10)
            }
            #expect(provider.connectionsOpened == 5)
        }
    }

    @Test func `Looking names up leaves other sockets alone`() async throws {
        var providers: [FakeProvider] = []
        for _ in 0..<12 { providers.append(try FakeProvider()) }
        try await withUpstream { upstream in
            for (index, provider) in providers.enumerated() {
                // No such name can be: the answer comes without a network, but by way of curl's resolver, which is
                // woken through sockets whose numbers the next connections get.
                let name = String(repeating: "n", count: 64 + index)
                let nobody = HTTPClientTests.endpoint("http://\(name).test/")
                let told = try await upstream.perform(nobody)
                #expect(told.ends == [.unreachable])
                #expect(try await upstream.perform(provider.endpoint(), deadline: .seconds(5)).isWhole)
            }
            for provider in providers { #expect(try await upstream.perform(provider.endpoint()).isWhole) }
            // Two addresses, the first of which may refuse.
            for provider in providers {
                #expect(try await upstream.perform(provider.endpoint(host: "localhost"), deadline: .seconds(5)).isWhole)
            }
        }
    }

    @Test func `No more calls are open than may be`() async throws {
        let gate = Gate()
        let provider = try FakeProvider { _, _ in .events([.wait(gate), .send("data: [DONE]\n\n")]) }
        defer { gate.open() }
        try await withUpstream { upstream in
            let endpoint = provider.endpoint(most: 2)
            let first = try await upstream.start(endpoint)
            let second = try await upstream.start(endpoint)
            #expect(try await upstream.tryStart(endpoint) == nil)
            // The bound is the endpoint's, not the client's.
            let other = try await upstream.start(provider.endpoint())
            try await upstream.run { _ in first.call?.cancel() }
            let third = try await upstream.start(endpoint)
            #expect(try await upstream.tryStart(endpoint) == nil)
            gate.open()
            for call in [second, third, other] { #expect(call.ends() && call.told.isWhole) }
            #expect(try await upstream.perform(endpoint).isWhole)
        }
    }

    @Test func `A redirect is an answer and is not followed`() async throws {
        let elsewhere = try FakeProvider()
        let provider = try FakeProvider { _, index in
            .body("", status: [301, 302, 303, 307, 308][index % 5], headers: [("Location", elsewhere.baseURL)])
        }
        try await withUpstream { upstream in
            for status in [301, 302, 303, 307, 308] {
                let told = try await upstream.perform(provider.endpoint())
                #expect(told.isWhole && told.heads.first?.status == status)
            }
            #expect(elsewhere.calls.isEmpty && elsewhere.connectionsOpened == 0)
        }
    }

    @Test func `A proxy in the environment is not used`() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"] {
                setenv(name, "http://127.0.0.1:9", 1)
            }
            let provider = try FakeProvider()
            let upstream = try await Upstream()
            let call = try await upstream.start(provider.endpoint())
            exit(call.ends() && call.told.isWhole ? 0 : 1)
        }
    }

    @Test func `An interim answer is no answer`() async throws {
        let provider = try RawProvider(
            "HTTP/1.1 103 Early Hints\r\nContent-Type: text/early\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        try await withUpstream { upstream in
            let told = try await upstream.perform(provider.endpoint)
            #expect(told.isWhole && told.text == "ok")
            #expect(told.heads.map(\.status) == [200] && told.heads.first?.contentType == "")
        }
    }

    @Test func `Trailers are no second head`() async throws {
        let provider = try RawProvider(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Retry-After\r\n\r\n2\r\nok\r\n0\r\nRetry-After: 7\r\n\r\n"
        )
        try await withUpstream { upstream in
            let told = try await upstream.perform(provider.endpoint)
            #expect(told.isWhole && told.heads.count == 1 && told.text == "ok")
        }
    }

    /// "zipped text " twenty times.
    static let zipped: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF, 0xAB, 0xCA, 0x2C, 0x28, 0x48, 0x4D,
        0x51, 0x28, 0x49, 0xAD, 0x28, 0x51, 0xA8, 0x1A, 0x01, 0x6C, 0x00, 0x44, 0xD7, 0x24, 0x4A, 0xF0,
        0x00, 0x00, 0x00,
    ]

    @Test(arguments: [1, 3, 200]) func `A coding nobody asked for is undone as it comes`(every: Int) async throws {
        let provider = try FakeProvider { _, _ in
            .events([.split(Self.zipped, every: every)], headers: [("Content-Encoding", "gzip")])
        }
        try await withUpstream { upstream in
            let told = try await upstream.perform(provider.endpoint(), stream: true)
            #expect(told.isWhole && told.text == String(repeating: "zipped text ", count: 20))
        }
    }

    @Test func `Nothing is told before the caller has the call in hand, however near the peer`() async throws {
        // Answers as soon as a byte has come, so that the answer often is there before the request has left whole.
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".utf8)
        let server = try LoopbackServer { socket, _ in
            while try !socket.receive(within: .seconds(20)).isEmpty { try socket.send(answer) }
        }
        defer { server.stop() }
        let endpoint = HTTPClientTests.endpoint("http://127.0.0.1:\(server.port)/")
        try await withUpstream { upstream in
            let early = Box(0)
            for number in 0..<600 {
                let call = try await upstream.start(
                    endpoint, "{}", stream: number % 2 == 0,
                    then: { call in
                        let told = call.told
                        if !told.heads.isEmpty || told.count > 0 || !told.ends.isEmpty { early.change { $0 += 1 } }
                    })
                #expect(call.ends() && call.told.isWhole && call.told.text == "{}")
            }
            #expect(early.now == 0)
        }
    }

    @Test func `A body goes out whole to a peer that answers before it has read it`() async throws {
        // So long that memory given back too early is gone.
        let body = String(repeating: "a", count: 12_000_000) + "end"
        let received = Box([UInt8]())
        let server = try LoopbackServer { socket, _ in
            var bytes = try socket.receive(within: .seconds(20))
            try socket.send(
                Array("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 4\r\n\r\nda".utf8))
            // The head is taken in long before this end takes the rest.
            Stopwatch.sleep(milliseconds: 300)
            while !bytes.suffix(3).elementsEqual("end".utf8), case let more = try socket.receive(within: .seconds(20)),
                !more.isEmpty
            {
                bytes += more
            }
            received.change { $0 = bytes }
            try socket.send(Array("ta".utf8))
        }
        defer { server.stop() }
        let endpoint = HTTPClientTests.endpoint("http://127.0.0.1:\(server.port)/")
        try await withUpstream { upstream in
            let call = try await upstream.start(endpoint, body)
            #expect(call.ends() && call.told.isWhole && call.told.text == "data")
            #expect(
                received.now.count > body.utf8.count && received.now.suffix(body.utf8.count).elementsEqual(body.utf8))
        }
    }
}
