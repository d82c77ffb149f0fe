import GatewayTesting
import GatewayTypes
import Glibc
import JSON
import Testing

/// The unmodified OpenAI client library as an app uses it.
@Suite(
    "OpenAI's client library", .oneOfFewThreads, .gateway(),
    .enabled(
        if: LlamaServer.isInstalled || getenv("CI") != nil, "needs the Python environment of Scripts/setup --tests"))
struct OpenAILibraryTests {
    private func play(_ name: String, _ argument: String = "{}", as caller: Caller = Caller()) throws -> JSONValue {
        try Clients.openAI(name, argument, of: try TestGateway.current, as: caller)
    }

    /// An argument with one message that holds the marker, so that the provider finds its script.
    private func argument(_ marker: String, more: String = "") -> String {
        #"{"messages":[{"role":"user","content":"The harbour opened at dawn. \#(marker)"}]\#(more)}"#
    }

    @Test func `Models are listed and found`() throws {
        let told = try self.play("models", #"{"id":"titles"}"#)
        #expect(told["ids"]?.strings.contains("summarize") == true && told["one"]?.string == "titles")
    }

    @Test func `A plain answer is a typed one, with usage and the request's id`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("plain")
        _ = gateway.provider.script(marker, .answer("Tides rise.", usage: .init(20, 3)))
        let told = try self.play("plain", self.argument(marker))
        #expect(told["text"]?.string == "Tides rise." && told["role"]?.string == "assistant")
        #expect(told["finish"]?.string == "stop" && told["usage"]?["total_tokens"]?.int == 23)
        #expect(told["id"]?.string == told["request_id"]?.string.map { "chatcmpl-\($0)" })
        #expect(told["model"]?.string == "summarize" && (told["created"]?.int ?? 0) > 1_700_000_000)
    }

