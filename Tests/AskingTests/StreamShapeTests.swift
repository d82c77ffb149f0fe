import GatewayTesting
import GatewayTypes
import Testing

@testable import Asking

@Suite("Streamed answers of the openai dialect", .ownThread)
struct StreamShapeTests {
    private typealias Shapes = OpenAIShapes

    private static func events(_ events: [String], headers: [(name: String, value: String)] = []) -> ProviderReply {
        .events([.send(events.joined())], headers: headers)
    }

    private static func stream(_ pieces: [String], lineEnd: String = "\n") -> ProviderReply {
        self.events((pieces + ["[DONE]"]).map { Shapes.event($0, lineEnd: lineEnd) })
    }

    /// Text of more than one byte a character, and of more than one scalar.
    private static let words = ["سلام، ", "ca", "fe\u{301} ", "👩‍👩‍👧 ", "\u{FEFF}z\u{200C}y"]
    private static let wholeText = words.joined()

    @Test(arguments: [1, 2, 3, 5, 7, 64, 1460, 100_000], ["\n", "\r\n", "\r"])
    func `It does not matter how bytes are cut or lines end`(every: Int, lineEnd: String) async throws {
        let wire = Shapes.stream(Self.words, lineEnd: lineEnd).joined()
        try await Shape(
            "cut", .events([.split(wire, every: every)]), text: Self.wholeText, total: 15, finish: .stop
        ).check(stream: true)
    }

