import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// A provider's stream, byte for byte, and the text that must come of it.
struct StreamCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [ProviderStep]
    let text: String
    var total = 15
    var headers: [(name: String, value: String)] = []

    init(_ name: String, _ steps: [ProviderStep], text: String, total: Int = 15) {
        self.testDescription = name
        self.steps = steps
        self.text = text
        self.total = total
    }

    /// The events of the words, with each line end as given.
    static func lines(_ name: String, _ ends: [String], words: [String] = ["Hello", " there"]) -> Self {
        let events = OpenAIShapes.stream(words).enumerated().map { index, event in
            ProviderStep.send(event.replacing("\n", with: ends[index % ends.count]))
        }
        return Self(name, events, text: words.joined())
    }

    /// The whole stream in pieces of so many bytes.
    static func pieces(_ name: String, of words: [String], every count: Int) -> Self {
        Self(
            "\(name), \(count) bytes a write", [.split(OpenAIShapes.stream(words).joined(), every: count)],
            text: words.joined())
    }
}

@Suite("Event streams of providers", .oneOfFewThreads, .gateway())
struct EventStreamParsingTests {
    private static let persian = ["سلام دنیا، ", "می‌نویسم ", "👩‍👩‍👧 ", "e\u{301}\u{327} ", "\u{10FFFF}"]
    private static let word = OpenAIShapes.event(OpenAIShapes.delta("ok"))
    private static let tail = OpenAIShapes.stream([]).joined()

