import Asking
import GatewayTesting
import GatewayTypes
import Glibc
import JSON
import Testing

/// What `send` promises an app, rule by rule.
@Suite("The rules of send", .ownThread)
struct ClientRuleTests {
    private static let agents = ["tutor": AskingProvider.Agent(model: "m-tutor", instructions: "Explain.")]

    private static func client(_ provider: AskingProvider) throws -> AskingClient {
        let client = try AskingClient()
        try client.register(provider)
        try client.select(provider.name)
        return client
    }

    private static func client(_ provider: FakeProvider, _ dialect: TestDialect = .openai) throws -> AskingClient {
        let root = String(provider.baseURL.dropLast("/v1".count))
        switch dialect {
        case .openai:
            return try self.client(
                .openAI(
                    name: "p", baseURL: provider.baseURL, keys: ["k"], agents: self.agents, defaultAgent: "tutor"))
        case .anthropic:
            return try self.client(
                .anthropic(name: "p", baseURL: root, keys: ["k"], agents: self.agents, defaultAgent: "tutor"))
        case .gemini:
            return try self.client(
                .gemini(name: "p", baseURL: root, keys: ["k"], agents: self.agents, defaultAgent: "tutor"))
        }
    }

    @Test(
        arguments: [
            (.openai, "/v1/chat/completions", "authorization", "Bearer k"),
            (.anthropic, "/v1/messages", "x-api-key", "k"),
            (.gemini, "/v1beta/models/m-tutor:streamGenerateContent?alt=sse", "x-goog-api-key", "k"),
        ] as [(TestDialect, String, String, String)])
    func `Every dialect answers through the same call`(
        dialect: TestDialect, target: String, header: String, key: String
    ) throws {
        let provider = try FakeProvider { _, _ in .events([.send(dialect.stream(["one ", "two"]).joined())]) }
        let client = try Self.client(provider, dialect)
        defer { client.shutDown() }
        let diary = Diary()
        let id = try #require(diary.send(client, "Why?"))
        #expect(diary.waitForEnd() && diary.fullText == "one two" && diary.ends == ["finish \(id)"])
        let call = try #require(provider.calls.first)
        #expect(call.target == target && call.header(header) == key && call.bodyText.contains("Explain."))
    }

    @Test func `The identifier is there before the provider has said anything`() throws {
        let gate = Gate()
        let provider = try FakeProvider { _, _ in
            .events([.wait(gate), .send(TestDialect.openai.stream(["ok"]).joined())])
        }
        let client = try Self.client(provider)
        defer {
            gate.open()
            client.shutDown()
        }
        let diary = Diary()
        let id = try #require(diary.send(client, "Why?"))
        #expect(provider.rest.waitForCall() != nil && diary.all.isEmpty)
        gate.open()
        #expect(diary.waitForEnd() && diary.all.first == "start \(id)" && diary.ends == ["finish \(id)"])
        #expect(diary.all.allSatisfy { $0.contains(id) })
    }

    @Test func `All callbacks of a client come on one thread, which is not the caller's`() throws {
        let client = try Self.client(.demo())
        defer { client.shutDown() }
        let diaries = (0..<5).map { _ in Diary() }
        let ids = diaries.map { $0.send(client, "One. Two. Three.") }
        #expect(Set(ids.compactMap { $0 }).count == 5)
        for diary in diaries { #expect(diary.waitForEnd()) }
        let callers = diaries.reduce(into: Set<UInt>()) { $0.formUnion($1.callers) }
        #expect(callers.count == 1 && !callers.contains(UInt(pthread_self())))
    }

    @Test func `A failure before there is a question comes on the caller's own thread`() throws {
        let client = try Self.client(.demo())
        defer { client.shutDown() }
        let diary = Diary()
        #expect(diary.send(client, "\n") == nil)
        #expect(diary.all == ["error  emptyQuestion"] && diary.callers == [UInt(pthread_self())])
    }

    @Test func `An answer without a word is a failure, not an end`() throws {
        let provider = try FakeProvider { _, _ in .events([.send(TestDialect.openai.stream([]).joined())]) }
        let client = try Self.client(provider)
        defer { client.shutDown() }
        let diary = Diary()
        let id = try #require(diary.send(client, "Why?"))
        #expect(diary.waitForEnd() && diary.all == ["error \(id) emptyAnswer"])
    }

    @Test func `Whoever leaves a sequence early ends its question and the provider's call`() async throws {
        let word = OpenAIShapes.event(OpenAIShapes.delta("word "))
        let provider = try FakeProvider { _, _ in .events([.send(word), .hold(milliseconds: 60_000)]) }
        let client = try Self.client(provider)
        defer { client.shutDown() }
        for try await update in client.answers(to: "Why?") {
            #expect(update.fullText == "word ")
            break
        }
        #expect(provider.calls.first?.waitForEnd() == .peerClosed)
    }

    @Test func `A task that is cancelled cancels its question`() async throws {
        let word = OpenAIShapes.event(OpenAIShapes.delta("word "))
        let provider = try FakeProvider { _, _ in .events([.send(word), .hold(milliseconds: 60_000)]) }
        let client = try Self.client(provider)
        defer { client.shutDown() }
        let task = Task { for try await _ in client.answers(to: "Why?") {} }
        #expect(provider.rest.waitForCall() != nil)
        task.cancel()
        #expect(provider.calls.first?.waitForEnd() == .peerClosed)
    }

    @Test func `A sequence throws what went wrong behind its first words`() async throws {
        let word = OpenAIShapes.event(OpenAIShapes.delta("half "))
        let provider = try FakeProvider { _, _ in .events([.send(word), .cut]) }
        let client = try Self.client(provider)
        defer { client.shutDown() }
        var text = ""
        await #expect(throws: AskingFailure.providerFailed) {
            for try await update in client.answers(to: "Why?") { text = update.fullText ?? text }
        }
        #expect(text == "half ")
    }

    @Test func `A client that is let go of ends its questions`() throws {
        let word = OpenAIShapes.event(OpenAIShapes.delta("word "))
        let provider = try FakeProvider { _, _ in .events([.send(word), .hold(milliseconds: 60_000)]) }
        let diary = Diary()
        do {
            let client = try Self.client(provider)
            _ = diary.send(client, "Why?")
            #expect(Stopwatch.wait(upTo: .seconds(10)) { !diary.fullText.isEmpty })
        }
        #expect(diary.waitForEnd() && diary.ends.count == 1 && diary.ends[0].hasSuffix("cancelled"))
    }
}
