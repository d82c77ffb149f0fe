import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

@Suite("A line that breaks at random", .ownThread)
struct RandomFaultTests {
    /// Ten clients with a thousand calls each. What each of them was told, by its name.
    @Test(.timeLimit(.minutes(2)), arguments: [1, 2, 3] as [UInt64])
    func everyCallIsAnsweredOnceAndWithItsOwnAnswer(seed: UInt64) async throws {
        let server = try RedisServer()
        let proxy = try FaultyProxy(before: server.port, seed: seed)
        defer { proxy.stop() }
        let counts = Box([String: Int]())
        try await withThrowingTaskGroup { tasks in
            for _ in 0..<10 {
                tasks.addTask { try await withClient(proxy.settings) { try await Self.flood($0, counts) } }
            }
            try await tasks.waitForAll()
        }
        proxy.becomeGood()
        try await withClient(proxy.settings) { client in
            #expect(await client.until(["ECHO", "well"]) { $0.isSuccess }.text == "well")
        }
        #expect(counts.now.values.reduce(0, +) == 10_000)
        // The faults were met, and not only they.
        #expect(counts.now["success", default: 0] > 1000, "\(counts.now)")
        #expect(counts.now.count > 2, "\(counts.now)")
    }

    private static func flood(_ client: TestClient, _ counts: Box<[String: Int]>) async throws {
        for batch in 0..<50 {
            let words = (0..<20).map { "b\(batch)n\($0)" }
            let answers = await client.together(
                words.map { ["ECHO", $0] }, timeout: .milliseconds(200), idempotent: batch % 2 == 0)
            #expect(answers.count == words.count)
            for (word, answer) in zip(words, answers) {
                if let text = answer.text { #expect(text == word) }
                counts.change { $0[answer.failure?.metricLabel ?? "success", default: 0] += 1 }
            }
            // While no connection comes about all calls fail alike, which shows little.
            if answers.last?.isSuccess != true {
                try? await eventually(within: .milliseconds(300)) { client.redis.state.isConnected }
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func callsOfACancelledClientAreAnsweredToo() async throws {
        let server = try RedisServer()
        for round in 0..<40 {
            let client = try TestClient(server.settings())
            if round % 2 == 0 { #expect(await client.call("PING").isSuccess) }
            if round % 4 == 0 { server.pause() }
            async let answers = client.together((0..<20).map { ["ECHO", "\($0)"] })
            if round % 3 != 0 { try await Task.sleep(for: .milliseconds(round % 5)) }
            await client.close()
            server.resume()
            for (index, answer) in await answers.enumerated() {
                switch answer {
                case .success(let reply): #expect(reply.text == "\(index)")
                case .failure(let failure): #expect(failure == .connectionLost || failure == .stopped)
                }
            }
        }
    }

    /// A call that waits to be sent again when the client ends.
    @Test(.timeLimit(.minutes(1)))
    func callsThatRestAreAnsweredAtTheEnd() async throws {
        let server = try ScriptedServer(answering: "-LOADING Redis is loading the dataset in memory\r\n")
        defer { server.stop() }
        let client = try TestClient(server.settings)
        async let answer = client.call("PING")
        try await eventually { client.redis.state.connections == 1 }
        try await Task.sleep(for: .milliseconds(300))
        await client.close()
        let failure = await answer.failure
        #expect(failure == .stopped || failure == .connectionLost)
    }
}
