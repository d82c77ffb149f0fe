import HTTPCodec
import Testing

/// What a stream gave: its events, whether it broke off inside one, or why it was refused.
struct Events: Equatable {
    struct Event: Equatable {
        var type = ""
        var data = ""
    }

    var events: [Event] = []
    var isCut = false
    var failure: EventFailure?
    var lastEventID = ""
    var retry: Int?

    var data: [String] { self.events.map(\.data) }
}

func events(_ text: String, limits: EventLimits = EventLimits()) -> Events {
    events(Array(text.utf8), cutAt: [], limits: limits)
}

/// Feeds the bytes in pieces that end at `cuts` and at the end.
func events(_ bytes: [UInt8], cutAt cuts: [Int], limits: EventLimits = EventLimits()) -> Events {
    var parser = EventParser(limits: limits)
    var result = Events()
    var start = 0
    do throws(EventFailure) {
        for end in cuts + [bytes.count] {
            let taken = try parser.feed(bytes.span.extracting(start..<end)) { type, data in
                result.events.append(.init(type: text(type), data: text(data)))
                return true
            }
            #expect(taken == end - start)
            start = end
        }
        result.lastEventID = String(decoding: parser.lastEventID, as: UTF8.self)
        result.retry = parser.retryMilliseconds
        result.isCut = parser.finish()
    } catch {
        result.failure = error
    }
    return result
}

private func text(_ span: Span<UInt8>) -> String { String(decoding: Array(copying: span), as: UTF8.self) }

@Suite struct EventParserTests {
    /// Stream, and the data of its events.
    static let streams: [(String, [String])] = [
        ("data: a\n\n", ["a"]), ("data: a\r\n\r\n", ["a"]), ("data: a\r\r", ["a"]), ("data: a\r\n\n", ["a"]),
        ("data: a\n\r\n", ["a"]), ("data: a\r\n\rdata: b\n\r", ["a", "b"]), ("data:a\n\n", ["a"]),
        ("data:  a\n\n", [" a"]),
        ("data:\ta\n\n", ["\ta"]), ("data: a \n\n", ["a "]), ("data: a:b: c\n\n", ["a:b: c"]), ("data\n\n", [""]),
        ("data:\n\n", [""]), ("data: \n\n", [""]), ("data\ndata\n\n", ["\n"]),
        ("data: a\ndata: b\ndata:c\n\n", ["a\nb\nc"]),
        ("data: a\n: hello\ndata: b\n\n", ["a\nb"]), (": PROCESSING\n\n:\n\n\n\ndata: x\n\n", ["x"]),
        ("foo: bar\nfoo\n\ndata: x\n\n", ["x"]), ("Data: a\nDATA: b\n data: c\ndat: d\ndataa: e\ndata: f\n\n", ["f"]),
        ("event: x\n\ndata: y\n\n", ["y"]), ("\n\n\ndata: x\n\n\n\n", ["x"]), ("\u{FEFF}data: x\n\n", ["x"]),
        ("\u{FEFF}\u{FEFF}data: x\n\ndata: y\n\n", ["y"]), ("data: x\n\n\u{FEFF}data: y\n\n", ["x"]),
        ("\n\u{FEFF}data: x\n\n", []), ("\u{FEFF}\ndata: x\n\n", ["x"]), ("data: \u{FEFF}x\n\n", ["\u{FEFF}x"]),
        ("data: a\u{2028}b\u{2029}c\u{85}d\u{B}e\u{C}f\n\n", ["a\u{2028}b\u{2029}c\u{85}d\u{B}e\u{C}f"]),
        (
            "data: \u{633}\u{644}\u{627}\u{645} \u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645} e\u{301}\n\n",
            ["\u{633}\u{644}\u{627}\u{645} \u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645} e\u{301}"]
        ),
        ("data: \u{1F469}\u{200D}\u{1F467}\n\n", ["\u{1F469}\u{200D}\u{1F467}"]), ("data: a\u{0}b\n\n", ["a\u{0}b"]),
        ("retry: 3000\n\ndata: x\n\n", ["x"]), ("id: 1\n\ndata: x\n\n", ["x"]),
        (
            "data: {\"delta\":\r\ndata: {\"content\":\"AB\"}}\r\n\r\ndata: [DONE]\r\n\r\n",
            ["{\"delta\":\n{\"content\":\"AB\"}}", "[DONE]"]
        ),
    ]

