import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

@Suite("A server that fails", .ownThread)
struct ServerFaultTests {
    static func isBack(_ answer: Answer) -> Bool { answer.isSuccess }

    @Test(arguments: [nil, "app"] as [String?])
    func aWrongPasswordIsSaidToBeSo(user: String?) async throws {
        let server = try RedisServer(["--requirepass", "right", "--user", "app", "on", ">apt", "~*", "&*", "+@all"])
        let wrong = RedisCredentials(user: user.map { ByteString($0) }, password: "wrong")
        try await withClient(server.settings(credentials: wrong)) { client in
            #expect(await client.call("PING").failure == .notPermitted)
            #expect(client.redis.state.lastFailure == .notPermitted)
            #expect(!client.redis.state.isConnected)
        }
        try await withClient(server.settings()) { #expect(await $0.call("PING").failure == .notPermitted) }
        let right = RedisCredentials(user: user.map { ByteString($0) }, password: user == nil ? "right" : "apt")
        try await withClient(server.settings(credentials: right)) { client in
            #expect(await client.call("ACL", "WHOAMI").text == user ?? "default")
        }
    }

    @Test func aPasswordThatIsSetRightHealsTheClient() async throws {
        let server = try RedisServer()
        try server.call("ACL", "SETUSER", "app", "on", ">old", "~*", "+@all")
        let credentials = RedisCredentials(user: "app", password: "new")
        try await withClient(server.settings(credentials: credentials)) { client in
            #expect(await client.call("PING").failure == .notPermitted)
            try server.call("ACL", "SETUSER", "app", ">new")
            #expect(await client.until(["PING"], Self.isBack).text == "PONG")
        }
    }

    @Test func aLoginThatChangesHoldsForTheNextConnection() async throws {
        let server = try RedisServer()
        try server.call("ACL", "SETUSER", "app", "on", ">old", "~*", "+@all")
        let settings = server.settings(credentials: RedisCredentials(user: "app", password: "old"))
        try await withClient(settings) { client in
            #expect(await client.call("PING").text == "PONG")
            try server.call("ACL", "SETUSER", "app", "resetpass", ">new")
            // Whoever has logged in stays.
            settings.login.change(to: RedisCredentials(user: "app", password: "new"))
            #expect(await client.call("PING").text == "PONG" && client.redis.state.connections == 1)
            try server.call("CLIENT", "KILL", "USER", "app")
            #expect(await client.until(["PING"], Self.isBack).text == "PONG")
            #expect(client.redis.state.connections == 2)
        }
    }

    @Test func aUserWithNarrowRightsIsToldOfTheOneThatFails() async throws {
        let server = try RedisServer(["--user", "app", "on", ">apt", "~mine*", "+get", "+set"])
        let credentials = RedisCredentials(user: "app", password: "apt")
        try await withClient(server.settings(credentials: credentials)) { client in
            #expect(await client.call("SET", "mine", "1").text == "OK")
            #expect(await client.call("SET", "other", "1").failure == .notPermitted)
            #expect(await client.call("INCR", "mine").failure == .notPermitted)
            #expect(await client.call("GET", "mine").text == "1")
            #expect(client.redis.state.connections == 1)
        }
    }

    @Test func callsToAServerThatIsAwayFailSoonAndItsReturnIsNoticed() async throws {
        let server = try RedisServer()
        try await withClient(server.settings()) { client in
            #expect(await client.call("SET", "a", "1").isSuccess)
            server.kill()
            let gone = await client.until(["PING"]) { $0.failure == .unreachable }
            #expect(gone.failure == .unreachable)
            #expect(!client.redis.state.isConnected)
            // Not one waits for its deadline of thirty seconds.
            let watch = Stopwatch()
            for _ in 0..<20 { #expect(await client.call("PING").failure == .unreachable) }
            #expect(watch.elapsed < .seconds(20))
            try server.restart()
            #expect(await client.until(["GET", "a"], Self.isBack).reply == .null)
            #expect(client.redis.state.isConnected)
            #expect(client.redis.state.lastFailure == nil)
        }
    }

    @Test func callsUnderWayWhenTheServerDiesAreAnsweredAsLost() async throws {
        let server = try RedisServer()
        try await withClient(server.settings()) { client in
            #expect(await client.call("PING").isSuccess)
            server.pause()
            async let answers = client.together((0..<50).map { ["SET", "k\($0)", "v"] })
            try await eventually { client.redis.state.openCalls >= 50 }
            try await Task.sleep(for: .milliseconds(50))
            server.kill()
            #expect(Set(await answers.map(\.failure)) == [.connectionLost])
        }
    }

    @Test func onlyCallsThatMayBeRepeatedAreSentAgain() async throws {
        let server = try RedisServer()
        // A connection is replaced at once when it breaks for the first time, so a client serves for one half.
        try await withClient(server.settings()) { client in
            let answers = await client.together(
                [["SET", "a", "1"], ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"], ["INCR", "n"]])
            #expect(answers.map(\.failure) == [nil, nil, .connectionLost])
        }
        try await withClient(server.settings()) { client in
            #expect(await client.call("PING").isSuccess)
            server.pause()
            async let answers = client.together((0..<20).map { ["SET", "again\($0)", "1"] }, idempotent: true)
            try await eventually { client.redis.state.openCalls == 20 }
            server.resume()
            try server.call("CLIENT", "KILL", "TYPE", "normal")
            #expect(Set(await answers.map(\.text)) == ["OK"])
        }
    }

    @Test func aServerThatHangsCostsTheDeadlineAndALateAnswerIsNobodys() async throws {
        let server = try RedisServer()
        try await withClient(server.settings()) { client in
            #expect(await client.call("SET", "a", "1").isSuccess)
            server.pause()
            let watch = Stopwatch()
            let lost = await client.together([["ECHO", "lost"], ["ECHO", "too"]], timeout: .milliseconds(100))
            // The second one's time ends a moment later, with the connection.
            #expect(lost[0].failure == .timedOut)
            #expect(lost[1].failure == .timedOut || lost[1].failure == .connectionLost)
            // Far from the thirty seconds that calls have by default.
            #expect(watch.elapsed < .seconds(20))
            let during = await client.call("ECHO", "during", timeout: .milliseconds(100))
            #expect(during.failure == .unreachable || during.failure == .timedOut)
            try await Task.sleep(for: .milliseconds(2000))
            server.resume()
            // Whatever the server still says of the first calls is not taken for an answer to these.
            #expect(await client.until(["ECHO", "after"], Self.isBack).text == "after")
            for number in 0..<50 { #expect(await client.call("ECHO", "\(number)").text == "\(number)") }
        }
    }

    @Test func aShortDeadlineTakesTheConnectionAndTellsTheOthersSo() async throws {
        let server = try RedisServer()
        try await withClient(server.settings()) { client in
            #expect(await client.call("PING").isSuccess)
            server.pause()
            async let long = client.together([["INCR", "n"]])
            async let repeatable = client.together([["GET", "n"]], idempotent: true)
            try await eventually { client.redis.state.openCalls >= 2 }
            #expect(await client.call("PING", timeout: .milliseconds(50)).failure == .timedOut)
            #expect(await long.map(\.failure) == [.connectionLost])
            server.resume()
            _ = await repeatable
            #expect(await client.until(["PING"], Self.isBack).isSuccess)
        }
    }

    @Test func aFullServerRefusesWritesAndStillReads() async throws {
        let server = try RedisServer(["--maxmemory-policy", "noeviction"])
        try await withClient(server.settings()) { client in
            #expect(await client.call("SET", "a", "1").isSuccess)
            try server.call("CONFIG", "SET", "maxmemory", "1")
            #expect(await client.call("SET", "b", "1").failure == .refusesWrites)
            let script = RedisScript(Array("return redis.call('SET', KEYS[1], '1')".utf8))
            #expect(await client.evaluate(script, keys: ["c"]).failure == .refusesWrites)
            #expect(await client.call("GET", "a").text == "1")
            try server.call("CONFIG", "SET", "maxmemory", "0")
            #expect(await client.evaluate(script, keys: ["c"]).isSuccess)
            #expect(client.redis.state.connections == 1)
        }
    }

    @Test func aServerWithoutEnoughReplicasRefusesWrites() async throws {
        let server = try RedisServer(["--min-replicas-to-write", "1"])
        try await withClient(server.settings()) { client in
            #expect(await client.call("SET", "a", "1").failure == .refusesWrites)
            #expect(await client.call("GET", "a").reply == .null)
        }
    }

    @Test func aServerThatBecomesAReplicaIsAskedAgainUntilItIsAMaster() async throws {
        let server = try RedisServer()
        let other = try RedisServer()
        try await withClient(server.settings()) { client in
            #expect(await client.call("SET", "a", "1").isSuccess)
            try server.call("REPLICAOF", "127.0.0.1", "\(other.port)")
            let refused = await client.until(["SET", "a", "2"]) { $0.failure == .notServing }
            #expect(refused.failure == .notServing)
            async let patient = client.call("SET", "a", "3", timeout: .seconds(20))
            try await Task.sleep(for: .milliseconds(100))
            try server.call("REPLICAOF", "NO", "ONE")
            let answer = await patient
            #expect(answer.text == "OK" || answer.failure == .notServing)
            #expect(await client.until(["SET", "a", "4"], Self.isBack).text == "OK")
        }
    }

    @Test func aServerThatStillLoadsIsWaitedFor() async throws {
        let server = try RedisServer(["--enable-debug-command", "yes"])
        try await withClient(server.settings()) { client in
            for start in stride(from: 0, to: 400_000, by: 100_000) {
                try server.call("DEBUG", "POPULATE", "100000", "k\(start)", "10")
            }
            // A thousandth of a second for each key, told as LOADING to whoever asks.
            try server.call("CONFIG", "SET", "key-load-delay", "2000", "loading-process-events-interval-bytes", "1024")
            let probe = try server.probe()
            let reload = Task { try probe.call("DEBUG", "RELOAD") }
            let first = await client.until(["GET", "none"]) { $0.failure == .notServing }
            #expect(first.failure == .notServing)
            // The delay cannot be changed before the end; this server is done with.
            server.kill()
            _ = try? await reload.value
        }
    }

    @Test func aBusyServerIsWaitedFor() async throws {
        let server = try RedisServer(["--busy-reply-threshold", "20"])
        let busy = RedisScript(Array("while true do end".utf8))
        try await withClient(server.settings()) { client in
            async let endless = client.evaluate(busy, timeout: .seconds(20))
            try await eventually { try server.call("PING") != .text("PONG") }
            try await withClient(server.settings()) { other in
                let refused = await other.until(["GET", "a"]) { $0.failure == .notServing }
                #expect(refused.failure == .notServing)
                async let patient = other.call("SET", "a", "1")
                try await Task.sleep(for: .milliseconds(50))
                try server.call("SCRIPT", "KILL")
                #expect(await patient.text == "OK")
            }
            #expect(await endless.isSuccess == false)
        }
    }

    @Test func nobodyListens() async throws {
        let port = try TestSocket.freePort()
        let settings = RedisSettings(topology: .single(RedisAddress(host: "127.0.0.1", port: port)))
        try await withClient(settings) { client in
            #expect(await client.call("PING", timeout: .seconds(30)).failure == .unreachable)
            #expect(client.redis.state.connections == 0)
        }
        let nowhere = RedisSettings(topology: .single(RedisAddress(host: "no-such-host.invalid", port: port)))
        try await withClient(nowhere) { #expect(await $0.call("PING", timeout: .seconds(30)).failure == .unreachable) }
    }
}
