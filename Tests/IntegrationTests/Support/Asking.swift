import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// The body of `POST /api/process`.
struct Ask: Sendable {
    var task = "summarize"
    var text: String
    var stream = false
    /// Further members as JSON, each behind a comma.
    var more = ""

    /// An ask of enough words whose text holds the marker.
    init(_ marker: String, task: String = "summarize", stream: Bool = false) {
        self.task = task
        self.text = "The harbour opened at dawn. \(marker)"
        self.stream = stream
    }

    init(text: String, task: String = "summarize", stream: Bool = false) {
        self.task = task
        self.text = text
        self.stream = stream
    }

    var json: String {
        #"{"task":\#(OpenAIShapes.quoted(self.task)),"text":\#(OpenAIShapes.quoted(self.text))"#
            + (self.stream ? #","stream":true"# : "") + self.more + "}"
    }
}

/// What came of an ask.
struct Answer {
    var response: HTTPResponse
    /// Events in order, comments left out; empty where the answer was not streamed.
    var events: [StreamEvent] = []
    /// The body ended without its orderly end.
    var isCut = false

    var status: Int { self.response.status }
    var isStream: Bool { self.response.header("content-type")?.hasPrefix("text/event-stream") == true }
    /// The code of the problem, in the body or in the stream.
    var code: String? { (self.event("error")?.json ?? self.response.json)?["code"]?.string }
    var requestID: String? { self.response.header("x-request-id") }

    /// The whole text.
    var text: String {
        guard self.isStream else { return self.response.json?["result"]?.string ?? "" }
        return self.events.filter { $0.name == "answer" }.compactMap { $0.json?["deltaText"]?.string }.joined()
    }

    var usage: JSONValue? { (self.event("finish")?.json ?? self.response.json)?["usage"] }
    var totalTokens: Int? { self.usage?["totalTokens"]?.int }
    var isFinished: Bool { self.events.last?.name == "finish" }

    func event(_ name: String) -> StreamEvent? { self.events.first { $0.name == name } }

    /// The promises that hold for every stream: `start` first, one end and nothing behind it, one question id, and a
    /// body that ends in order just when the answer is whole.
    func checkStream(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.events.first?.name == "start", sourceLocation: sourceLocation)
        let ends = self.events.filter { $0.name == "finish" || $0.name == "error" }
        #expect(ends.count == 1, sourceLocation: sourceLocation)
        #expect(self.events.last?.name == ends.first?.name, sourceLocation: sourceLocation)
        #expect(Set(self.events.map { $0.json?["questionId"]?.string }).count == 1, sourceLocation: sourceLocation)
        #expect(self.events.allSatisfy { $0.json != nil }, sourceLocation: sourceLocation)
        // A broken answer must not look whole to a client that reads no events, either.
        #expect(self.isCut == (ends.first?.name == "error"), sourceLocation: sourceLocation)
    }
}

/// Where one limit stands for a caller.
struct Standing: Equatable {
    var limit: Int
    var remaining: Int
    var reset: Int
    var used: Int { self.limit - self.remaining }
}

extension TestGateway {
    /// Sends raw bytes as a body of `POST /api/process`.
    func post(
        _ body: String, as caller: Caller?, path: String = "/api/process",
        headers: [(name: String, value: String)] = [], on client: RawClient? = nil
    ) throws -> HTTPResponse {
        try self.post(Array(body.utf8), as: caller, path: path, headers: headers, on: client)
    }

    func post(
        _ body: [UInt8], as caller: Caller?, path: String = "/api/process",
        headers: [(name: String, value: String)] = [], on client: RawClient? = nil
    ) throws -> HTTPResponse {
        let client = try client ?? self.client()
        try client.request(
            "POST", path,
            headers: [("Content-Type", "application/json")] + (caller.map { [$0.authorization] } ?? []) + headers,
            body: body)
        return try #require(try client.response(), "closed without an answer")
    }

    /// Asks, and reads the answer to its end.
    func ask(
        _ ask: Ask, as caller: Caller = Caller(), headers: [(name: String, value: String)] = [],
        on client: RawClient? = nil
    ) throws -> Answer {
        let client = try client ?? self.client()
        var answer = try self.begin(ask, as: caller, headers: headers, on: client)
        if answer.isStream {
            self.readEvents(of: &answer, on: client)
        } else {
            while let piece = try client.piece() { answer.response.body += piece }
        }
        return answer
    }

    /// Reads what is left of a stream, to whichever end.
    func readEvents(of answer: inout Answer, on client: RawClient) {
        do throws(MessageFault) {
            while let event = try client.event() { if !event.isComment { answer.events.append(event) } }
        } catch {
            answer.isCut = true
        }
    }

    /// Sends the ask and reads the head of its answer.
    func begin(
        _ ask: Ask, as caller: Caller, headers: [(name: String, value: String)] = [], on client: RawClient
    ) throws -> Answer {
        try self.send(ask, as: caller, headers: headers, on: client)
        return Answer(response: try client.head())
    }

    /// Sends the ask and reads nothing.
    func send(
        _ ask: Ask, as caller: Caller, headers: [(name: String, value: String)] = [], on client: RawClient
    ) throws {
        try client.request(
            "POST", "/api/process",
            headers: [("Content-Type", "application/json"), caller.authorization] + headers, body: Array(ask.json.utf8))
    }

    /// Where the caller's limits stand, by name; limits of its own scope only.
    func quota(_ caller: Caller) throws -> [String: Standing] {
        let client = try self.client()
        try client.request("GET", "/v1/quota", headers: [caller.authorization])
        let response = try #require(try client.response())
        try #require(response.status == 200, "\(response.text)")
        var standings: [String: Standing] = [:]
        for limit in try #require(response.json?["limits"]).elements where limit["scope"]?.string == "subject" {
            let name = try #require(limit["name"]?.string)
            standings[name] = Standing(
                limit: try #require(limit["limit"]?.int), remaining: try #require(limit["remaining"]?.int),
                reset: try #require(limit["resetSeconds"]?.int))
        }
        return standings
    }

    /// How much of a limit the caller has used.
    func used(_ name: String, by caller: Caller) throws -> Int {
        try #require(try self.quota(caller)[name], "no limit \(name)").used
    }

    /// Tokens charged to the caller today, once nothing of it runs any more.
    func charged(to caller: Caller) throws -> Int {
        #expect(try self.isIdle(caller), "an ask still holds its slot")
        return try self.used("tokens_per_day", by: caller)
    }

    /// Whether no ask of the caller holds a slot, within the time.
    func isIdle(_ caller: Caller, within limit: TimeSpan = .seconds(10)) throws -> Bool {
        try Stopwatch.wait(upTo: limit, every: 20) { try self.used("concurrent_requests", by: caller) == 0 }
    }

    /// The bare facts of a caller's counters, to see that an ask moved nothing.
    func counters(_ caller: Caller) throws -> [String: Int] { try self.quota(caller).mapValues(\.used) }
}