    @Test(arguments: Self.streams)
    func eventsAreTheSameWhereverTheStreamIsCut(_ text: String, _ data: [String]) {
        let bytes = Array(text.utf8)
        let whole = events(text)
        #expect(whole.data == data)
        #expect(!whole.isCut)
        for cut in 0..<bytes.count { #expect(events(bytes, cutAt: [cut]) == whole, "cut at \(cut)") }
        for size in [1, 2, 3, 5, 7, 64] {
            let cuts = Array(stride(from: size, to: bytes.count, by: size))
            #expect(events(bytes, cutAt: cuts) == whole, "pieces of \(size)")
        }
    }

    @Test func everyPairOfCutsGivesTheSameEvents() {
        let bytes = Array("event: a\r\ndata: one\r\ndata: two\r\r\ndata: three\n\n: x\r\nid: 7\ndata\r\n\r\n".utf8)
        let whole = events(bytes, cutAt: [])
        #expect(whole.events == [.init(type: "a", data: "one\ntwo"), .init(data: "three"), .init(data: "")])
        #expect(whole.lastEventID == "7")
        for first in 0..<bytes.count {
            for second in first..<bytes.count { #expect(events(bytes, cutAt: [first, second]) == whole) }
        }
    }

    /// The cases named `format-*` of the web platform tests for event streams.
    @Test func fieldParsingOfTheWebPlatformTests() {
        let text =
            "data:\0\n data:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n"
        #expect(events(text).data == ["\0\n1\n3\n\n4"])
        let spaced =
            "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n"
        #expect(events(spaced).data == ["\0\n 2\n1\n3\n\n4"])
    }

    @Test func otherFormatsOfTheWebPlatformTests() {
        #expect(events("data:\ttest\rdata: \ndata:test\n\n").data == ["\ttest\n\ntest"])
        #expect(events("data:\n\ndata\ndata\n\ndata:test\n\n").data == ["", "\n", "test"])
        #expect(events("data:test\r\ndata\ndata:test\r\n\r\n").data == ["test\n\ntest"])
        #expect(events("data:test\n\n:comment\ndata:test2\n\n").data == ["test", "test2"])
        #expect(
            events(
                "data:1\r:\0\n:\r\ndata:2\n:\(String(repeating: "x", count: 2048))\rdata:3\n:data:fail\r:\(String(repeating: "y", count: 2048))\ndata:4\n\n"
            ).data == ["1\n2\n3\n4"])
        #expect(
            events("event:test\ndata:x\n\ndata:x\n\n").events == [.init(type: "test", data: "x"), .init(data: "x")])
        #expect(events("event:test\ndata\n\nevent: \ndata:x\n\n").events == [.init(type: "test"), .init(data: "x")])
        #expect(events("data:ok\n\nid:1\ndata:lost").data == ["ok"])
        #expect(events("data:ok\n\nid: 2").lastEventID == "")
        #expect(events("id\0: 2\ndata:x\n\n").lastEventID == "")
        #expect(events("\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n").data == ["1", "3"])
    }

    @Test func typeIsLentFromWhereverItStands() {
        let text = "event: delta\ndata: x\n\n"
        let expected: [Events.Event] = [.init(type: "delta", data: "x")]
        for cut in 0..<text.utf8.count { #expect(events(Array(text.utf8), cutAt: [cut]).events == expected) }
        #expect(events("event: a\nevent: b\ndata: x\n\n").events == [.init(type: "b", data: "x")])
        #expect(events("event: a\nevent\ndata: x\n\n").events == [.init(data: "x")])
        #expect(events("data: x\nevent: late\n\n").events == [.init(type: "late", data: "x")])
        #expect(
            events(Array("event: a\ndata: x\nevent: b\n\n".utf8), cutAt: [12]).events == [.init(type: "b", data: "x")])
    }

    @Test func idAndRetryAreKept() {
        #expect(events("id: a\ndata: x\n\n").lastEventID == "a")
        #expect(events("id: a\n\nid\n\n").lastEventID == "")
        #expect(events("id: a\n\nid: b\0c\n\n").lastEventID == "a")
        #expect(events("retry: 250\n").retry == 250)
        for bad in [
            "retry: 2x\n", "retry:\n", "retry\n", "retry: -1\n", "retry: 99999999999999999999\n", "retry:  1\n",
        ] {
            #expect(events("retry: 5\n" + bad).retry == 5)
        }
    }

    @Test(arguments: [
        ("data: x", true), ("data: x\n", true), ("data: x\r", true), ("data: x\n\n", false), ("data: x\r\r", false),
        ("data: x\n\ndat", true), ("data: x\n\n: ping", false), (": ping", false), ("event: x\n", false), ("", false),
        ("\u{FEFF}", false), ("event: x", true),
    ])
    func streamThatBreaksOffInsideAnEventIsNoticed(_ text: String, _ isCut: Bool) {
        #expect(events(text).isCut == isCut)
        let bytes = Array(text.utf8)
        #expect(events(bytes, cutAt: Array(0..<bytes.count)).isCut == isCut)
    }