    @Test func `A line end cut in two is one`() async throws {
        var steps: [ProviderStep] = []
        for event in Shapes.stream(["A", "B"], lineEnd: "\r\n") {
            for part in event.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
                steps.append(.send(String(part)))
                steps.append(.hold(milliseconds: 2))
                steps.append(.send("\n"))
            }
            steps.removeLast()
        }
        try await Shape("cut", .events(steps), text: "AB", total: 15, finish: .stop).check(stream: true)
    }

    @Test(arguments: [
        Shape("usual", .stream(["Hello", " there"]), text: "Hello there", total: 15, finish: .stop),
        Shape(
            "mixed line ends",
            events([
                "data: \(Shapes.delta("a"))\r\n\n", "data: \(Shapes.delta("b"))\n\r\n",
                "data: \(Shapes.delta("c"))\r\r",
                "data: \(Shapes.finish())\r\n\r", "data: [DONE]\n\n",
            ]), text: "abc", finish: .stop),
        Shape(
            "comments and other fields",
            events([
                ": PROCESSING\n\n", ":\n", "retry: 3000\n", "id: 7\n", "event: message\n",
                "data: \(Shapes.delta("o"))\n\n", ": still\n: here\n", "unknown: x\nnonsense\n\n",
                "data: \(Shapes.delta("k"))\n: inside\n\n", "data:\n\n", "data\n\n", "data: \(Shapes.finish())\n\n",
                "data: [DONE]\n\n",
            ]), text: "ok", finish: .stop),
        Shape(
            "no space behind the colon",
            events(["data:\(Shapes.delta("a "))\n\n", "data:  \(Shapes.delta("b"))\n\n", "data:[DONE]\n\n"]),
            text: "a b"),
        Shape(
            "byte order mark", events(["\u{FEFF}data: \(Shapes.delta("first"))\n\n", "data: [DONE]\n\n"]), text: "first"
        ),
        Shape(
            "data over several lines",
            events([
                "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"two\"}}]}\n\n", "data: [DONE]\n\n",
            ]),
            text: "two"),
        Shape(
            "line separators inside a string", stream([Shapes.delta("a\u{2028}b\u{2029}c\u{85}d"), Shapes.finish()]),
            text: "a\u{2028}b\u{2029}c\u{85}d", finish: .stop),
        Shape(
            "escapes",
            stream([
                #"{"choices":[{"delta":{"content":"\u0633\ud83d\ude00\n\t\"\\\/\u0000"}}]}"#, Shapes.finish(),
            ]), text: "س😀\n\t\"\\/\u{0}", finish: .stop),
        Shape(
            "odd chunks",
            stream([
                #"{"id":null,"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}"#,
                #"{"choices":[{"index":0,"finish_reason":null}]}"#, #"{"choices":[]}"#, #"{"choices":null}"#,
                #"{"choices":{}}"#, #"{"choices":"x"}"#, #"{}"#, #"{"choices":[null]}"#, #"{"choices":[7]}"#,
                #"{"choices":[{"delta":"text"}]}"#, #"{"choices":[{"delta":{"content":7}}]}"#,
                #"{"choices":[{"delta":{"content":["x"]}}]}"#,
                #"{"id":7,"created":"now","x":{"y":[1]},"choices":[{"delta":{"content":"a","refusal":null}}]}"#,
                #"{"choices":[{"delta":{"content":"b"},"finish_reason":7}],"error":null,"usage":null}"#,
                #"{"choices":[{"delta":{"content":""}}]}"#, Shapes.finish(),
            ]), text: "ab", finish: .stop),
        Shape(
            "text behind the end",
            events([
                Shapes.event(Shapes.delta("a")), Shapes.event(Shapes.finish()), "data: [DONE]\n\n",
                Shapes.event(Shapes.delta("never")), "data: nonsense\n\n",
            ]), text: "a", finish: .stop),
        Shape("length", stream([Shapes.delta("cut"), Shapes.finish("length")]), text: "cut", finish: .length),
        Shape("unknown reason", stream([Shapes.delta("a"), Shapes.finish("eos")]), text: "a", finish: .other),
        Shape("withheld", stream([Shapes.finish("content_filter")]), finish: .contentFilter),
        Shape("nothing said", stream([Shapes.finish()]), failure: .emptyAnswer, finish: .stop),
        Shape("only the end", events(["data: [DONE]\n\n"]), failure: .emptyAnswer),
    ])
    func `Text, end and reason are found in every form`(shape: Shape) async throws {
        try await shape.check(stream: true)
    }

    private static func usage(_ usage: String) -> ProviderReply {
        self.stream([Shapes.delta("a"), Shapes.finish(), Shapes.chunk(choices: "", usage: usage)])
    }

    @Test(arguments: [
        Shape("behind the text", .stream(["a"], usage: .init(19, 8)), text: "a", total: 27, finish: .stop),
        Shape(
            "on the last chunk", stream([Shapes.delta("a"), Shapes.finish(usage: Shapes.Usage(19, 8).json)]), text: "a",
            total: 27, finish: .stop),
        Shape(
            "on a chunk of text", stream([Shapes.delta("a", usage: Shapes.Usage(19, 8).json), Shapes.finish()]),
            text: "a", total: 27, finish: .stop),
        Shape(
            "on every chunk, each the sum so far",
            stream([
                Shapes.delta("a", usage: Shapes.Usage(30, 1).json), Shapes.delta("b", usage: Shapes.Usage(30, 5).json),
                Shapes.finish(usage: Shapes.Usage(30, 9).json),
            ]), text: "ab", total: 39, finish: .stop),
        Shape(
            "nothing after something",
            stream([Shapes.delta("a", usage: Shapes.Usage(3, 1).json), Shapes.finish(usage: "null")]), text: "a",
            total: 4,
            finish: .stop),
        Shape("none", .stream(["a"], usage: nil), text: "a", finish: .stop),
        Shape(
            "zero", usage(#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#), text: "a", total: 0,
            finish: .stop),
        Shape("total only", usage(#"{"total_tokens":12}"#), text: "a", total: 12, finish: .stop),
        Shape("no total", usage(#"{"prompt_tokens":10,"completion_tokens":5}"#), text: "a", total: 15, finish: .stop),
        Shape(
            "more than the sum", usage(#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":40}"#), text: "a",
            total: 40, finish: .stop),
        Shape(
            "reasoning inside",
            usage(
                #"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":4}}"#
            ),
            text: "a", total: 15, finish: .stop),
        Shape(
            "whole floats", usage(#"{"prompt_tokens":10.0,"completion_tokens":5e0,"total_tokens":1.5e1}"#), text: "a",
            total: 15, finish: .stop),
        Shape(
            "a bad total", usage(#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":-3}"#), text: "a",
            total: 15,
            finish: .stop),
        Shape(
            "bad parts", usage(#"{"prompt_tokens":"10","completion_tokens":null,"total_tokens":15}"#), text: "a",
            total: 15,
            finish: .stop),
        Shape(
            "negative", usage(#"{"prompt_tokens":-10,"completion_tokens":-5,"total_tokens":-15}"#), text: "a",
            finish: .stop),
        Shape(
            "beyond all numbers",
            usage(
                #"{"prompt_tokens":18446744073709551616,"completion_tokens":1e300,"total_tokens":9223372036854775807}"#),
            text: "a", finish: .stop),
        Shape(
            "halves and words", usage(#"{"prompt_tokens":10.5,"completion_tokens":"5","total_tokens":true}"#),
            text: "a",
            finish: .stop),
        Shape("no object", usage(#"[10,5]"#), text: "a", finish: .stop),
    ])
    func `Usage is the provider's last word, wherever it stands`(shape: Shape) async throws {
        try await shape.check(stream: true)
    }

    private static let word = Shapes.event(Shapes.delta("half "))
    private static let finish = Shapes.event(Shapes.finish())
    private static let error = #"data: {"error":{"message":"secret words","code":500}}"# + "\n\n"

    @Test(arguments: [
        Shape("reason without [DONE]", events([word, finish]), text: "half ", finish: .stop),
        Shape("reason, then cut", .events([.send(word + finish), .cut]), text: "half ", finish: .stop),
        Shape(
            "reason, then reset", .events([.send(word + finish), .hold(milliseconds: 50), .reset]), text: "half ",
            finish: .stop),
        Shape("[DONE] without a reason", events([word, "data: [DONE]\n\n"]), text: "half "),
        Shape("neither", events([word]), text: "half ", failure: .incomplete),
        Shape("neither, cut", .events([.send(word), .cut]), text: "half ", failure: .incomplete),
        Shape(
            "neither, reset", .events([.send(word), .hold(milliseconds: 50), .reset]), text: "half ",
            failure: .incomplete),
        Shape(
            "event without its empty line", events([word, "data: \(Shapes.finish())\n"]), text: "half ",
            failure: .incomplete),
        Shape("error first", events([error]), failure: .errorInStream),
        Shape(
            "error behind text", events([word, error, finish, "data: [DONE]\n\n"]), text: "half ",
            failure: .errorInStream),
        Shape(
            "error as text", events([word, "data: {\"error\":\"boom\"}\n\n"]), text: "half ", failure: .errorInStream),
        Shape("no JSON", events([word, "data: {\"choices\":[}\n\n", finish]), text: "half ", failure: .unusableAnswer),
        Shape("too deep", events(["data: \(String(repeating: "[", count: 100_000))\n\n"]), failure: .unusableAnswer),
        Shape("bare JSON in a stream", events([#"{"error":{"message":"no"}}"#]), failure: .incomplete),
        Shape("nothing", events([]), failure: .incomplete),
        Shape("no content", ProviderReply(status: 204, framing: .none), failure: .unusableAnswer),
        Shape("a page", .body("<html>Log in</html>", type: "text/html"), failure: .unusableAnswer),
        Shape("JSON in place of a stream", .answer("whole"), failure: .unusableAnswer),
        Shape("no media type", .body(word + finish, type: nil), failure: .unusableAnswer),
    ])
    func `A broken stream is told as one, and keeps what came before`(shape: Shape) async throws {
        try await shape.check(stream: true)
    }

    @Test(arguments: ["data: ", "data: x\n", "data:\n", "\u{FEFF}event: y", "id: 7 "])
    func `A line or an event without end is given up`(piece: String) async throws {
        let provider = try FakeProvider { _, _ in
            .events([.send(piece), .flood(piece.hasSuffix("\n") ? piece : "x", times: 30_000_000)])
        }
        try await withBench { bench in
            let heard = try await bench.hear(provider.provider())
            #expect(heard.end?.failure == .unusableAnswer)
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
        }
    }

    @Test func `A zipped stream is read as it comes`() async throws {
        // One event, its end, zipped.
        let zipped: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF, 0x7D, 0x8D, 0x31, 0x0E, 0xC2, 0x30,
            0x0C, 0x45, 0xF7, 0x9C, 0xA2, 0xF2, 0x9C, 0x01, 0x86, 0x2E, 0x99, 0x61, 0x85, 0x03, 0x54, 0x51,
            0x65, 0x35, 0x86, 0x46, 0xA4, 0x76, 0xD4, 0x18, 0x09, 0x51, 0xE5, 0xEE, 0x84, 0xA5, 0x6C, 0xAC,
            0x4F, 0xFF, 0xBD, 0x1F, 0x50, 0xD1, 0x75, 0x1B, 0x4C, 0xB3, 0xC4, 0x89, 0x0A, 0xB8, 0x61, 0x83,
            0x40, 0x49, 0x11, 0x5C, 0x83, 0xC2, 0x4A, 0xAC, 0xE0, 0xE0, 0x1D, 0x73, 0xA6, 0xD0, 0x29, 0xBD,
            0x14, 0x6A, 0xF5, 0xD5, 0x98, 0xF0, 0x47, 0xAC, 0x16, 0x6E, 0x91, 0x63, 0x99, 0xC7, 0x95, 0xB0,
            0x08, 0xB7, 0x40, 0x51, 0xC9, 0x50, 0xBD, 0x85, 0x67, 0xC1, 0x3B, 0x7D, 0xE3, 0x79, 0x95, 0x25,
            0xEB, 0xA8, 0xF2, 0x20, 0x6E, 0xFA, 0xF1, 0x60, 0xDB, 0xDF, 0x92, 0x13, 0x69, 0x14, 0xDE, 0x71,
            0x6F, 0x41, 0x45, 0x31, 0xFD, 0x76, 0x7D, 0xDD, 0xDF, 0x87, 0xD3, 0xF5, 0x72, 0xF6, 0xC6, 0x7C,
            0x00, 0xD0, 0x6D, 0xF6, 0x07, 0xC5, 0x00, 0x00, 0x00,
        ]
        for every in [3, 200] {
            try await Shape(
                "zipped", .events([.split(zipped, every: every)], headers: [("Content-Encoding", "gzip")]),
                text: "zipped text", total: 15, finish: .stop
            ).check(stream: true)
        }
    }
}
