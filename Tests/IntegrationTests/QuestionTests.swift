import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("Questions", .oneOfFewThreads, .gateway(.questions))
struct QuestionTests {
    private func ask(
        _ body: String, as caller: Caller = Caller(), on gateway: TestGateway
    ) throws -> HTTPResponse {
        try gateway.post(body, as: caller, path: "/v1/questions")
    }

    @Test func `A question is answered by the default agent, and told by its id`() throws {
        let gateway = try TestGateway.current
        let (caller, marker) = (Caller(), Caller.unique("question"))
        let script = gateway.provider.script(marker, .answer("By the moon.", usage: .init(11, 4)))
        let response = try self.ask(#"{"question":"Why? \#(marker)"}"#, as: caller, on: gateway)
        try #require(response.status == 200, "\(response.text)")
        #expect(response.json?["answer"]?.string == "By the moon.")
        #expect(response.json?["questionId"]?.string == response.header("x-request-id"))
        #expect(response.json?["usage"]?["totalTokens"]?.int == 15)
        #expect(script.calls.first?.json?["model"]?.string == "m-answer")
        #expect(try gateway.charged(to: caller) == 15)
    }

    @Test func `Another agent is asked by its name, streamed with the same events as a task`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("agent")
        let script = gateway.provider.script(marker, .stream(["By", " tides"]))
        let client = try gateway.client()
        try client.request(
            "POST", "/v1/questions",
            headers: [("Content-Type", "application/json"), Caller().authorization],
            body: Array(#"{"question":"How? \#(marker)","agent":"sailor","stream":true}"#.utf8))
        var answer = Answer(response: try client.head())
        gateway.readEvents(of: &answer, on: client)
        answer.checkStream()
        #expect(answer.text == "By tides" && answer.isFinished)
        #expect(answer.events.first?.json?["questionId"]?.string == answer.requestID)
        #expect(script.calls.first?.json?["model"]?.string == "m-sailor")
    }

    @Test(arguments: [
        (#"{}"#, "invalid_request"), (#"{"question":7}"#, "invalid_request"), (#"{"question":" "}"#, "text_too_short"),
        (#"{"question":"Why?","agent":"nobody"}"#, "unknown_task"),
        (#"{"question":"Why?","agent":7}"#, "invalid_request"),
        (#"{"question":"Why?","model":"gpt"}"#, "model_not_selectable"),
    ])
    func `A question that cannot be asked is refused with its code`(body: String, code: String) throws {
        let response = try self.ask(body, on: try TestGateway.current)
        #expect(response.status == 400 && response.json?["code"]?.string == code)
        #expect(response.header("content-type") == "application/problem+json")
    }
}

extension GatewaySettings {
    /// With two agents, one of them the default.
    static var questions: Self {
        var settings = Self()
        settings.tasks += [
            "answer: {routes: [{provider: main, model: m-answer}]}",
            "sailor: {prompt: {instruction: Answer as a sailor.}, text: {min_characters: 1}, "
                + "routes: [{provider: main, model: m-sailor}]}",
        ]
        return settings
    }
}
