import GatewayTesting
import GatewayTypes
import JSON
import Testing

extension GatewaySettings {
    /// With tasks whose answers outlive their connections.
    static var resuming: Self {
        var settings = Self()
        let text = "builtin: summarize, text: {min_characters: 1}"
        settings.tasks += [
            "kept: {\(text), resume: {keep: 30s, bytes: 64KiB, grace: 20s}, routes: [{provider: main, model: m-k}]}",
            "brief: {\(text), resume: {keep: 1s, grace: 0s}, routes: [{provider: main, model: m-b}]}",
            "narrow: {\(text), resume: {bytes: 1KiB}, routes: [{provider: main, model: m-n}]}",
            "both: {\(text), resume: {keep: 30s}, cache: {ttl: 1h}, routes: [{provider: main, model: m-c}]}",
            "patient: {\(text), resume: {grace: 0s}, on_disconnect: finish, routes: [{provider: main, model: m-p}]}",
        ]
        return settings
    }
}

extension TestGateway {
    /// Reads a question on from an event, as far as it goes.
    ///
    /// - Parameter last: the `id` of the last event that came; nil from the start.
    func follow(_ question: String, behind last: String? = nil, as caller: Caller) throws -> Answer {
        let client = try self.client()
        defer { client.close() }
        var answer = try self.beginFollowing(question, behind: last, as: caller, on: client)
        if answer.isStream {
            self.readEvents(of: &answer, on: client)
        } else if answer.status != 204 {
            while let piece = try client.piece() { answer.response.body += piece }
        }
        return answer
    }

    func beginFollowing(
        _ question: String, behind last: String? = nil, as caller: Caller, on client: RawClient
    ) throws -> Answer {
        let headers = [caller.authorization] + (last.map { [("Last-Event-ID", $0)] } ?? [])
        try client.request("GET", "/v1/questions/\(question)", headers: headers)
        return Answer(response: try client.head())
    }

    /// The status of cancelling a question.
    func cancel(_ question: String, as caller: Caller) throws -> Int {
        let client = try self.client()
        defer { client.close() }
        try client.request("DELETE", "/v1/questions/\(question)", headers: [caller.authorization])
        return try #require(try client.response()).status
    }

    /// Begins an answer, reads so many events of it and loses the network.
    func lose(
        _ ask: Ask, after events: Int, as caller: Caller, headers: [(name: String, value: String)] = []
    ) throws -> Answer {
        let client = try self.client()
        defer { client.close(reset: true) }
        var answer = try self.begin(ask, as: caller, headers: headers, on: client)
        try self.read(events, into: &answer, on: client)
        return answer
    }

    /// Reads so many more events.
    func read(_ count: Int, into answer: inout Answer, on client: RawClient) throws {
        for _ in 0..<count { answer.events.append(try #require(try client.event())) }
    }
}

extension Answer {
    var question: String? { self.events.first?.json?["questionId"]?.string }
    var last: String? { self.events.last?.id }
    /// The numbers behind the question in the events' identifiers.
    var numbers: [Int] { self.events.map { $0.id?.split(separator: "-").last.flatMap { Int($0) } ?? -1 } }
}

extension ProviderReply {
    /// A stream whose words come one at a time, each when the test lets it.
    static func gated(_ words: [String], _ gates: [Gate]) -> Self {
        let steps = zip(words, gates).flatMap { word, gate -> [ProviderStep] in
            [.send(OpenAIShapes.event(OpenAIShapes.delta(word))), .wait(gate)]
        }
        let end = [OpenAIShapes.finish(), OpenAIShapes.usage(.init(10, 5)), "[DONE]"]
        return .events(steps + end.map { .send(OpenAIShapes.event($0)) })
    }
}
