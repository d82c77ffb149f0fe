import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("Answers of providers", .oneOfFewThreads, .gateway())
struct ProviderAnswerTests {
    private static let word = OpenAIShapes.event(OpenAIShapes.delta("Hi"))
    private static let done = ProviderStep.send("data: [DONE]\n\n")

    /// One ask whose provider replies so; the answer, and what it was charged.
    private func ask(
        _ reply: ProviderReply, stream: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (answer: Answer, charged: Int) {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("provider")
        let script = gateway.provider.script(marker, reply)
        let answer = try gateway.ask(Ask(marker, stream: stream), as: caller)
        #expect(script.calls.count == 1, sourceLocation: sourceLocation)
        return (answer, try gateway.charged(to: caller))
    }

    @Test func `A call carries what the server decided and no more`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("call")
        let script = gateway.provider.script(marker)
        for stream in [false, true] { #expect(try gateway.ask(Ask(marker, stream: stream)).status == 200) }
        #expect(try gateway.ask(Ask(marker, task: "titles")).status == 200)
        let bodies = try script.calls.map { try #require($0.json) }
        #expect(script.calls.allSatisfy { $0.method == "POST" && $0.target == "/v1/chat/completions" })
        #expect(script.calls.allSatisfy { $0.header("content-type") == "application/json" })
        #expect(bodies.map { $0["model"]?.string } == ["m-summarize", "m-summarize", "m-titles"])
        #expect(bodies.map { $0["temperature"]?.number } == [0.2, 0.2, 0.7])
        #expect(bodies[1]["stream"]?.bool == true)
        #expect(bodies[1]["stream_options"]?["include_usage"]?.bool == true)
        #expect(bodies[0]["stream"]?.bool != true)
        #expect(bodies[0]["messages"]?.count == 2)
        #expect(bodies[0]["messages"]?[0]?["role"]?.string == "system")
        #expect(bodies[0]["messages"]?[1]?["role"]?.string == "user")
    }

    @Test func `Connections to the provider are used again`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let marker = Caller.unique("reuse")
        let script = gateway.provider.script(marker)
        let client = try gateway.client()
        for number in 0..<20 { _ = try gateway.ask(Ask(marker, stream: number % 2 == 1), as: caller, on: client) }
        // Other tests ask at the same time, so a call may find another connection free than the one before it.
        #expect(Set(script.calls.map(\.connection)).count <= 10)
    }

    @Test(arguments: [
        (
            "in a chunk without choices",
            [word, OpenAIShapes.event(OpenAIShapes.finish()), OpenAIShapes.event(OpenAIShapes.usage(.init(19, 8)))]
        ),
        (
            "on the last chunk with choices",
            [word, OpenAIShapes.event(OpenAIShapes.finish(usage: OpenAIShapes.Usage(19, 8).json))]
        ),
        (
            "on an empty delta behind the end",
            [
                word, OpenAIShapes.event(OpenAIShapes.finish()),
                OpenAIShapes.event(
                    OpenAIShapes.delta(
                        "",
                        usage:
                            #"{"prompt_tokens":19,"completion_tokens":8,"total_tokens":27,"completion_tokens_details":{"reasoning_tokens":6}}"#
                    )),
            ]
        ),
        (
            "repeated and growing",
            [
                OpenAIShapes.event(OpenAIShapes.delta("H", usage: OpenAIShapes.Usage(19, 1).json)),
                OpenAIShapes.event(OpenAIShapes.delta("i", usage: OpenAIShapes.Usage(19, 4).json)),
                OpenAIShapes.event(OpenAIShapes.finish(usage: OpenAIShapes.Usage(19, 8).json)),
            ]
        ),
        (
            "repeated as it was",
            [
                word, OpenAIShapes.event(OpenAIShapes.finish(usage: OpenAIShapes.Usage(19, 8).json)),
                OpenAIShapes.event(OpenAIShapes.usage(.init(19, 8))),
            ]
        ),
        (
            "null before it",
            [
                OpenAIShapes.event(OpenAIShapes.delta("Hi", usage: "null")),
                OpenAIShapes.event(OpenAIShapes.finish(usage: "null")),
                OpenAIShapes.event(OpenAIShapes.usage(.init(19, 8))),
            ]
        ),
    ])
    func `Usage is found wherever it stands, and counted once`(place: String, events: [String]) throws {
        let (answer, charged) = try self.ask(.events(events.map { .send($0) } + [Self.done]), stream: true)
        answer.checkStream()
        #expect(answer.text == "Hi")
        #expect(charged == 27)
        #expect(answer.usage?["inputTokens"]?.int == 19)
        #expect(answer.usage?["outputTokens"]?.int == 8)
    }

    @Test func `Odd chunks do not break an answer`() throws {
        let odd = [
            #"{"id":null,"created":1750000000.5,"model":null,"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}"#,
            #"{"usage":{"prompt_tokens":10,"completion_tokens":0,"total_tokens":10}}"#, #"{"choices":[{"index":0}]}"#,
            #"{"choices":null}"#, #"{"choices":[{"delta":{"content":"a"},"logprobs":{"x":[1,2]},"finish_reason":""}]}"#,
            #"{"choices":[{"index":"0","delta":{"content":"b","refusal":null,"reasoning_content":"hidden"}}],"x_vendor":{"id":1}}"#,
            #"{}"#, #"{"choices":[{"index":0,"delta":null}]}"#, #"{"choices":[{"index":0,"delta":{"content":""}}]}"#,
        ].map { ProviderStep.send(OpenAIShapes.event($0)) }
        let (answer, charged) = try self.ask(.events(odd + OpenAIShapes.stream([]).map { .send($0) }), stream: true)
        answer.checkStream()
        #expect(answer.text == "ab")
        #expect(answer.isFinished)
        #expect(charged == 15)
    }

    @Test(
        arguments: [
            (
                "whole numbers written as fractions",
                #"{"prompt_tokens":12.0,"completion_tokens":3.0,"total_tokens":15.0}"#, 15
            ),
            ("with an exponent", #"{"prompt_tokens":1e1,"completion_tokens":5,"total_tokens":1.5e1}"#, 15),
            ("no total", #"{"prompt_tokens":10,"completion_tokens":5}"#, 15),
            ("more in the total", #"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":40}"#, 40),
            ("negative", #"{"prompt_tokens":-10,"completion_tokens":-5,"total_tokens":-15}"#, nil),
            (
                "beyond 64 bits",
                #"{"prompt_tokens":18446744073709551616,"completion_tokens":5,"total_tokens":18446744073709551621}"#,
                nil
            ),
            (
                "the largest integer twice",
                #"{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}"#, nil
            ),
            ("text", #"{"prompt_tokens":"10","completion_tokens":"5","total_tokens":"15"}"#, nil),
            ("null", #"{"prompt_tokens":null,"completion_tokens":null,"total_tokens":null}"#, nil),
            ("empty", "{}", nil),
            ("an array", "[10,5]", nil),
            ("a fraction", #"{"prompt_tokens":10.5,"completion_tokens":5.25,"total_tokens":15.75}"#, nil),
            ("true", #"{"prompt_tokens":true,"completion_tokens":false,"total_tokens":true}"#, nil),
        ] as [(String, String, Int?)])
    func `Usage of another shape is an estimate and never moves a counter back`(
        name: String, usage: String, total: Int?
    ) throws {
        let (answer, charged) = try self.ask(.body(OpenAIShapes.completion("fine", usage: usage)), stream: false)
        #expect(answer.status == 200)
        #expect(answer.text == "fine")
        if let total { #expect(charged == total) } else { #expect((1...2000).contains(charged)) }
        #expect(try TestGateway.current.isAlive)
    }

    @Test(arguments: [400, 401, 402, 403, 404, 413, 422, 500, 502], [false, true])
    func `A provider's refusal is a 502 with nothing of it inside`(status: Int, stream: Bool) throws {
        let body =
            #"{"error":{"message":"bad key sk-SECRET of https://provider.example","type":"x","code":"invalid_api_key"}}"#
        let (answer, charged) = try self.ask(
            .body(
                body, status: status,
                headers: [("WWW-Authenticate", "Bearer realm=provider"), ("X-Internal", "SECRET")]), stream: stream)
        #expect(answer.status == 502)
        #expect(answer.code == "provider_failed")
        #expect(!answer.isStream)
        #expect(answer.response.header("content-type")?.hasPrefix("application/problem+json") == true)
        #expect(answer.response.header("www-authenticate") == nil)
        for word in ["SECRET", "provider.example", "sk-", "invalid_api_key"] {
            #expect(!answer.response.everything.contains(word))
        }
        #expect(charged == 0)
    }

    @Test(arguments: [429, 503, 529], [false, true])
    func `A provider that is overloaded is a 503 with a wait`(status: Int, stream: Bool) throws {
        let (answer, charged) = try self.ask(.body(#"{"error":{"message":"busy"}}"#, status: status), stream: stream)
        #expect(answer.status == 503)
        #expect(answer.code == "provider_overloaded")
        #expect((1...60).contains(answer.response.header("retry-after").flatMap { Int($0) } ?? 0))
        #expect(charged == 0)
    }

    @Test(arguments: [
        "2", "Wed, 21 Oct 2065 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", "-5", "+3", "1.5", "0", "0x10", "soon",
        "",
        "99999999999999999999", "1e3", "5, 6",
    ])
    func `The provider's wait is made a whole number of seconds that makes sense`(wait: String) throws {
        let (answer, _) = try self.ask(.body("{}", status: 429, headers: [("Retry-After", wait)]), stream: false)
        #expect(answer.status == 503)
        #expect((1...60).contains(answer.response.header("retry-after").flatMap { Int($0) } ?? 0))
    }

    @Test(arguments: [
        ("a page", ProviderReply.body("<!doctype html><title>Sign in</title>", type: "text/html")),
        ("an empty body", .body("")), ("nothing", .init(status: 204, framing: .none)), ("null", .body("null")),
        ("an array", .body("[]")), ("no choices", .body("{}")), ("empty choices", .body(#"{"choices":[]}"#)),
        ("no message", .body(#"{"choices":[{"index":0}]}"#)),
        ("text that is a number", .body(#"{"choices":[{"message":{"content":5}}]}"#)),
        ("empty text", .answer("")), ("white space", .answer("  \n ")),
        ("cut JSON", .body(#"{"choices":[{"message":{"content":"a"#)),
        ("a lone surrogate", .body(#"{"choices":[{"message":{"content":"a\ud83d"}}]}"#)),
        ("a member twice", .body(#"{"choices":[],"choices":[{"message":{"content":"a"}}]}"#)),
        (
            "bytes that are not UTF-8",
            .init(steps: [.send(Array(#"{"choices":[{"message":{"content":""#.utf8) + [0xFF] + Array(#""}}]}"#.utf8))])
        ),
        ("an error under 200", .body(#"{"error":{"message":"no"}}"#)),
    ])
    func `An answer that is none is a 502`(name: String, reply: ProviderReply) throws {
        let (answer, _) = try self.ask(reply, stream: false)
        #expect(answer.status == 502)
        #expect(["provider_failed", "provider_empty_answer"].contains(answer.code))
        #expect(!answer.response.text.contains("Sign in"))
    }

    @Test(arguments: [
        ("a page", ProviderReply.body("<!doctype html><title>Sign in</title>", type: "text/html")),
        ("an empty body", .body("")),
        ("an empty stream", .events([])), ("only [DONE]", .events([.send("data: [DONE]\n\n")])),
        ("an end without text", .events(OpenAIShapes.stream([]).map { .send($0) })),
    ])
    func `A stream that says nothing is a 502`(name: String, reply: ProviderReply) throws {
        let (answer, _) = try self.ask(reply, stream: true)
        #expect(answer.status == 502)
        #expect(["provider_failed", "provider_empty_answer"].contains(answer.code))
        #expect(!answer.isStream)
    }

    @Test func `JSON without a type is read`() throws {
        let (answer, charged) = try self.ask(.body(OpenAIShapes.completion("fine"), type: nil), stream: false)
        #expect(answer.text == "fine")
        #expect(charged == 15)
    }

    @Test(arguments: [
        ("two lengths", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), ("no head", "garbage\r\n\r\n"),
        ("a length too long", "Content-Length: 500\r\n\r\n{}"),
        ("a bad chunk", "Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
    ])
    func `Broken HTTP of a provider is a 502`(name: String, rest: String) throws {
        let (listener, port) = try TestSocket.listen()
        let wire = rest.hasPrefix("garbage") ? rest : "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + rest
        OwnThread.start {
            while let socket = listener.accept(within: .seconds(5)) {
                _ = try? socket.receive(within: .seconds(2))
                try? socket.send(wire.utf8)
                socket.close()
            }
        }
        var settings = GatewaySettings()
        settings.providerURL = "http://127.0.0.1:\(port)/v1"
        let gateway = try TestGateway(settings)
        let caller = Caller("conc-1")
        let status = try gateway.ask(Ask("broken"), as: caller).status
        #expect(status == 502)
        #expect(try gateway.isIdle(caller))
    }

    @Test func `A provider that cannot be reached is a 502`() throws {
        var settings = GatewaySettings()
        settings.providerURL = "http://127.0.0.1:\(try TestSocket.freePort())/v1"
        let gateway = try TestGateway(settings)
        let caller = Caller("conc-1")
        for stream in [false, true] {
            let answer = try gateway.ask(Ask("refused", stream: stream), as: caller)
            #expect(answer.status == 502)
            #expect(answer.code == "provider_failed")
            #expect(!answer.response.everything.contains("127.0.0.1"))
        }
        #expect(try gateway.charged(to: caller) == 0)
    }

    @Test(arguments: [301, 302, 307, 308])
    func `A redirect is not followed`(status: Int) throws {
        let (listener, port) = try TestSocket.listen()
        let (answer, _) = try self.ask(
            .body("", status: status, headers: [("Location", "http://127.0.0.1:\(port)/v1/chat/completions")]),
            stream: false)
        #expect(answer.status == 502)
        #expect(listener.accept(within: .milliseconds(200)) == nil)
    }

    @Test(arguments: ["length", "content_filter"])
    func `An answer that the provider ended early is still an answer`(reason: String) throws {
        let (answer, charged) = try self.ask(
            .body(OpenAIShapes.completion("Half of it", finish: reason)), stream: false)
        #expect(answer.status == 200)
        #expect(answer.text == "Half of it")
        #expect(charged == 15)
    }
}
