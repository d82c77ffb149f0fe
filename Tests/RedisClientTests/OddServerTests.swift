import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

@Suite("A server that says odd things", .ownThread)
struct OddServerTests {
    static let nonsense = [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "\r\n", "\0\0\0\0\r\n", "%1\r\n+a\r\n+b\r\n", "_\r\n", ",1.5\r\n",
        "$5\r\nhelloXX", "$3\r\nhello\r\n", "$-2\r\n", "$1e3\r\n", "$99999999999999999999\r\n", "$2147483647\r\n",
        "*2147483647\r\n", "*-7\r\n", "*\r\n", ":\r\n", ":12a\r\n", ":99999999999999999999999\r\n",
        String(repeating: "*1\r\n", count: 12) + ":1\r\n", String(repeating: "*1\r\n", count: 2000) + ":1\r\n",
        "*1048576\r\n*1048576\r\n", "+\(String(repeating: "x", count: 200_000))",
    ]

    @Test(arguments: nonsense)
    func whatIsNoAnswerEndsTheConnection(text: String) async throws {
        try await withScript(try ScriptedServer(answering: text)) { client in
            let answer = await client.call("GET", "a")
            #expect(answer.failure == .malformedReply, "\(text.prefix(40).debugDescription) gives \(answer)")
        }
    }

    @Test func answersBeforeNonsenseCount() async throws {
        try await withScript(try ScriptedServer(answering: ":1\r\n:2\r\n!\r\n:3\r\n")) { client in
            let answers = await client.together([["A"], ["B"], ["C"], ["D"]])
            #expect(answers[0].reply == .integer(1))
            #expect(answers[1].reply == .integer(2))
            #expect(answers[2].failure == .malformedReply)
            #expect(answers[3].failure == .malformedReply)
        }
    }

    @Test func anAnswerThatNobodyAskedForEndsTheConnection() async throws {
        let server = try ScriptedServer(answering: "+OK\r\n+again\r\n")
        try await withScript(server) { client in
            #expect(await client.call("A").text == "OK")
            try await eventually { server.connections > 1 }
        }
    }

    @Test func nonsenseInTheGreetingIsNotBlamedOnCalls() async throws {
        let server = try ScriptedServer { socket in
            _ = try socket.receive(within: .seconds(20))
            try socket.send("?what\r\n".utf8)
        }
        try await withScript(server) { client in
            let answer = await client.call("A")
            #expect(answer.failure == .unreachable)
            #expect(client.redis.state.lastFailure == .malformedReply)
        }
    }

    @Test(arguments: [
        ("ERR max number of clients reached", RedisFailure.notServing),
        ("DENIED Redis is running in protected mode", .notServing),
        ("ERR AUTH <password> called without any password configured for the default user", .notPermitted),
        ("ERR Client sent AUTH, but no password is set", .notPermitted), ("WRONGPASS invalid", .notPermitted),
    ])
    func aServerThatTakesNobodyInIsToldFromAWrongPassword(text: String, failure: RedisFailure) async throws {
        let server = try ScriptedServer { socket in
            _ = try socket.receive(within: .seconds(20))
            try socket.send("-\(text)\r\n".utf8)
            _ = try socket.receive(within: .seconds(20))
        }
        var settings = server.settings
        settings.login = RedisLogin(RedisCredentials(password: "secret"))
        defer { server.stop() }
        try await withClient(settings) { client in
            _ = await client.call("A")
            #expect(client.redis.state.lastFailure == failure)
        }
    }

    @Test func anAnswerInSinglePiecesIsWhole() async throws {
        let server = try ScriptedServer { socket in
            try ScriptedServer.greet(socket)
            _ = try socket.receive(within: .seconds(20))
            for byte in "*3\r\n$5\r\nhe\r\no\r\n*2\r\n:-7\r\n$-1\r\n-ODD inner\r\n".utf8 {
                try socket.send([byte])
                Stopwatch.sleep(milliseconds: 1)
            }
            _ = try socket.receive(within: .seconds(20))
        }
        try await withScript(server) { client in
            let inner = RedisReply.error(RedisServerError(Array("ODD inner".utf8)))
            let wanted = RedisReply.array([.bulk(Array("he\r\no".utf8)), .array([.integer(-7), .null]), inner])
            #expect(await client.call("A").reply == wanted)
        }
    }

    @Test func aServerThatClosesAtOnceWasNotReached() async throws {
        let server = try ScriptedServer { $0.close() }
        try await withScript(server) { client in
            #expect(await client.call("A").failure == .unreachable)
            // It is asked again and again, but at a measured pace.
            try await Task.sleep(for: .milliseconds(500))
            #expect(server.connections < 20)
        }
    }