    private func expectWhole(_ stream: StreamCase) throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let marker = Caller.unique("sse")
        _ = gateway.provider.script(marker, .events(stream.steps, headers: stream.headers))
        let answer = try gateway.ask(Ask(marker, stream: true), as: caller)
        answer.checkStream()
        #expect(Array(answer.text.utf8) == Array(stream.text.utf8))
        #expect(answer.isFinished, "\(answer.code ?? "")")
        #expect(try gateway.charged(to: caller) == stream.total)
    }

    @Test(
        arguments: [
            .lines("CRLF", ["\r\n"]), .lines("CR", ["\r"]), .lines("a mix", ["\r\n", "\n", "\r"]),
            StreamCase(
                "CRLF cut in two",
                OpenAIShapes.stream(["A", "B"], lineEnd: "\r\n").flatMap { event in
                    event.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, part in
                        ProviderStep.send((index > 0 ? "\n" : "") + part)
                    }
                }, text: "AB"),
            StreamCase(
                "data on two lines",
                [
                    .send("data: {\"choices\":[{\"index\":0,\"delta\":\r"),
                    .send("\ndata: {\"content\":\"AB\"},\"finish_reason\":null}]}\r"),
                    .send("\n\r"), .send("\n" + tail),
                ], text: "AB"),
            StreamCase("a byte order mark", [.send("\u{FEFF}" + word + tail)], text: "ok"),
            StreamCase(
                "no space",
                [.send("data:" + OpenAIShapes.delta("a b") + "\n\n" + tail.replacing("data: ", with: "data:"))],
                text: "a b"),
            StreamCase("many spaces", [.send("data:   " + OpenAIShapes.delta(" c") + "\n\n" + tail)], text: " c"),
            StreamCase("a tab", [.send("data:\t" + OpenAIShapes.delta("t") + "\n\n" + tail)], text: "t"),
            StreamCase(
                "comments and empty events",
                [
                    .send(": PROCESSING\n\n:\n\n"),
                    .send("retry: 100\n\nid: 7\n\nevent: ping\ndata: \n\ndata\n\nfoo: bar\nbaz\n\n\n\n"),
                    .send(": more\n" + word), .send(": between\n\n" + tail),
                ], text: "ok"),
            StreamCase("everything in one write", [.send(OpenAIShapes.stream(["a", "b", "c"]).joined())], text: "abc"),
            StreamCase(
                "no [DONE]",
                [
                    .send(
                        word + OpenAIShapes.event(OpenAIShapes.finish())
                            + OpenAIShapes.event(OpenAIShapes.usage(.init(10, 5))))
                ], text: "ok"),
            StreamCase(
                "line separators in the text",
                [.send(OpenAIShapes.stream(["a\u{2028}b\u{2029}c\u{85}d\u{B}e\u{C}f\u{200F}g\u{202E}h"]).joined())],
                text: "a\u{2028}b\u{2029}c\u{85}d\u{B}e\u{C}f\u{200F}g\u{202E}h"),
            StreamCase(
                "escapes",
                [
                    .send(
                        #"data: {"choices":[{"index":0,"delta":{"content":"q\" b\\ n\n t\t s\/ \u0633 \ud83d\ude00"}}]}"#
                            + "\n\n" + tail)
                ], text: "q\" b\\ n\n t\t s/ س 😀"),
            StreamCase("an event name of its own", [.send("event: message\n" + word + tail)], text: "ok"),
        ] as [StreamCase])
    func `Any form that the standard allows is read`(stream: StreamCase) throws { try self.expectWhole(stream) }

    @Test(arguments: [1, 2, 3, 5, 7, 64, 1460, 100_000])
    func `The answer is the same however the bytes are cut`(every: Int) throws {
        try self.expectWhole(.pieces("Persian and emoji", of: Self.persian, every: every))
    }

    @Test func `A compressed stream is read or refused, never taken for nothing`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let marker = Caller.unique("gzip")
        let bytes = Self.gzipped
        let script = gateway.provider.script(
            marker,
            .events(
                [.split(Array(bytes.prefix(6)), every: 3), .split(Array(bytes.dropFirst(6)), every: 200)],
                headers: [("Content-Encoding", "gzip")]))
        let answer = try gateway.ask(
            Ask(marker, stream: true), as: caller, headers: [("Accept-Encoding", "gzip, br, zstd")])
        let asked = script.calls.first?.header("accept-encoding") ?? "identity"
        #expect(!asked.contains("br") && !asked.contains("zstd"))
        if answer.status == 200 {
            #expect(answer.text == "zipped text")
            #expect(answer.isFinished)
            #expect(try gateway.charged(to: caller) == 15)
        } else {
            #expect(answer.status == 502)
        }
        #expect(answer.response.header("content-encoding") == nil)
    }

    @Test(arguments: [ProviderStep.finish, .cut])
    func `A stream without its end is an error`(end: ProviderStep) throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let marker = Caller.unique("half")
        let steps = ["Half", " an"].map { ProviderStep.send(OpenAIShapes.event(OpenAIShapes.delta($0))) }
        _ = gateway.provider.script(marker, .events(steps + [end]))
        let answer = try gateway.ask(Ask(marker, stream: true), as: caller)
        answer.checkStream()
        #expect(answer.text == "Half an")
        #expect(answer.code == "provider_failed")
        #expect(try gateway.charged(to: caller) >= 2)
    }

    @Test func `An event that the stream's end cuts off does not count`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("unended")
        _ = gateway.provider.script(
            marker, .events([.send(Self.word + "data: " + OpenAIShapes.finish() + "\n"), .finish]))
        let answer = try gateway.ask(Ask(marker, stream: true))
        #expect(answer.code == "provider_failed")
    }

    @Test(arguments: [#""code":500"#, #""code":"500""#, #""type":"server_error""#, #""code":null"#])
    func `An error inside a stream is the provider's failure, and its words stay here`(member: String) throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let error = OpenAIShapes.event(#"{"error":{"message":"secret detail of host 10.9.8.7",\#(member)}}"#)
        let (early, late) = (Caller.unique("early"), Caller.unique("late"))
        _ = gateway.provider.script(early, .events([.send(error), .send("data: [DONE]\n\n")]))
        _ = gateway.provider.script(
            late, .events([.send(Self.word), .hold(milliseconds: 30), .send(error), .send("data: [DONE]\n\n")]))
        let first = try gateway.ask(Ask(early, stream: true), as: caller)
        #expect([502, 503].contains(first.status))
        #expect(!first.response.everything.contains("10.9.8.7"))
        #expect(try gateway.charged(to: caller) == 0)
        let second = try gateway.ask(Ask(late, stream: true), as: caller)
        second.checkStream()
        #expect(second.text == "ok")
        #expect(second.event("error") != nil)
        #expect(second.events.allSatisfy { $0.data?.contains("10.9.8.7") == false })
    }

    @Test(arguments: [
        #"{"error":{"code":400,"message":"prompt of 7000 tokens is larger than the context"}}"#, "Internal error",
        "<html></html>",
        "data: not json\n\n", "data: [1,2]\n\n", "data: {\"choices\":\n\n",
    ])
    func `A body that is no event stream is a failure, not an empty answer`(body: String) throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("bare")
        _ = gateway.provider.script(marker, .events([.send(body), .finish]))
        let answer = try gateway.ask(Ask(marker, stream: true), as: caller)
        #expect([400, 413, 502].contains(answer.status))
        #expect(answer.code != nil)
        #expect(try gateway.charged(to: caller) == 0)
    }

    /// A stream of "zipped text" with usage 10 + 5, compressed beforehand.
    private static let gzipped: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCD, 0x90, 0x31, 0x0A, 0x02, 0x31, 0x10, 0x45,
        0xFB, 0x3D, 0x85, 0x4C, 0x1D, 0x45, 0x8B, 0x45, 0x48, 0xAD, 0xAD, 0x1E, 0x40, 0x16, 0x89, 0xC9, 0xE8, 0x46,
        0xB3, 0x33, 0xC1, 0xCC, 0x82, 0x28, 0x7B, 0x77, 0x67, 0x11, 0xB4, 0xB0, 0x17, 0x53, 0xFE, 0xBC, 0x9F, 0xFF,
        0x48, 0x70, 0xE2, 0xEC, 0xE4, 0x01, 0x31, 0x80, 0x05, 0xDF, 0xE5, 0x34, 0x5D, 0x82, 0x01, 0x3E, 0x9C, 0xD1,
        0xCB, 0x98, 0xB4, 0x4E, 0x66, 0x9E, 0x35, 0x47, 0x89, 0x4C, 0x33, 0xDF, 0xF6, 0x74, 0x51, 0xC0, 0x5F, 0xD1,
        0x09, 0x6A, 0x67, 0xB1, 0xAC, 0xE7, 0xAF, 0x63, 0xA0, 0xE3, 0x80, 0x49, 0x4B, 0xDD, 0xB4, 0x74, 0x2E, 0xA5,
        0x11, 0x6B, 0x39, 0x7A, 0x2C, 0x60, 0x77, 0xBA, 0x40, 0x01, 0x6F, 0x60, 0x95, 0x53, 0x4A, 0x1C, 0xD8, 0x07,
        0x78, 0x26, 0x41, 0x1A, 0x77, 0xEE, 0x31, 0x67, 0x0C, 0x13, 0x18, 0x0C, 0x1C, 0x23, 0xC5, 0xD2, 0xEE, 0x75,
        0xA0, 0x30, 0x81, 0xA5, 0x3E, 0xA5, 0xA1, 0x19, 0xAA, 0x2A, 0xFC, 0x87, 0xA9, 0xE0, 0x4D, 0xFE, 0x55, 0xF3,
        0x5B, 0x0B, 0x8A, 0x70, 0x86, 0x9F, 0x8A, 0x35, 0x06, 0xFA, 0xE2, 0x4E, 0x38, 0x7E, 0x5B, 0xBE, 0xEA, 0x83,
        0xB2, 0x17, 0xBE, 0x20, 0xE9, 0xDD, 0x42, 0xAB, 0x9F, 0x89, 0x77, 0x5C, 0x1B, 0x10, 0x16, 0x97, 0x3E, 0x5C,
        0x3D, 0xBC, 0x85, 0x77, 0xAB, 0xED, 0x66, 0xDD, 0x54, 0xD5, 0x13, 0x41, 0x2E, 0x6E, 0x96, 0xA9, 0x02, 0x00,
        0x00,
    ]
}

