import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Marked content goes through success and every failure, and every sink is searched for it behind.
@Suite("Content stays out of every sink", .oneOfFewThreads)
struct CanaryTests {
    private static let settings = GatewaySettings.with {
        $0.providerTimeouts = "{connect: 1s, first_byte: 700ms, idle: 700ms, total: 5s}"
    }

    /// Bodies of providers' failures, each quoting what it was sent.
    private static func failures(_ mark: String) -> [(name: String, reply: ProviderReply)] {
        let quoted = #"{"error":{"message":"cannot read: \#(mark)","key":"\#(TestGateway.providerKey)"}}"#
        let word = ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta("\(mark)-answer ")))
        return [
            ("answered", .answer("\(mark)-answer")), ("streamed", .stream(["\(mark)-answer", " more"])),
            ("no usage", .stream(["\(mark)-answer"], usage: nil)), ("400", .body(quoted, status: 400)),
            ("401", .body(quoted, status: 401, headers: [("X-Echo", TestGateway.providerKey)])),
            ("429", .body(quoted, status: 429, headers: [("Retry-After", mark)])), ("500", .body(quoted, status: 500)),
            ("redirect", .body(quoted, status: 302, headers: [("Location", "http://127.0.0.1:1/\(mark)")])),
            ("page", .body("<html>\(mark)</html>", type: "text/html")), ("bad JSON", .body("{\"choices\":[\(mark)")),
            ("bad stream", .events([.send("data: {bad \(mark)\n\n")])),
            ("error in a stream", .events([word, .send("data: \(quoted)\n\n")])),
            ("error first", .events([.send("data: \(quoted)\n\n")])),
            ("reset", .events([word, .hold(milliseconds: 30), .reset])),
            ("cut", .events([word, .cut])), ("stall", .stall), ("silence", .answer(delay: 5000)),
            ("stall in a stream", .events([word, .hold(milliseconds: 5000)])),
            ("odd header", .answer("\(mark)-answer").with(header: ("X-\(mark)", mark))),
        ]
    }

    @Test func `Nothing that was asked, answered or used to ask is written anywhere`() throws {
        let gateway = try TestGateway(Self.settings)
        let mark = "CANARY\(UInt32.random(in: .min ... .max))"
        let caller = Caller()
        let headers = [
            (name: "Cookie", value: "session=\(mark)"), ("X-Api-Key", mark), ("Referer", "https://\(mark).test/"),
            ("User-Agent", mark), ("Accept-Language", mark), ("Idempotency-Key", mark), ("tracestate", "a=\(mark)"),
        ]
        var answers: [String] = []
        for (name, reply) in Self.failures(mark) {
            let marker = Caller.unique("way")
            _ = gateway.provider.script(marker, reply)
            for stream in [false, true] {
                let ask = Ask(text: "My card is \(mark) and \(marker).", stream: stream)
                let answer = try gateway.ask(ask, as: caller, headers: headers)
                answers.append(
                    "\(name) \(stream): "
                        + answer.response.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n"))
                let failed = answer.status != 200 || answer.event("error") != nil
                if failed {
                    answers.append("\(name) \(stream): " + answer.response.text + (answer.event("error")?.data ?? ""))
                }
            }
        }
        answers += try self.malformed(mark, gateway, caller)
        let bad = try gateway.client()
        try bad.send("GET /\(mark) HTTP/1.1\r\nHost: a\r\nX: \(mark)\u{0}\r\n\r\n")
        answers.append(try bad.response()?.everything ?? "")

        for answer in answers {
            #expect(!answer.contains(mark), "in an answer: \(answer)")
            #expect(!answer.contains(TestGateway.providerKey), "in an answer: \(answer)")
        }
        try self.searchSinks(
            gateway, for: [mark, TestGateway.providerKey, caller.token, String(caller.token.split(separator: ".")[2])])
    }

    /// Asks that are no asks; what came of each.
    private func malformed(_ mark: String, _ gateway: TestGateway, _ caller: Caller) throws -> [String] {
        let bodies = [
            #"{"task":"summarize","text":"\#(mark)"#, #"{"task":"summarize","text":["\#(mark)"]}"#,
            #"{"task":"\#(mark)","text":"x"}"#,
            #"{"task":"rewrite","text":"A text that is long enough.","tone":"\#(mark)"}"#,
            #"{"task":"summarize","text":"\#(mark)"}"#,
            #"{"\#(mark)":1,"\#(mark)":2}"#, #"{"task":"summarize","model":"\#(mark)","text":"x"}"#,
            #"{"task":"summarize","text":"\#(String(repeating: mark, count: 2000))"}"#,
        ]
        var answers = try bodies.map { try gateway.post($0, as: caller).everything }
        answers.append(try gateway.post(Ask("x").json, as: caller, path: "/\(mark)").everything)
        answers.append(try gateway.post(Ask("x").json, as: nil, path: "/api/process?access_token=\(mark)").everything)
        answers.append(
            try gateway.post(Ask("x").json, as: Caller(subject: "", token: "\(mark).\(mark).\(mark)")).everything)
        let header = #"{"alg":"RS256","kid":"\#(mark)","typ":"JWT"}"#
        answers.append(
            try gateway.post(
                Ask("x").json,
                as: Caller(subject: "", token: Issuers.rsa.token(claims: Caller.claims(mark), header: header))
            ).everything)
        return answers
    }

    private func searchSinks(_ gateway: TestGateway, for words: [String]) throws {
        // The log's last batch is out within a moment.
        Stopwatch.sleep(milliseconds: 400)
        let metrics = gateway.process.metrics.text
        #expect(gateway.process.records.count > 30)
        #expect(gateway.process.stop() == 0)
        let child = gateway.process.child
        for (sink, text) in [("stdout", child.standardOutput), ("stderr", child.standardError), ("metrics", metrics)] {
            for word in words { #expect(!text.contains(word), "\(word.prefix(12))… in \(sink)") }
        }
    }

    @Test func `A crash of the process would leave no memory behind`() throws {
        let gateway = try TestGateway()
        let limits = try #require(TemporaryFolder.read("/proc/\(gateway.process.child.pid)/limits"))
        let line = String(decoding: limits, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("Max core file size")
        }
        #expect(line?.split(separator: " ").dropFirst(4).first == "0")
    }
}

extension ProviderReply {
    fileprivate func with(header: (name: String, value: String)) -> Self {
        var copy = self
        copy.headers.append(header)
        return copy
    }
}
