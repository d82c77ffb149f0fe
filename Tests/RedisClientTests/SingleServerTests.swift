import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

@Suite("One server", .ownThread)
struct SingleServerTests {
    /// For tests that leave it as they found it.
    static let shared = Result { try RedisServer() }

    @Test func eachKindOfAnswerComesAsItIs() async throws {
        let server = try Self.shared.get()
        try await withClient(server.settings(database: 1)) { client in
            #expect(await client.call("SET", "a", "é\r\n\0").reply == .status(Array("OK".utf8)))
            #expect(await client.call("GET", "a").reply == .bulk(Array("é\r\n\0".utf8)))
            #expect(await client.call("GET", "nothing").reply == .null)
            #expect(await client.call("INCRBY", "n", "41").reply == .integer(41))
            #expect(await client.call("DECRBY", "n", "100").reply == .integer(-59))
            #expect(await client.call("MGET", "a", "b").reply == .array([.bulk(Array("é\r\n\0".utf8)), .null]))
            #expect(await client.call("LRANGE", "none", "0", "-1").reply == .array([]))
            #expect(await client.call("SET", "empty", "").reply?.text == "OK")
            #expect(await client.call("GET", "empty").reply == .bulk([]))
            guard case .server(let error)? = await client.call("LPUSH", "a", "1").failure else {
                Issue.record("a wrong type is no error")
                return
            }
            #expect(error.kind == .other)
            #expect(error.text.hasPrefix("WRONGTYPE"))
        }
    }

    @Test func whatIsSaidWhileGreetingIsKept() async throws {
        let server = try Self.shared.get()
        var settings = server.settings(database: 2)
        settings.clientName = "the-name"
        try await withClient(settings) { client in
            #expect(await client.call("CLIENT", "GETNAME").text == "the-name")
            let info = await client.call("CLIENT", "INFO").text
            #expect(info?.contains(" db=2 ") == true)
        }
    }

    @Test func callsOfOneTurnAreAnsweredInTheirOrder() async throws {
        let server = try Self.shared.get()
        try await withClient(server.settings(database: 3)) { client in
            let answers = await client.together((0..<3000).map { ["ECHO", "\($0)"] })
            #expect(answers.map(\.text) == (0..<3000).map { "\($0)" })
            #expect(client.redis.state.connections == 1)
        }
    }

    @Test func aLongValueGoesBothWays() async throws {
        let server = try Self.shared.get()
        let value = String(repeating: "0123456789abcdef", count: 200_000)
        try await withClient(server.settings(database: 4)) { client in
            #expect(await client.call("SET", "long", value).isSuccess)
            #expect(await client.call("GET", "long").text == value)
            #expect(await client.call("DEL", "long").reply == .integer(1))
        }
    }

    @Test func aScriptIsSentInFullOnlyWhereItIsNotKnown() async throws {
        let server = try RedisServer()
        let script = RedisScript(Array("return {KEYS[1], ARGV[1], 7}".utf8))
        let wanted = RedisReply.array([.bulk(Array("k".utf8)), .bulk(Array("v".utf8)), .integer(7)])
        try await withClient(server.settings()) { client in
            for _ in 0..<3 {
                #expect(await client.evaluate(script, keys: ["k"], arguments: ["v"]).reply == wanted)
            }
            #expect(try server.count(of: "eval") == 1)
            try server.call("SCRIPT", "FLUSH")
            #expect(await client.evaluate(script, keys: ["k"], arguments: ["v"]).reply == wanted)
            #expect(await client.evaluate(script, keys: ["k"], arguments: ["v"]).reply == wanted)
            #expect(try server.count(of: "eval") == 2)
            #expect(client.redis.state.connections == 1)
        }
    }

    @Test func aScriptThatFailsIsAFaultOfOurs() async throws {
        let server = try Self.shared.get()
        let script = RedisScript(Array("return redis.error_reply('ODD thing')".utf8))
        try await withClient(server.settings()) { client in
            guard case .server(let error)? = await client.evaluate(script).failure else {
                Issue.record("no error")
                return
            }
            #expect(error.text.hasPrefix("ODD thing"))
        }
    }

    @Test func moreCallsThanAllowedFailAtOnceAndAreNotSent() async throws {
        let server = try Self.shared.get()
        try await withClient(server.settings(database: 5, most: 10)) { client in
            let answers = await client.together((0..<25).map { _ in ["INCR", "counted"] })
            #expect(answers.filter(\.isSuccess).count == 10)
            #expect(answers.filter { $0.failure == .overloaded }.count == 15)
            #expect(await client.call("GET", "counted").text == "10")
            #expect(await client.call("DEL", "counted").reply == .integer(1))
        }
    }

    @Test func callsBeforeTheClientRunsWaitForIt() async throws {
        let server = try Self.shared.get()
        let redis = Redis(server.settings(), loop: try Loops.next())
        async let early = redis.call(["ECHO", "early"])
        await #expect(throws: RedisFailure.unreachable) {
            try await redis.call(["ECHO", "late"], timeout: .milliseconds(1))
        }
        let task = Task { await redis.run() }
        #expect(try await early.text == "early")
        redis.stop()
        await task.value
        await #expect(throws: RedisFailure.stopped) { try await redis.call(["PING"]) }
    }

    @Test func aCancelledTaskEndsTheClient() async throws {
        let server = try Self.shared.get()
        let redis = Redis(server.settings(), loop: try Loops.next())
        let task = Task { await redis.run() }
        #expect(try await redis.call(["PING"]).text == "PONG")
        task.cancel()
        await task.value
        #expect(!redis.state.isConnected)
    }
}
