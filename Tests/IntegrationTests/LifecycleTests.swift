import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("Start, drain and end", .oneOfFewThreads)
struct LifecycleTests {
    private static let word = OpenAIShapes.event(OpenAIShapes.delta("word "))

    /// A gateway with one stream that has begun, and whose rest waits for the gate.
    private func streaming(_ settings: GatewaySettings = GatewaySettings()) throws
        -> (gateway: TestGateway, client: RawClient, answer: Answer, gate: Gate)
    {
        let gateway = try TestGateway(settings)
        let marker = Caller.unique("drain")
        let gate = Gate()
        _ = gateway.provider.script(
            marker, .events([.send(Self.word), .wait(gate), .send(OpenAIShapes.stream(["end"]).joined())]))
        let client = try gateway.client()
        var answer = try gateway.begin(Ask(marker, stream: true), as: Caller(), on: client)
        answer.events.append(try #require(try client.event()))
        return (gateway, client, answer, gate)
    }

    @Test func `A gateway that is asked to end lets its streams end first`() throws {
        var (gateway, client, answer, gate) = try self.streaming()
        gateway.process.child.signal(15)
        #expect(Stopwatch.wait(upTo: .seconds(15)) { !gateway.process.isReady })
        #expect(gateway.process.admin("/livez")?.status == 200)
        if let late = try? gateway.client(limit: .seconds(5)) {
            let response = try? gateway.post(Ask("late").json, as: Caller(), on: late)
            #expect(response == nil || response?.status == 503)
        }
        #expect(gateway.process.child.isRunning)
        gate.open()
        gateway.readEvents(of: &answer, on: client)
        answer.checkStream()
        #expect(answer.text == "word end")
        #expect(answer.isFinished)
        #expect(gateway.process.child.waitForExit(within: .seconds(10)) == 0)
        let record = try #require(gateway.process.records.first { $0.requestID == answer.requestID })
        #expect(record["outcome"]?.string == "answered")
        #expect(record["total_tokens"]?.int == 15)
    }

    @Test func `A stream that does not end in time is told so`() throws {
        var (gateway, client, answer, _) = try self.streaming(.with { $0.http = "{drain: {deadline: 1s}}" })
        gateway.process.child.signal(15)
        gateway.readEvents(of: &answer, on: client)
        answer.checkStream()
        #expect(answer.code == "draining")
        #expect(gateway.process.child.waitForExit(within: .seconds(10)) == 0)
        #expect(gateway.process.records.contains { $0.requestID == answer.requestID })
    }

    @Test func `A second signal ends at once`() throws {
        let (gateway, client, _, _) = try self.streaming()
        gateway.process.child.signal(15)
        Stopwatch.sleep(milliseconds: 300)
        #expect(gateway.process.child.isRunning)
        gateway.process.child.signal(15)
        #expect(gateway.process.child.waitForExit(within: .seconds(15)) != nil)
        #expect(client.isClosed())
    }

    @Test func `Idle connections do not hold up the end`() throws {
        let gateway = try TestGateway()
        let idle = try (0..<10).map { _ in
            let client = try gateway.client()
            try client.request("GET", "/api/health")
            #expect(try client.response()?.status == 200)
            return client
        }
        let silent = try (0..<5).map { _ in try gateway.client() }
        let watch = Stopwatch()
        #expect(gateway.process.stop(within: .seconds(10)) == 0)
        #expect(watch.milliseconds < 5000)
        for client in idle + silent { #expect(client.isClosed()) }
    }

    @Test func `Listeners stay open for as long as the drain is told to wait`() throws {
        let gateway = try TestGateway(.with { $0.http = "{drain: {delay: 1500ms, deadline: 10s}}" })
        gateway.process.child.signal(15)
        #expect(Stopwatch.wait(upTo: .seconds(15)) { gateway.process.admin("/readyz")?.status == 503 })
        #expect(try gateway.ask(Ask("during")).status == 200)
        #expect(gateway.process.child.waitForExit(within: .seconds(10)) == 0)
    }

    @Test func `A client that left before the first byte does not hold up the end`() throws {
        let gateway = try TestGateway()
        let marker = Caller.unique("gone")
        let script = gateway.provider.script(marker, .stall)
        let client = try gateway.client()
        try gateway.send(Ask(marker, stream: true), as: Caller(), on: client)
        script.waitForCall()
        client.close()
        #expect(script.calls.first?.waitForEnd(within: .seconds(15)) == .peerClosed)
        #expect(gateway.process.stop(within: .seconds(10)) == 0)
    }

    @Test func `A port that is taken is said and ends the start`() throws {
        let (listener, port) = try TestSocket.listen()
        let folder = try TemporaryFolder()
        try folder.write("acme.json", Issuers.jwks)
        try folder.write("borealis.secret", Issuers.secret)
        let path = try folder.write(
            "askgate.yaml",
            GatewaySettings().yaml(api: port, admin: try TestSocket.freePort(), provider: "http://127.0.0.1:1/v1"))
        let end = try ChildProcess.run(
            try GatewayProcess.binary(), ["serve", "--config", path], environment: ["TEST_PROVIDER_KEY": "x"],
            within: .seconds(10))
        #expect(end.code != nil && end.code != 0)
        #expect((end.output + end.errors).contains(String(port)))
        listener.close()
    }

    @Test func `An api full of connections keeps no operator out`() throws {
        let gateway = try TestGateway(
            GatewaySettings.with { $0.http = "{limits: {connections: 8}, timeouts: {idle: 60s}}" })
        let clients = try (0..<8).map { _ in try gateway.client() }
        for client in clients { try client.request("GET", "/api/health") }
        let late = try gateway.client()
        try late.request("GET", "/api/health")
        #expect(gateway.process.admin("/livez")?.status == 200)
        #expect(gateway.process.metrics.value("askgate_connections") >= 9)
        for client in clients + [late] { client.close() }
    }

    @Test func `Connections and descriptors come back to what they were`() throws {
        let gateway = try TestGateway()
        _ = try gateway.ask(Ask("warm"))
        let before = gateway.process.child.openDescriptors
        for round in 0..<10 {
            let clients = try (0..<30).map { _ in try gateway.client() }
            for client in clients { try client.request("GET", "/api/health") }
            for client in clients { client.close(reset: round % 2 == 0) }
        }
        #expect(Stopwatch.wait(upTo: .seconds(15), every: 50) { gateway.process.child.openDescriptors <= before + 4 })
        #expect(gateway.isAlive)
    }

    @Test func `A gateway at rest costs nothing and answers at once, however long it rests`() throws {
        let gateway = try TestGateway()
        let client = try gateway.client()
        let caller = Caller()
        #expect(try gateway.ask(Ask("before"), as: caller, on: client).status == 200)
        // Longer than the loops' timers look ahead.
        Stopwatch.sleep(milliseconds: 18_000)
        let before = gateway.process.child.processorTime
        Stopwatch.sleep(milliseconds: 1000)
        #expect(gateway.process.child.processorTime - before <= 50)
        #expect(try gateway.ask(Ask("after"), as: caller, on: client).status == 200)
        #expect(gateway.process.stop(within: .seconds(5)) == 0)
    }

    @Test func `Thousands of asks leave no memory behind`() throws {
        let gateway = try TestGateway()
        let callers = (0..<20).map { _ in Caller() }
        let round = {
            _ = OwnThread.together(8) { thread in
                guard let client = try? gateway.client() else { return }
                for number in 0..<150 {
                    _ = try? gateway.ask(
                        Ask("memory", stream: number % 3 == 0), as: callers[(thread + number) % 20], on: client)
                }
            }
        }
        round()
        let before = gateway.process.child.residentMemory
        round()
        round()
        #expect(gateway.process.child.residentMemory - before < 8 << 20)
    }
}

@Suite("Development defaults", .oneOfFewThreads)
struct DevelopmentTests {
    @Test func `The program explains itself`() throws {
        let binary = try GatewayProcess.binary()
        let help = try ChildProcess.run(binary, ["--help"])
        #expect(help.code == 0)
        for command in ["serve", "check", "token", "health"] { #expect(help.output.contains(command)) }
        #expect(try ChildProcess.run(binary, ["--version"]).code == 0)
        let wrong = try ChildProcess.run(binary, ["sevre"])
        #expect(wrong.code != 0)
        #expect(wrong.errors.contains("sevre"))
    }

    @Test func `Health says no when nothing listens`() throws {
        let port = try TestSocket.freePort()
        let end = try ChildProcess.run(try GatewayProcess.binary(), ["health", "--admin", "127.0.0.1:\(port)"])
        #expect(end.code == 1)
        let gateway = try TestGateway()
        let good = try ChildProcess.run(
            try GatewayProcess.binary(), ["health", "--ready", "--admin", "127.0.0.1:\(gateway.process.adminPort)"])
        #expect(good.code == 0)
    }
}