@Suite("Endless event streams", .oneOfFewThreads, .serialized, .gateway(), .tags(.memory))
struct EndlessStreamTests {
    @Test(arguments: [
        ("one line", "data: ", "xxxxxxxx", 1 << 20), ("one comment", ": ", "xxxxxxxx", 1 << 20),
        ("short data lines", "", "data: y\n", 1_500_000), ("empty data lines", "", "data:\n", 2_000_000),
        ("a field name", "", "aaaaaaaa", 1 << 20),
    ])
    func `A provider that never ends an event is cut off at a bounded size`(
        name: String, start: String, piece: String, times: Int
    ) throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("endless")
        _ = gateway.provider.script(
            marker, .events([.send(start.isEmpty ? ":\n" : start), .flood(piece, times: times)]))
        let before = gateway.process.child.residentMemory
        let answer = try gateway.ask(Ask(marker, stream: true), as: caller)
        #expect(answer.status == 502 || answer.event("error") != nil, "\(name)")
        #expect(gateway.process.child.residentMemory - before < 16 << 20)
        #expect(try gateway.isIdle(caller))
        #expect(gateway.isAlive)
    }

    @Test func `A plain answer without end is cut off too`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("huge")
        _ = gateway.provider.script(
            marker,
            .init(
                headers: [("Content-Type", "application/json")], framing: .chunked,
                steps: [.send("{\"a\":\""), .flood("xxxxxxxx", times: 8 << 20)]))
        let before = gateway.process.child.residentMemory
        #expect(try gateway.ask(Ask(marker)).status == 502)
        #expect(gateway.process.child.residentMemory - before < 24 << 20)
        #expect(gateway.isAlive)
    }

    @Test func `A reply nested without end is refused`() throws {
        let gateway = try TestGateway.current
        let marker = Caller.unique("nested")
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        _ = gateway.provider.script(marker, .body(deep), .body("{\"choices\":\(deep)}"))
        for _ in 0..<2 { #expect(try gateway.ask(Ask(marker)).status == 502) }
        #expect(gateway.isAlive)
    }
}
