import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// An answer that Node's EventSource reads over a network that breaks three times.
enum EventSourceStory {
    /// - Parameter others: where it is followed, one after the other.
    static func check(asked gateway: TestGateway, followed others: [TestGateway]) throws {
        let (caller, marker) = (Caller(), Caller.unique("node"))
        let words = (0..<60).map { "w\($0) " }
        let steps = words.flatMap {
            [ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta($0))), .hold(milliseconds: 30)]
        }
        let end = [OpenAIShapes.finish(), OpenAIShapes.usage(.init(10, 5)), "[DONE]"]
        let script = gateway.provider.script(marker, .events(steps + end.map { .send(OpenAIShapes.event($0)) }))
        let answer = try gateway.lose(Ask(marker, task: "kept", stream: true), after: 1, as: caller)
        let told = try Clients.returningEventSource(
            of: try #require(answer.question), at: others, as: caller, losses: 3)
        #expect(told["losses"]?.int == 3 && (told["connections"]?.int ?? 0) >= 4)
        let events = Array(try #require(told["events"]?.elements))
        let text = events.filter { $0["type"]?.string == "answer" }.compactMap { $0["data"]?.string }
            .compactMap { try? JSONDocument(parsing: Array($0.utf8)).root["deltaText"]?.string }.joined()
        #expect(text == words.joined())
        #expect(events.first?["type"]?.string == "start" && events.last?["type"]?.string == "finish")
        #expect(Set(events.compactMap { $0["id"]?.string }).count == events.count)
        #expect(script.calls.count == 1)
        #expect(try gateway.charged(to: caller) == 15)
    }
}