    @Test(arguments: [false, true])
    func `A stream is read to its end, with usage for those who ask`(usage: Bool) throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("stream")
        _ = gateway.provider.script(marker, .stream(["Tides", " rise", "\n\nدو"], usage: .init(20, 3)))
        let more = usage ? #","stream_options":{"include_usage":true}"# : ""
        let told = try self.play("stream", self.argument(marker, more: more))
        #expect(told["text"]?.string == "Tides rise\n\nدو")
        #expect(told["roles"]?.strings == ["assistant"] && told["finish"]?.strings == ["stop"])
        #expect(told["empty"]?.int == (usage ? 1 : 0) && told["usages"]?.int == (usage ? 1 : 0))
        #expect(told["usage"]?["total_tokens"]?.int == (usage ? 23 : nil))
        #expect(told["ids"]?.count == 1 && told["models"]?.strings == ["summarize"])
    }

    @Test func `The library's own gathering of a stream has the whole text`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("helper")
        _ = gateway.provider.script(marker, .stream(["Tides", " rise"]))
        let told = try self.play("helper", self.argument(marker))
        #expect(told["text"]?.string == "Tides rise" && told["finish"]?.string == "stop")
    }

    @Test func `Plain and streamed asks run side by side on one asynchronous client`() throws {
        let told = try self.play("parallel")
        #expect(told["texts"]?.strings == Array(repeating: "ok", count: 8))
    }

    @Test func `A conversation and parts of text are taken`() throws {
        let told = try self.play(
            "plain",
            #"{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Yes?"},"#
                + #"{"role":"user","content":[{"type":"text","text":"Why do the tides rise twice a day?"}]}],"#
                + #""max_completion_tokens":50,"temperature":0,"stop":["END"],"user":"u-1","n":1}"#)
        #expect(told["text"]?.string == "ok")
    }

    @Test func `A stream that breaks raises an error behind its text`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("breaks")
        let words = ["One", " two"].map { ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta($0))) }
        _ = gateway.provider.script(marker, .events(words + [.hold(milliseconds: 50), .cut]))
        let told = try self.play("broken", self.argument(marker))
        #expect(told["text"]?.string == "One two")
        #expect(told["error"]?["class"]?.string == "APIError" && told["error"]?["code"]?.string == "provider_failed")
    }

    @Test func `Each refusal is the class that apps catch`() throws {
        let cases: [(argument: String, caller: Caller, type: String, status: Int, code: String)] = [
            (#"{"model":"gpt-4o"}"#, Caller(), "NotFoundError", 404, "model_not_found"),
            (#"{"token":"not-a-token"}"#, Caller(), "AuthenticationError", 401, "unauthenticated"),
            (#"{"n":3}"#, Caller(), "BadRequestError", 400, "invalid_request"),
            (#"{"model":"scoped"}"#, Caller(), "PermissionDeniedError", 403, "insufficient_scope"),
            (#"{}"#, Caller("rpm-0"), "RateLimitError", 429, "requests_per_minute_exceeded"),
            (#"{}"#, Caller("day-0"), "RateLimitError", 429, "tokens_per_day_exceeded"),
        ]
        for (argument, caller, type, status, code) in cases {
            for stream in [false, true] {
                let argument =
                    stream ? argument.dropLast() + (argument == "{}" ? "" : ",") + #""stream":true}"# : argument
                let told = try self.play("error", argument, as: caller)
                #expect(told["class"]?.string == type, "\(argument)")
                #expect(told["status_code"]?.int == status && told["code"]?.string == code, "\(argument)")
                #expect(told["request_id"]?.string != nil && told["message"]?.string?.isEmpty == false)
                if status == 429 { #expect(told["headers"]?["retry-after"]?.string != nil) }
            }
        }
    }

    @Test func `An ask refused for the minute is tried again by the library, one refused for the day is not`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("retried")
        let script = gateway.provider.script(
            marker, .body("{}", status: 503, headers: [("Retry-After", "1")]), .answer("now"))
        let told = try self.play("retried", self.argument(marker, more: #","options":{"max_retries":2}"#))
        #expect(told["text"]?.string == "now" && script.calls.count == 2)
        #expect((told["seconds"]?.number ?? 0) >= 0.9, "the wait was not kept")
        // Waiting for midnight inside an app helps nobody.
        let day = try self.play("error", #"{"options":{"max_retries":2}}"#, as: Caller("day-0"))
        #expect(day["class"]?.string == "RateLimitError" && (day["seconds"]?.number ?? 99) < 5)
        #expect(day["headers"]?["x-should-retry"]?.string == "false")
    }

    @Test func `A client that gives up in time frees its place`() throws {
        let gateway = try TestGateway.current
        let (caller, marker) = (Caller("conc-1"), Caller.unique("impatient"))
        let script = gateway.provider.script(marker, .answer(delay: 60_000))
        let told = try self.play(
            "error", self.argument(marker, more: #","options":{"timeout":0.5}"#), as: caller)
        #expect(told["class"]?.string == "APITimeoutError")
        #expect(try gateway.isIdle(caller))
        #expect(script.calls.first?.waitForEnd(within: .seconds(15)) == .peerClosed)
    }

    @Test func `A stream that an app closes frees its place and ends the provider's call`() throws {
        let gateway = try TestGateway.current
        let (caller, marker) = (Caller("conc-1"), Caller.unique("closes"))
        let words = (0..<2000).flatMap { _ in
            [ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta("word "))), .hold(milliseconds: 20)]
        }
        let script = gateway.provider.script(marker, .events(words))
        #expect(try self.play("hangs_up", self.argument(marker), as: caller)["seen"]?.int == 3)
        #expect(try gateway.isIdle(caller))
        #expect(script.calls.first?.waitForEnd(within: .seconds(15)) == .peerClosed)
    }

    @Test func `A real model answers through the library, plain, streamed and at once`() throws {
        let model = try LlamaServer()
        var settings = GatewaySettings()
        settings.providerURL = model.baseURL
        settings.providerTimeouts = "{connect: 10s, first_byte: 120s, idle: 120s, total: 170s}"
        settings.tasks = ["brief: {builtin: answer, max_output_tokens: 16, routes: [{provider: main, model: smollm2}]}"]
        let gateway = try TestGateway(settings)
        let caller = Caller()
        let plain = try Clients.openAI("plain", #"{"model":"brief","temperature":0}"#, of: gateway, as: caller)
        let output = try #require(plain["usage"]?["completion_tokens"]?.int)
        #expect(plain["text"]?.string?.isEmpty == false && (1...16).contains(output))
        let streamed = try Clients.openAI(
            "stream", #"{"model":"brief","temperature":0,"stream_options":{"include_usage":true}}"#, of: gateway,
            as: caller)
        #expect(streamed["text"]?.string?.isEmpty == false)
        let usage = try #require(streamed["usage"])
        #expect(usage["prompt_tokens"]?.int == plain["usage"]?["prompt_tokens"]?.int)
        let total = (plain["usage"]?["total_tokens"]?.int ?? 0) + (usage["total_tokens"]?.int ?? 0)
        #expect(try gateway.charged(to: caller) == total)
        let parallel = try Clients.openAI(
            "parallel", #"{"model":"brief","max_tokens":4}"#, of: gateway, as: caller)
        #expect(parallel["texts"]?.strings.filter { !$0.isEmpty }.count == 8)
    }
}

/// Node's EventSource and curl on the answers of every asking route.
@Suite(
    "Readers of event streams that others wrote", .oneOfFewThreads, .gateway(.questions),
    .enabled(
        if: LlamaServer.isInstalled || getenv("CI") != nil, "needs the Python environment of Scripts/setup --tests"))
struct EventSourceTests {
    private func read(_ path: String, _ body: String) throws -> [JSONValue] {
        let told = try Clients.eventSource(path: path, body: body, of: try TestGateway.current, as: Caller())
        #expect(told["opened"]?.bool == true)
        return try #require(told["events"]).elements.map { $0 }
    }

    @Test(arguments: ["/api/process", "/v1/questions"])
    func `Our own events arrive under their names, in order`(path: String) throws {
        let marker = Caller.unique("node")
        _ = try TestGateway.current.provider.script(marker, .stream(["One", "\n\ndata: two", "سه"]))
        let text = "The harbour opened at dawn. \(marker)"
        let body =
            path == "/v1/questions"
            ? #"{"question":"\#(text)","stream":true}"# : #"{"task":"summarize","text":"\#(text)","stream":true}"#
        let events = try self.read(path, body)
        #expect(events.compactMap { $0["type"]?.string } == ["start", "answer", "answer", "answer", "finish"])
        let deltas = try events.map { try JSONDocument(parsing: Array(($0["data"]?.string ?? "").utf8)).root }
        #expect(deltas.compactMap { $0["deltaText"]?.string }.joined() == "One\n\ndata: twoسه")
        #expect(events.allSatisfy { $0["id"]?.string == "" })
    }

    @Test func `Chunks arrive as messages, the mark last`() throws {
        let marker = Caller.unique("node")
        _ = try TestGateway.current.provider.script(marker, .stream(["One", " two"]))
        let events = try self.read("/v1/chat/completions", TestGateway.chatBody(marker, more: #","stream":true"#))
        #expect(events.allSatisfy { $0["type"]?.string == "message" })
        #expect(events.last?["data"]?.string == "[DONE]" && events.count == 5)
    }

    @Test func `curl shows the same bytes, and fails where a stream breaks`() throws {
        let gateway = try TestGateway.current
        let (whole, broken) = (Caller.unique("curl"), Caller.unique("curl"))
        _ = gateway.provider.script(whole, .stream(["One", " two"]))
        let word = ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta("One")))
        _ = gateway.provider.script(broken, .events([word, .hold(milliseconds: 50), .cut]))
        for (marker, code, end) in [(whole, 0, "data: [DONE]\n\n"), (broken, 18, "}}\n\n")] {
            let result = try ChildProcess.run(
                "curl",
                [
                    "-sSN", "http://127.0.0.1:\(gateway.process.port)/v1/chat/completions", "-H",
                    "Authorization: Bearer \(Caller().token)", "-H", "Content-Type: application/json", "-d",
                    TestGateway.chatBody(marker, more: #","stream":true"#),
                ])
            #expect(result.code == code, "\(result.errors)")
            #expect(result.output.hasPrefix("data: {") && result.output.hasSuffix(end))
            #expect(result.output.contains("[DONE]") == (code == 0))
        }
    }
}