    @Test func aServerThatNeverGreetsIsGivenUp() async throws {
        let server = try ScriptedServer {
            _ = try $0.receive(most: 1, within: .seconds(20)); Stopwatch.sleep(milliseconds: 3000)
        }
        defer { server.stop() }
        var settings = server.settings
        settings.connectTimeout = .milliseconds(200)
        try await withClient(settings) { #expect(await $0.call("A").failure == .unreachable) }
    }

    @Test func aServerThatClosesAfterEveryCallLosesNoCallTwice() async throws {
        let server = try ScriptedServer { socket in
            try ScriptedServer.greet(socket)
            _ = try socket.receive(within: .seconds(20))
        }
        try await withScript(server) { client in
            #expect(await client.call("A").failure == .connectionLost)
            // Sent again once, and lost again; or refused while no connection comes about.
            let failure = await client.call("B", idempotent: true).failure
            #expect(failure == .connectionLost || failure == .unreachable)
        }
    }

    @Test(arguments: ["MOVED 1 127.0.0.1:%", "ASK 1 127.0.0.1:%", "MOVED 1 :%", "MOVED 1 ?:%"])
    func aServerThatSendsItsCallersInCirclesIsLeft(redirection: String) async throws {
        let port = Box(UInt16(0))
        let asked = Box(0)
        let server = try ScriptedServer { socket in
            try ScriptedServer.greet(socket)
            while true {
                let text = String(decoding: try socket.receive(within: .seconds(20)), as: UTF8.self)
                guard !text.isEmpty else { return }
                asked.change { $0 += 1 }
                let words = redirection.replacing("%", with: "\(port.now)")
                try socket.send("\(text.contains("ASKING") ? "+OK\r\n" : "")-\(words)\r\n".utf8)
            }
        }
        port.change { $0 = server.port }
        try await withScript(server) { client in
            #expect(await client.call("GET", "a").failure == .notServing)
            #expect(asked.now == ReplyPolicy.mostHops + 1)
            #expect(client.redis.state.redirections == ReplyPolicy.mostHops)
        }
    }

    @Test(arguments: ["MOVED", "MOVED x 127.0.0.1:1", "MOVED 99999 127.0.0.1:1", "ASK 1 nowhere", "ASK 1 host:99999"])
    func aRedirectionWithoutSenseFailsTheCall(text: String) async throws {
        let server = try ScriptedServer(answering: "-\(text)\r\n")
        try await withScript(server) { client in
            #expect(await client.call("GET", "a").failure == .malformedReply)
            #expect(await client.call("GET", "a").failure == .malformedReply)
            #expect(server.connections == 1)
        }
    }

    @Test func aServerThatNeverKnowsAScriptIsNotAskedForEver() async throws {
        let server = try ScriptedServer(answering: "-NOSCRIPT No matching script. Please use EVAL.\r\n")
        try await withScript(server) { client in
            #expect(await client.evaluate(RedisScript([1])).failure == .malformedReply)
        }
    }

    @Test func aRefusedAskingIsNobodysAnswerAndNeverSentAgain() async throws {
        let received = Box("")
        @Sendable func read(_ socket: TestSocket) throws -> String {
            let text = String(decoding: try socket.receive(within: .seconds(20)), as: UTF8.self)
            received.change { $0 += text }
            return text
        }
        let target = try ScriptedServer { socket in
            try ScriptedServer.greet(socket)
            while case let text = try read(socket), !text.isEmpty {
                try socket.send((text.contains("ASKING") ? "-LOADING later\r\n+moved\r\n" : "+other\r\n").utf8)
            }
        }
        defer { target.stop() }
        let ownPort = Box(UInt16(0))
        let seed = try ScriptedServer { socket in
            try ScriptedServer.greet(socket)
            while case let text = try read(socket), !text.isEmpty {
                let layout = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:\(ownPort.now)\r\n"
                let answer =
                    if text.contains("SHARDS") {
                        "-ERR unknown subcommand 'SHARDS'\r\n"
                    } else if text.contains("SLOTS") { layout } else { "-ASK 0 127.0.0.1:\(target.port)\r\n" }
                try socket.send(answer.utf8)
            }
        }
        defer { seed.stop() }
        ownPort.change { $0 = seed.port }
        var settings = seed.settings
        settings.topology = .cluster(seeds: [seed.address])
        try await withClient(settings) { client in
            #expect(await client.call("GET", "a", key: "a").text == "moved")
            // Whatever would be sent again is sent within a few back-offs.
            try await Task.sleep(for: .milliseconds(300))
            #expect(await client.call("GET", "b", key: "b").text == "moved")
            #expect(!received.now.contains("*0\r\n"))
        }
    }
}
