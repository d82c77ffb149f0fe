import Asking
import Foundation
import GatewayTesting
import Testing

/// The examples of docs/asking.md, compiled and run as they stand there.
@Suite("The examples of the documentation", .ownThread)
struct ExampleTests {
    @Test func `A question with callbacks and one as a sequence`() async throws {
        let client = try AskingClient()
        try client.register(.demo())
        try client.select("demo")

        client.send(
            question: "What moves the tides? The moon does.",
            onAnswer: { id, delta, full, isFinal in print(full ?? "") },
            onFinishAnswering: { id in print("done") },
            onError: { id, error in print("failed: \(error)") })

        var text = ""
        for try await update in client.answers(to: "What moves the tides? The moon does.") {
            print(update.deltaText ?? "", terminator: "")
            text += update.deltaText ?? ""
        }
        #expect(text == "What moves the tides? The moon does.")
        client.shutDown()
    }

    @Test func `A provider with keys and somebody to stand in`() throws {
        let client = try AskingClient()
        defer { client.shutDown() }
        try client.register(.demo())
        let (firstKey, secondKey) = ("one", "two")
        try client.register(
            .openAI(
                name: "main", baseURL: "https://api.example.com/v1", keys: [firstKey, secondKey],
                agents: ["tutor": .init(model: "small", instructions: "Explain to a child.")], defaultAgent: "tutor"))
        try client.select("main", fallbacks: ["demo"])
    }

    @Test func `Code of the app's own answers`() async throws {
        let client = try AskingClient()
        defer { client.shutDown() }
        struct Echo: AskingService {
            func answer(
                _ question: AskingQuestion, tell: @escaping @Sendable (_ text: String) async throws -> Void
            ) async throws {
                for word in question.text.split(separator: " ") { try await tell(word + " ") }
            }
        }

        try client.register(
            .service(name: "echo", Echo(), agents: ["echo": .init(model: "none")], defaultAgent: "echo"))
        try client.select("echo")
        var text = ""
        for try await update in client.answers(to: "What moves the tides?") { text = update.fullText ?? text }
        #expect(text == "What moves the tides? ")
    }

    @Test func `The documentation says what is run here`() throws {
        let file = URL(filePath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let here = try String(contentsOf: file, encoding: .utf8)
        let docs = try String(contentsOf: root.appending(path: "docs/asking.md"), encoding: .utf8)
        let blocks = docs.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        #expect(blocks.count == 4)
        for line in blocks.joined().split(separator: "\n") {
            #expect(here.contains(line.trimmingPrefix(while: \.isWhitespace)), "\(line)")
        }
    }
}
