import GatewayTypes
import JSON
import Testing

@testable import Asking

@Suite("Conversations in each dialect")
struct ConversationTests {
    private func request(_ history: [Turn], stop: [String] = []) -> AskRequest {
        var request = AskRequest.sample("now")
        request.prompt.history = history
        request.stop = stop.map { Array($0.utf8) }
        return request
    }

    private let history = [
        Turn(.assistant, Array("hello".utf8)), Turn(.user, Array("one \"".utf8)), Turn(.assistant, Array("two".utf8)),
    ]

    private func root(_ body: [UInt8]) throws -> JSONValue { try JSONDocument(parsing: body).root }

    @Test func `Chat completions get every turn between prompt and text`() throws {
        let root = try self.root(
            OpenAIRequest.body(for: self.request(self.history, stop: ["a", "b"]), options: .init()))
        let messages = try #require(root["messages"])
        #expect(messages.elements.map { $0["role"]?.string } == ["system", "assistant", "user", "assistant", "user"])
        #expect(messages.elements.map { $0["content"]?.string } == ["Be brief.", "hello", "one \"", "two", "now"])
        #expect(root["stop"]?.elements.map(\.string) == ["a", "b"])
    }

    @Test func `Messages begin with their user`() throws {
        let root = try self.root(
            AnthropicRequest.body(for: self.request(self.history, stop: ["a"]), options: .init()))
        let messages = try #require(root["messages"])
        #expect(messages.elements.map { $0["role"]?.string } == ["user", "assistant", "user"])
        #expect(messages.elements.map { $0["content"]?.string } == ["one \"", "two", "now"])
        #expect(root["stop_sequences"]?.elements.map(\.string) == ["a"])
    }

    @Test func `Contents call the assistant the model`() throws {
        let root = try self.root(GeminiRequest.body(for: self.request(self.history, stop: ["a"]), options: .init()))
        let contents = try #require(root["contents"])
        #expect(contents.elements.map { $0["role"]?.string } == ["user", "model", "user"])
        #expect(contents.elements.map { $0["parts"]?[0]?["text"]?.string } == ["one \"", "two", "now"])
        #expect(root["generationConfig"]?["stopSequences"]?.elements.map(\.string) == ["a"])
    }

    @Test func `Where nothing is to stop the model nothing is said of it`() throws {
        let request = self.request([])
        #expect(try self.root(OpenAIRequest.body(for: request, options: .init()))["stop"] == nil)
        #expect(try self.root(AnthropicRequest.body(for: request, options: .init()))["stop_sequences"] == nil)
        let gemini = try self.root(GeminiRequest.body(for: request, options: .init()))
        #expect(gemini["generationConfig"]?["stopSequences"] == nil)
    }

    @Test func `The embedded provider stops where it is told, and says when its cap cut it`() async throws {
        let provider = Provider(name: "demo", dialect: .demo(wordDelay: .seconds(0)))
        var request = AskRequest.sample("One two three. Four five six.", task: "summarize")
        request.stop = [Array(" three".utf8)]
        try await withBench { [request] bench in
            let stopped = try await bench.hear(provider, request: request)
            #expect(stopped.text == "One two" && stopped.end?.finish == .stop)
            var short = request
            short.stop = []
            short.outputCap = 2
            let cut = try await bench.hear(provider, request: short)
            #expect(cut.text == "One two" && cut.end?.finish == .length)
        }
    }
}
