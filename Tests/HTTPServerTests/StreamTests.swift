import EventLoops
import GatewayTesting
import GatewayTypes
import HTTPCodec
import HTTPServer
import Testing

@Suite("Streamed answers", .ownThread)
struct StreamTests {
    @Test func `A whole stream ends with the last chunk and the connection lives on`() async throws {
        let answering: Answering = { exchange in
            exchange.beginStream()
            exchange.write { $0.append(contentsOf: "one ".utf8) }
            exchange.write { $0.append(contentsOf: "two ".utf8) }
            exchange.flush()
            exchange.flush()
            exchange.write { _ in }
            exchange.send("three")
            exchange.endStream(isComplete: true)
            exchange.endStream(isComplete: false)
            exchange.send("behind the end")
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            for _ in 0..<2 {
                try client.request("GET", "/")
                let response = try #require(try client.response())
                #expect(response.text == "one two three")
                #expect(response.header("transfer-encoding") == "chunked")
                #expect(response.header("content-length") == nil && response.header("connection") == nil)
            }
        }
    }

    @Test func `Each flush reaches the client while the answer goes on`() async throws {
        let gate = Gate()
        let answering: Answering = { exchange in
            exchange.beginStream()
            exchange.send("first")
            while !gate.isPassable { await exchange.loop.sleep(for: .milliseconds(5)) }
            exchange.send("second")
            exchange.endStream(isComplete: true)
        }
        try await withServer(answering: answering) { server in
            defer { gate.open() }
            let client = try server.client()
            try client.request("GET", "/")
            #expect(try client.head().status == 200)
            #expect(try client.piece() == Array("first".utf8))
            gate.open()
            #expect(try client.piece() == Array("second".utf8))
            #expect(try client.piece() == nil)
        }
    }

    @Test(arguments: [true, false]) func `A broken stream never looks whole`(endsIt: Bool) async throws {
        let answering: Answering = { exchange in
            exchange.beginStream()
            exchange.send("half of ")
            if endsIt { exchange.endStream(isComplete: false) }
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            _ = try client.head()
            #expect(throws: MessageFault.self) { while try client.piece() != nil {} }
            #expect(server.waitUntilEmpty())
        }
    }

    @Test func `An old client gets the bare bytes and the end of the connection`() async throws {
        let answering: Answering = { exchange in
            exchange.beginStream()
            exchange.send("one ")
            exchange.send("two")
            exchange.endStream(isComplete: true)
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.send("GET / HTTP/1.0\r\n\r\n")
            let response = try #require(try client.response())
            #expect(response.text == "one two")
            #expect(response.header("transfer-encoding") == nil && response.header("connection") == "close")
        }
    }

    @Test func `A field whose value holds line ends forges nothing`() async throws {
        let answering: Answering = { exchange in
            exchange.respond(200, body: []) { head in
                let value = Array("a\r\nset-cookie: b".utf8)
                MessageWriter.field("x-value", bytes: value.span, to: &head)
            }
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            let response = try #require(try client.response())
            #expect(response.header("set-cookie") == nil)
            #expect(response.header("x-value") == "a  set-cookie: b")
        }
    }
}
