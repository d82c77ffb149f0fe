import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// The pieces that the other suites stand on do what they say.
@Suite("Harness", .oneOfFewThreads)
struct HarnessTests {
    private func call(_ provider: FakeProvider, _ body: String = "{}") throws -> (RawClient, ProviderScript) {
        let client = try RawClient(port: provider.port)
        try client.request("POST", "/v1/chat/completions", body: Array(body.utf8))
        return (client, provider.rest)
    }

    @Test func `A request without a marker gets the usual answer in the form it asked for`() throws {
        let provider = try FakeProvider()
        let (plain, _) = try self.call(provider)
        let answer = try #require(try plain.response())
        #expect(answer.json?["choices"]?[0]?["message"]?["content"]?.string == "ok")
        #expect(answer.json?["usage"]?["total_tokens"]?.int == 15)

        let (streamed, script) = try self.call(provider, #"{"stream":true}"#)
        #expect(try streamed.head().status == 200)
        let events = try streamed.allEvents()
        #expect(events.count == 5)
        #expect(events.last?.data == "[DONE]")
        #expect(events.prefix(2).compactMap { $0.json?["choices"]?[0]?["delta"]?["content"]?.string } == ["o", "k"])
        #expect(script.calls.count == 2)
    }

    @Test func `Scripts are chosen by marker, and replies by number`() throws {
        let provider = try FakeProvider()
        let first = provider.script("mark-a", .body("one"), .body("two"))
        let second = provider.script("mark-b", .body("three"))
        let texts = try ["mark-a", "mark-b", "mark-a", "mark-a"].map { marker in
            try #require(try self.call(provider, marker).0.response()).text
        }
        #expect(texts == ["one", "three", "two", "two"])
        #expect(first.calls.map(\.bodyText) == ["mark-a", "mark-a", "mark-a"])
        #expect(second.calls.count == 1)
        #expect(provider.rest.calls.isEmpty)
    }

    @Test func `Each piece of a split reply is a chunk of its own`() throws {
        let provider = try FakeProvider { _, _ in .events([.split("abcdefg", every: 3), .flood("xy", times: 2)]) }
        let (client, _) = try self.call(provider)
        _ = try client.head()
        var pieces: [String] = []
        while let piece = try client.piece() { pieces.append(String(decoding: piece, as: UTF8.self)) }
        #expect(pieces == ["abc", "def", "g", "xyxy"])
    }

    @Test(arguments: [(ProviderStep.cut, MessageFault.truncated), (.reset, .socket(.peerReset))])
    func `A cut and a reset are seen as such`(step: ProviderStep, fault: MessageFault) throws {
        let provider = try FakeProvider { _, _ in .events([.send("data: a\n\n"), .hold(milliseconds: 50), step]) }
        let (client, script) = try self.call(provider)
        _ = try client.head()
        #expect(try client.event()?.data == "a")
        #expect(throws: fault) { try client.event() }
        #expect(script.calls.first?.waitForEnd() == .closed)
    }

    @Test(arguments: [false, true])
    func `The provider sees when its peer leaves`(reset: Bool) throws {
        let provider = try FakeProvider { _, _ in .stall }
        let (client, script) = try self.call(provider)
        _ = try client.head()
        #expect(script.calls.first?.end == nil)
        client.close(reset: reset)
        #expect(script.calls.first?.waitForEnd(within: .seconds(20)) == .peerClosed)
    }

    @Test func `A gate holds a reply until the test opens it`() throws {
        let gate = Gate()
        let provider = try FakeProvider { _, _ in .events([.send("data: 1\n\n"), .wait(gate), .send("data: 2\n\n")]) }
        let (client, script) = try self.call(provider)
        _ = try client.head()
        #expect(try client.event()?.data == "1")
        #expect(script.calls.first?.end == nil)
        gate.open()
        #expect(try client.event()?.data == "2")
        #expect(try client.event() == nil)
    }

    @Test func `Calls over one connection carry its number`() throws {
        let provider = try FakeProvider()
        let client = try RawClient(port: provider.port)
        for _ in 0..<2 {
            try client.request("POST", "/x", body: [])
            #expect(try client.response()?.status == 200)
        }
        let (other, _) = try self.call(provider)
        _ = try other.response()
        #expect(provider.calls.map(\.connection) == [0, 0, 1])
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
    ])
    func `The client takes no sloppy answer`(wire: String) throws {
        let (listener, port) = try TestSocket.listen()
        OwnThread.start {
            guard let socket = listener.accept(within: .seconds(5)) else { return }
            try? socket.send(wire.utf8)
            _ = try? socket.receive(within: .seconds(5))
        }
        let client = try RawClient(port: port)
        #expect(throws: MessageFault.self) { try client.response() }
    }

    @Test func `A child's output and end are kept`() throws {
        let end = try ChildProcess.run("sh", ["-c", "echo out; echo err >&2; exit 3"])
        #expect(end.code == 3)
        #expect(end.output == "out\n")
        #expect(end.errors == "err\n")
        let killed = try ChildProcess("sleep", ["30"])
        #expect(killed.isRunning && killed.residentMemory > 0)
        killed.signal(9)
        #expect(killed.waitForExit(within: .seconds(15)) == 128 + 9)
    }

    @Test func `A metrics page is summed over the labels asked for`() {
        let page = MetricsPage("# TYPE a counter\na{x=\"1\",y=\"2\"} 3\na{x=\"1\",y=\"3\"} 4\nb 5\n")
        #expect(page.value("a", ["x": "1"]) == 7)
        #expect(page.value("a", ["y": "3"]) == 4)
        #expect(page.value("b") == 5)
        #expect(page.value("c") == 0)
    }
}
