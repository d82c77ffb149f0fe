import Asking
import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("The core in an app", .ownThread)
struct ClientTests {
    private static func client(_ provider: FakeProvider? = nil) throws -> AskingClient {
        let client = try AskingClient()
        if let provider {
            let agents = ["small": AskingProvider.Agent(model: "m-small"), "large": .init(model: "m-large")]
            try client.register(
                .openAI(name: "main", baseURL: provider.baseURL, keys: ["k"], agents: agents, defaultAgent: "small"))
            try client.select("main")
        } else {
            try client.register(.demo())
            try client.select("demo")
        }
        return client
    }

    @Test func `A question is answered: start, updates, the last marked, one end`() throws {
        let client = try Self.client()
        defer { client.shutDown() }
        let diary = Diary()
        let id = try #require(diary.send(client, " \n What moves the tides? The moon does. \r\n"))
        #expect(!id.isEmpty && diary.waitForEnd())
        let all = diary.all
        #expect(all.first == "start \(id)" && all.last == "finish \(id)" && diary.ends.count == 1)
        #expect(all.dropLast().last == "final \(id)" && all.filter { $0.hasPrefix("final") }.count == 1)
        #expect(all.filter { $0.hasPrefix("answer") }.count > 1)
        #expect(diary.fullText == "What moves the tides? The moon does.")
    }

    @Test(arguments: ["", " ", "\n\r\n\t \u{2003}\u{A0}"])
    func `An empty question fails before there is one`(question: String) throws {
        let client = try Self.client()
        defer { client.shutDown() }
        let diary = Diary()
        #expect(diary.send(client, question) == nil)
        #expect(diary.all == ["error  emptyQuestion"])
    }

    @Test func `Without provider, agent or life a question fails before there is one`() throws {
        let client = try AskingClient()
        let none = Diary()
        #expect(none.send(client, "Why?") == nil && none.all == ["error  noProvider"])
        #expect(throws: AskingFailure.noProvider) { try client.select("nobody") }
        try client.register(.demo())
        try client.select("demo")
        let stranger = Diary()
        #expect(stranger.send(client, "Why?", agent: "stranger") == nil)
        #expect(stranger.all == ["error  unknownAgent"])
        client.shutDown()
        client.shutDown()
        let late = Diary()
        #expect(late.send(client, "Why?") == nil && late.all == ["error  shutDown"])
    }

    @Test(arguments: ["", "ftp://a.test", "https://user@a.test", "https://a.test/\r\nX: y", "a.test"])
    func `An address that is none is refused`(address: String) throws {
        let client = try AskingClient()
        defer { client.shutDown() }
        let agents = ["a": AskingProvider.Agent(model: "m")]
        #expect(throws: AskingFailure.invalidProvider) {
            try client.register(.openAI(name: "p", baseURL: address, agents: agents, defaultAgent: "a"))
        }
        #expect(throws: AskingFailure.invalidProvider) {
            try client.register(.openAI(name: "p", baseURL: "https://a.test", agents: agents, defaultAgent: "b"))
        }
    }

    @Test func `The agent decides the model, and the key goes along`() throws {
        let provider = try FakeProvider()
        let client = try Self.client(provider)
        defer { client.shutDown() }
        for (agent, model) in [(nil, "m-small"), ("large", "m-large")] {
            let diary = Diary()
            #expect(diary.send(client, "Why?", agent: agent) != nil && diary.waitForEnd())
            #expect(diary.fullText == "ok")
            #expect(provider.calls.last?.json?["model"]?.string == model)
            #expect(provider.calls.last?.header("authorization") == "Bearer k")
        }
    }

    @Test func `A character cut by the provider comes whole`() throws {
        let text = "سلام 👩‍👩‍👧 é"
        let whole = OpenAIShapes.stream([text]).joined()
        let provider = try FakeProvider { _, _ in .events([.split(whole, every: 1)]) }
        let client = try Self.client(provider)
        defer { client.shutDown() }
        let diary = Diary()
        _ = diary.send(client, "Why?")
        #expect(diary.waitForEnd() && diary.fullText == text)
    }

    @Test func `A failure is one end, with the words before it told`() throws {
        let word = OpenAIShapes.event(OpenAIShapes.delta("half "))
        let provider = try FakeProvider { _, _ in .events([.send(word), .cut]) }
        let client = try Self.client(provider)
        defer { client.shutDown() }
        let diary = Diary()
        let id = try #require(diary.send(client, "Why?"))
        #expect(diary.waitForEnd() && diary.ends == ["error \(id) providerFailed"])
        #expect(diary.fullText == "half " && !diary.all.contains { $0.hasPrefix("final") })
    }

    @Test func `A cancelled question ends as cancelled, once, and closes its call`() throws {
        let word = OpenAIShapes.event(OpenAIShapes.delta("word "))
        let provider = try FakeProvider { _, _ in .events([.send(word), .hold(milliseconds: 60_000)]) }
        let client = try Self.client(provider)
        defer { client.shutDown() }
        let diary = Diary()
        // from inside a callback, twice
        let id = try #require(
            diary.send(client, "Why?") { id in
                client.cancel(id)
                client.cancel(id)
            })
        #expect(diary.waitForEnd() && provider.calls.first?.waitForEnd() == .peerClosed)
        client.cancel("nobody")
        #expect(diary.ends == ["error \(id) cancelled"])
    }

    @Test func `Shutting down ends what is on its way, also from a callback`() throws {
        let word = OpenAIShapes.event(OpenAIShapes.delta("word "))
        let provider = try FakeProvider { _, _ in .events([.send(word), .hold(milliseconds: 60_000)]) }
        for isInside in [false, true] {
            let client = try Self.client(provider)
            let diary = Diary()
            _ = diary.send(client, "Why?") { _ in if isInside { client.shutDown() } }
            #expect(Stopwatch.wait(upTo: .seconds(10)) { !diary.fullText.isEmpty })
            if !isInside { client.shutDown() }
            #expect(diary.waitForEnd() && diary.ends.count == 1 && diary.ends[0].hasSuffix("cancelled"))
        }
    }

    @Test func `A provider stands in for the one that is selected`() throws {
        let broken = try FakeProvider { _, _ in .body("{}", status: 401) }
        let client = try Self.client(broken)
        defer { client.shutDown() }
        try client.register(.demo())
        try client.select("main", fallbacks: ["demo"])
        let diary = Diary()
        _ = diary.send(client, "Who stands in?")
        #expect(diary.waitForEnd() && diary.fullText == "Who stands in?")
    }

    @Test func `The same comes as a sequence`() async throws {
        let client = try Self.client()
        defer { client.shutDown() }
        var updates: [AskingUpdate] = []
        for try await update in client.answers(to: "One. Two.") { updates.append(update) }
        #expect(updates.compactMap(\.deltaText).joined() == "One. Two." && updates.last?.isFinal == true)
        #expect(Set(updates.map(\.questionId)).count == 1)
        await #expect(throws: AskingFailure.emptyQuestion) {
            for try await _ in client.answers(to: " ") {}
        }
    }
}
