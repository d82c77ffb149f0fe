import Asking
import GatewayTesting
import GatewayTypes
import Synchronization
import Testing

/// A service that does what a test says.
private struct Scripted: AskingService {
    let body: @Sendable (AskingQuestion, @escaping @Sendable (String) async throws -> Void) async throws -> Void

    func answer(
        _ question: AskingQuestion, tell: @escaping @Sendable (_ text: String) async throws -> Void
    ) async throws {
        try await self.body(question, tell)
    }
}

@Suite("Services of an app's own", .ownThread)
struct ServiceTests {
    private static func client(
        _ body:
            @escaping @Sendable (AskingQuestion, @escaping @Sendable (String) async throws -> Void) async throws ->
            Void
    ) throws -> AskingClient {
        let client = try AskingClient()
        let agents = ["local": AskingProvider.Agent(model: "m-local", instructions: "Be brief.", temperature: 1)]
        try client.register(.service(name: "own", Scripted(body: body), agents: agents, defaultAgent: "local"))
        try client.register(.demo())
        try client.select("own")
        return client
    }

    @Test func `A service answers piece by piece, and is told what is asked`() throws {
        let asked = Box<AskingQuestion?>(nil)
        let client = try Self.client { question, tell in
            asked.change { $0 = question }
            for word in ["سلام ", "", "dear ", "reader"] { try await tell(word) }
        }
        defer { client.shutDown() }
        let diary = Diary()
        let id = try #require(diary.send(client, " Why?\n"))
        #expect(diary.waitForEnd() && diary.fullText == "سلام dear reader" && diary.ends == ["finish \(id)"])
        #expect(asked.now?.text == "Why?" && asked.now?.model == "m-local" && asked.now?.instructions == "Be brief.")
        #expect(asked.now?.temperature == 1 && asked.now?.maxOutputTokens == 1200)
        #expect(diary.callers.count == 1)
    }

    @Test(
        arguments: [
            (.overloaded(retryAfterSeconds: 7), .overloaded(retryAfterSeconds: 7)), (.timedOut, .timedOut),
            (.emptyAnswer, .emptyAnswer), (.noProvider, .providerFailed), (nil, .providerFailed),
        ] as [(AskingFailure?, AskingFailure)])
    func `What a service throws is told in the app's words`(thrown: AskingFailure?, wanted: AskingFailure) throws {
        struct Other: Error {}
        let client = try Self.client { _, _ in
            if let thrown { throw thrown } else { throw Other() }
        }
        defer { client.shutDown() }
        let diary = Diary()
        let id = try #require(diary.send(client, "Why?"))
        #expect(diary.waitForEnd() && diary.all == ["error \(id) \(wanted)"])
    }

    @Test func `A service that says nothing at all is a failure`() throws {
        let client = try Self.client { _, tell in try await tell(" \n") }
        defer { client.shutDown() }
        let diary = Diary()
        let id = try #require(diary.send(client, "Why?"))
        #expect(diary.waitForEnd() && diary.ends == ["error \(id) emptyAnswer"])
    }

    @Test func `Another provider stands in before the first word, and nobody behind it`() throws {
        for isEarly in [true, false] {
            let client = try Self.client { _, tell in
                if !isEarly { try await tell("half ") }
                throw AskingFailure.timedOut
            }
            defer { client.shutDown() }
            try client.select("own", fallbacks: ["demo"])
            let diary = Diary()
            #expect(diary.send(client, "Who?") != nil && diary.waitForEnd())
            if isEarly {
                // The demo provider has no agent of that name, but the question named none.
                #expect(diary.fullText == "Who?" && diary.ends[0].hasPrefix("finish"))
            } else {
                #expect(diary.fullText == "half " && diary.ends[0].hasSuffix("timedOut"))
            }
        }
    }

    @Test(arguments: [true, false])
    func `A question that is over ends its service, which hears of it`(byShutDown: Bool) throws {
        let told = Box<Bool?>(nil)
        let client = try Self.client { _, tell in
            try await tell("first ")
            do {
                while true {
                    try await tell("more ")
                    try await Task.sleep(for: .milliseconds(1))
                }
            } catch {
                told.change { $0 = Task.isCancelled }
                throw error
            }
        }
        defer { client.shutDown() }
        let diary = Diary()
        let id = try #require(diary.send(client, "Why?"))
        #expect(Stopwatch.wait(upTo: .seconds(10)) { !diary.fullText.isEmpty })
        if byShutDown { client.shutDown() } else { client.cancel(id) }
        #expect(diary.waitForEnd() && diary.ends == ["error \(id) cancelled"])
        #expect(told.becomes { $0 != nil })
    }
}
