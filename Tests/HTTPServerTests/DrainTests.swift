import EventLoops
import GatewayTesting
import GatewayTypes
import Glibc
import HTTPCodec
import Synchronization
import Testing

@testable import HTTPServer

@Suite("Drain", .ownThread)
struct DrainTests {
    @Test func `Idle connections end, running answers go on and end theirs`() async throws {
        let gate = Gate()
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            if exchange.path == "/slow" {
                told.note("running")
                while !gate.isPassable { await exchange.loop.sleep(for: .milliseconds(5)) }
            }
            exchange.respond(200, exchange.path)
        }
        try await withServer(loops: 1, answering: answering) { server in
            defer { gate.open() }
            let idle = try server.client()
            try idle.request("GET", "/quick")
            #expect(try idle.response()?.header("connection") == nil)
            let silent = try server.client()
            let half = try server.client()
            try half.send("GET /half HTTP/1.1\r\n")
            let busy = try server.client()
            try busy.request("GET", "/slow")
            try busy.request("GET", "/behind")
            #expect(told.becomes { $0 == ["running"] })
            #expect(Stopwatch.wait(upTo: .seconds(15)) { server.server.openConnections == 4 })
            // What has not been read of the half request yet cannot be seen.
            Stopwatch.sleep(milliseconds: 300)
            var isBegun = false
            await server.drain(within: .seconds(10)) {
                guard !isBegun else { return }
                isBegun = true
                #expect(idle.isClosed(within: .seconds(10)))
                #expect(silent.isClosed(within: .seconds(10)))
                #expect(Stopwatch.wait(upTo: .seconds(15)) { server.server.openConnections == 2 })
                try? half.send("Host: a\r\n\r\n")
                gate.open()
            }
            #expect(isBegun)
            for (client, text) in [(busy, "/slow"), (half, "/half")] {
                let response = try #require(try client.response())
                #expect(response.text == text && response.header("connection") == "close")
                #expect(try client.everything().isEmpty)
            }
            #expect(throws: MessageFault.self) { try server.client().request("GET", "/") }
            #expect(server.server.openConnections == 0)
        }
    }

    @Test func `At the deadline running answers are told to end, and can end well`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            var isOver = false
            exchange.onDeadline = {
                told.note("deadline")
                isOver = true
            }
            exchange.beginStream()
            exchange.send("begun ")
            told.note("running")
            while !isOver { await exchange.loop.sleep(for: .milliseconds(5)) }
            exchange.send("broken off")
            exchange.endStream(isComplete: false)
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            #expect(told.becomes { $0 == ["running"] })
            await server.drain(within: .milliseconds(50))
            #expect(told.now == ["running", "deadline"])
            _ = try client.head()
            #expect(try client.piece() == Array("begun ".utf8))
            #expect(try client.piece() == Array("broken off".utf8))
            #expect(throws: MessageFault.self) { try client.piece() }
        }
    }

    @Test func `An answer that does not end is broken off`() async throws {
        let told = Box<[String]>([])
        let answering: Answering = { exchange in
            exchange.onClientGone = { told.note("gone") }
            exchange.beginStream()
            exchange.send("begun")
            told.note("running")
            while !exchange.isClientGone { await exchange.loop.sleep(for: .milliseconds(5)) }
        }
        try await withServer(answering: answering) { server in
            let client = try server.client()
            try client.request("GET", "/")
            #expect(told.becomes { $0 == ["running"] })
            await server.drain(within: .seconds(0))
            #expect(told.becomes { $0 == ["running", "gone"] })
            #expect(throws: MessageFault.self) { while try client.response() != nil {} }
        }
    }

    @Test func `A connection that ends before its task begins leaves nothing behind`() async throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.shutDown() }
        let loop = group.loops[0]
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { close(pair[1]) }
        let number = pair[0]
        let isGone = try await withTaskExecutorPreference(loop) { @concurrent () async throws -> Bool in
            #expect(loop.isCurrent)
            weak var kept: Connection?
            let shared = LoopShared(loop: loop, openConnections: OpenConnections())
            do {
                var configuration = HTTPServerConfiguration()
                configuration.headTimeout = .milliseconds(20)
                let stream = try ByteStream(adopting: FileDescriptor(owning: number), on: loop)
                let connection = Connection(
                    stream, peer: PeerAddress(bytes: []), loop: loop, configuration: configuration,
                    handler: TestHandler(answering: { _ in }), shared: shared)
                kept = connection
                loop.connectionCount.add(1, ordering: .relaxed)
                shared.add(connection)
                shared.drain()
                await connection.serve()
            }
            // A timer of it would fire now.
            await loop.sleep(for: .milliseconds(60))
            return kept == nil
        }
        #expect(isGone)
    }
}
