import EventLoops
import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

@Suite("Failovers that sentinels tell of", .ownThread, .timeLimit(.minutes(1)))
struct SwitchTests {
    @Test(
        "Who follows is read from the message of our own master only",
        arguments: [
            ("main 10.0.0.1 6379 10.0.0.2 6380", RedisAddress(host: "10.0.0.2", port: 6380)),
            ("other 10.0.0.1 6379 10.0.0.2 6380", nil), ("main 10.0.0.1 6379 10.0.0.2", nil),
            ("main 10.0.0.1 6379 10.0.0.2 66666", nil), ("", nil), ("mainmain a 1 b 2", nil),
        ] as [(String, RedisAddress?)])
    func message(_ payload: String, _ address: RedisAddress?) {
        #expect(SentinelFinder.newMaster(of: "main", in: Array(payload.utf8)) == address)
    }

    @Test("A master that still works is left at once when the sentinels name another")
    func silentFailover() async throws {
        let (old, new) = (try RedisServer(), try RedisServer())
        let sentinel = try ScriptedSentinel(naming: old.port)
        try old.call("SET", "who", "old")
        try new.call("SET", "who", "new")
        let settings = RedisSettings(
            topology: .sentinel(
                master: "main", sentinels: [RedisAddress(host: "127.0.0.1", port: sentinel.port)], credentials: nil),
            commandTimeout: .seconds(5))
        try await withClient(settings) { client in
            try await eventually { await client.call("GET", "who").text == "old" }
            try await eventually { sentinel.listeners.now.count == 1 }
            // It goes on naming the old one when asked, so a client that only asks would stay.
            sentinel.announce("main 127.0.0.1 \(old.port) 127.0.0.1 \(new.port)")
            try await eventually { await client.call("GET", "who").text == "new" }
        }
    }
}

/// Plays a sentinel that names one master for ever, and lets the test publish what it likes.
private final class ScriptedSentinel: Sendable {
    let port: UInt16
    let listeners = Box<[TestSocket]>([])
    private let socket: TestSocket
    private let isOver = Gate()

    init(naming master: UInt16) throws {
        (self.socket, self.port) = try TestSocket.listen()
        let (socket, listeners, isOver) = (self.socket, self.listeners, self.isOver)
        OwnThread.start {
            while !isOver.isPassable {
                guard let peer = socket.accept(within: .milliseconds(200)) else { continue }
                OwnThread.start { Self.serve(peer, naming: master, listeners) }
            }
        }
    }

    deinit { self.isOver.open() }

    private static func serve(_ peer: TestSocket, naming master: UInt16, _ listeners: Box<[TestSocket]>) {
        let port = "\(master)"
        while let bytes = try? peer.receive(within: .seconds(30)), !bytes.isEmpty {
            let text = String(decoding: bytes, as: UTF8.self)
            var answer = ""
            if text.contains("SETNAME") { answer += "+OK\r\n" }
            if text.contains("get-master-addr-by-name") {
                answer += "*2\r\n$9\r\n127.0.0.1\r\n$\(port.utf8.count)\r\n\(port)\r\n"
            }
            if text.contains("SUBSCRIBE") {
                answer += "*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n"
            }
            if text.contains("PING") { answer += "*2\r\n$4\r\npong\r\n$0\r\n\r\n" }
            try? peer.send(answer.utf8)
            if text.contains("SUBSCRIBE") { listeners.change { $0.append(peer) } }
        }
    }

    func announce(_ payload: String) {
        let message = "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$\(payload.utf8.count)\r\n\(payload)\r\n"
        for listener in self.listeners.now { try? listener.send(message.utf8) }
    }
}