    @Test func halfOfAByteOrderMarkIsText() {
        #expect(events([0xEF, 0xBB], cutAt: [1]).isCut)
        let bytes: [UInt8] = [0xEF, 0xBB] + Array("data: x\n\ndata: y\n\n".utf8)
        #expect(events(bytes, cutAt: [1, 2]).data == ["y"])
    }

    @Test func readerMayStopAfterAnEvent() throws {
        var parser = EventParser()
        let bytes = Array("data: a\r\n\r\ndata: b\n\ndata: c\n\n".utf8)
        var seen: [String] = []
        var start = 0
        while start < bytes.count {
            start += try parser.feed(bytes.span.extracting(start..<bytes.count)) { _, data in
                seen.append(text(data))
                return false
            }
            #expect(seen.last.map { $0 == "a" ? start == 11 : true } == true)
        }
        #expect(seen == ["a", "b", "c"])
    }

    @Test func parserStartsAnewAfterTheEnd() throws {
        var parser = EventParser()
        let first = Array("data: cut\ndata: o\r".utf8)
        _ = try parser.feed(first.span) { _, _ in true }
        let isCut = parser.finish()
        #expect(isCut)
        var seen: [String] = []
        let second = Array("\n\u{FEFF}data: x\n\ndata: y\n\n".utf8)
        _ = try parser.feed(second.span) { _, data in
            seen.append(text(data))
            return true
        }
        #expect(seen == ["y"])
    }
}

@Suite struct EventLimitTests {
    let limits = EventLimits(lineBytes: 32, eventBytes: 48)

    private func everyWay(_ text: String) -> [Events] {
        let bytes = Array(text.utf8)
        return [events(bytes, cutAt: [], limits: self.limits)]
            + [1, 3, 31].map { size in
                events(bytes, cutAt: Array(stride(from: size, to: bytes.count, by: size)), limits: self.limits)
            }
    }

    @Test func lineMayTakeItsLimit() {
        for result in self.everyWay("data: " + String(repeating: "x", count: 26) + "\n\n") {
            #expect(result.data == [String(repeating: "x", count: 26)])
        }
        for prefix in ["data: ", ": ", "", "unknown: "] {
            let line = prefix + String(repeating: "x", count: 33 - prefix.utf8.count)
            for result in self.everyWay("data: a\n\n" + line + "\n\ndata: b\n\n") + self.everyWay("data: a\n\n" + line)
            {
                #expect(result.failure == .lineTooLong)
                #expect(result.data == ["a"])
            }
        }
    }

    @Test func eventMayTakeItsLimit() {
        let half = "data: " + String(repeating: "x", count: 23) + "\n"
        for result in self.everyWay(half + half + "event: t\n\n") {
            #expect(result.events.first?.data.utf8.count == 47)
            #expect(result.failure == nil)
        }
        for result in self.everyWay("data: a\n\n" + half + half + "event: tt\n\n") {
            #expect(result.failure == .eventTooLarge)
            #expect(result.data == ["a"])
        }
    }

    @Test(arguments: ["data\n", "data:\r\n", "data: x\n", "data:\r"])
    func endlessDataLinesAreRefused(_ line: String) {
        for result in self.everyWay(String(repeating: line, count: 100)) { #expect(result.failure == .eventTooLarge) }
    }

    @Test func endlessStreamOfSmallThingsIsServed() {
        let text = String(repeating: ": ping\n\nevent: a\nid: 1\nfoo\ndata: x\n\n", count: 100)
        for result in self.everyWay(text) {
            #expect(result.events.count == 100)
            #expect(result.failure == nil)
        }
    }

    @Test func ordinaryLimitsAreOneMebibyte() throws {
        var parser = EventParser()
        let piece = [UInt8](repeating: 0x78, count: 1 << 16)
        for _ in 0..<16 { _ = try parser.feed(piece.span) { _, _ in true } }
        #expect(throws: EventFailure.lineTooLong) { _ = try parser.feed(piece.span) { _, _ in true } }
        #expect(throws: EventFailure.lineTooLong) { _ = try parser.feed([0x0A].span) { _, _ in true } }
        #expect(events(String(repeating: "data\n", count: (1 << 20) + 1)).failure == nil)
        #expect(events(String(repeating: "data\n", count: (1 << 20) + 2)).failure == .eventTooLarge)
    }

    @Test func failuresHaveLabels() {
        #expect(EventFailure.allCases.map(\.metricLabel) == ["line_too_long", "event_too_large"])
    }
}
