import JSON
import Testing

/// The reason for which a text is refused; nil when it is read.
func refusal(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) -> JSONFailure.Reason? {
    do {
        _ = try JSONDocument(parsing: bytes, limits: limits)
        return nil
    } catch { return error.reason }
}

func refusal(_ text: String, limits: JSONLimits = JSONLimits()) -> JSONFailure.Reason? {
    refusal(Array(text.utf8), limits: limits)
}

@Suite("What the reader refuses")
struct JSONDocumentTests {
    @Test(
        "A member named twice, at any depth and however it is spelt",
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"[{"x":{"a":1,"a":2}}]"#,
            #"{"alg":"none","\u0061lg":"RS256"}"#,
            #"{"":1,"":2}"#, #"{"é":1,"\u00e9":2}"#,
        ])
    func duplicates(text: String) { #expect(refusal(text) == .duplicateMember) }

    @Test("Names that only look alike are different members")
    func distinctNames() {
        #expect(refusal(#"{"a":1,"A":2,"a ":3}"#) == nil)
        #expect(refusal("{\"caf\u{E9}\":1,\"cafe\u{301}\":2}") == nil)
    }

    @Test(
        "NUL bytes wherever they stand",
        arguments: ["\0", "1\0", "{\"a\":1}\0", "{\"a\0\":1}", "\"a\0b\"", "[1,\0 2]", #"{"a\u0000b":1}"#])
    func nuls(text: String) { #expect(refusal(text) == .nulByte) }

    @Test(
        "Whatever is not valid UTF-8",
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
            [0x22, 0xE2, 0x82, 0x22], [0x5B, 0xFE, 0x5D], [0x22, 0x5C, 0x75, 0x30, 0x30, 0xE5, 0x30, 0x22],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) { #expect(refusal(bytes) == .invalidUTF8) }

    @Test(
        "Surrogates without their half",
        arguments: [#""\uD800""#, #""\uDC00""#, #""\uD800x""#, #""\uD800\uD800""#, #""\uDC00\uD800""#, #""\uD83D\n""#])
    func loneSurrogates(text: String) { #expect(refusal(text) == .syntax) }

    @Test("Anything after the value", arguments: ["1 2", "{} x", "[],", "null]", "{}{}", "\"a\"\"b\""])
    func trailing(text: String) { #expect(refusal(text) == .trailingBytes) }

    @Test("Texts that stop too early", arguments: ["", " ", "{", "[1,", "{\"a\":", "[1"])
    func truncated(text: String) { #expect(refusal(text) == .unexpectedEnd) }

    @Test(
        "Spellings that other readers let pass",
        arguments: [
            "[1,]", "{\"a\":1,}", "{'a':1}", "{a:1}", "[01]", "[.5]", "[1.]", "[+1]", "[NaN]", "[Infinity]", "[0x1]",
            "//c\n1", "[1]//", "True", "\u{FEFF}1", "\"\t\"", "[\u{A0}1]", "[1 000]", "\"\\x41\"", "\"\\u00G0\"",
        ])
    func looseSyntax(text: String) { #expect(refusal(text) != nil) }

    @Test("A real number that no double holds")
    func hugeReal() {
        #expect(refusal("[1e400]") == .numberOutOfRange)
        #expect(refusal("[-1e400]") == .numberOutOfRange)
        #expect(refusal("[" + String(repeating: "9", count: 400) + "]") == .numberOutOfRange)
    }
}

@Suite("Caps of the reader")
struct JSONLimitsTests {
    @Test("The size cap counts bytes and allows exactly that many")
    func size() {
        #expect(refusal("[1,2]", limits: JSONLimits(bytes: 5)) == nil)
        #expect(refusal("[1,2] ", limits: JSONLimits(bytes: 5)) == .tooLarge)
        #expect(refusal("\"é\"", limits: JSONLimits(bytes: 3)) == .tooLarge)
    }

    @Test("The depth cap allows exactly that many levels, of arrays, objects and both")
    func depth() {
        let limits = JSONLimits(depth: 3)
        #expect(refusal("[[[1]]]", limits: limits) == nil)
        #expect(refusal("[[[[1]]]]", limits: limits) == .tooDeep)
        #expect(refusal(#"{"a":{"a":{"a":{}}}}"#, limits: limits) == .tooDeep)
        #expect(refusal(#"[{"a":[{"b":1}]}]"#, limits: limits) == .tooDeep)
    }

    @Test("Brackets side by side or inside strings are no depth")
    func notDepth() {
        let limits = JSONLimits(depth: 2)
        #expect(refusal("[[],[],[],[],[]]", limits: limits) == nil)
        #expect(refusal(#"["[[[[[[", "\"[[[[\\"]"#, limits: limits) == nil)
        #expect(refusal(#"["\\",[[1]]]"#, limits: limits) == .tooDeep)
    }

    @Test("A hundred thousand levels are a clean refusal, closed or not, in the largest depth too")
    func extremeDepth() {
        for opening in ["[", "{\"a\":"] {
            let open = String(repeating: opening, count: 100_000)
            #expect(refusal(open) == .tooDeep)
            #expect(refusal(open, limits: JSONLimits(bytes: 1 << 24, depth: .max)) == .tooDeep)
        }
        let closed = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(refusal(closed) == .tooDeep)
    }

    @Test("A refusal says line and byte, and nothing of the content")
    func place() {
        let text = "{\n \"secret\": 1,\n \"secret\": 2}"
        let failure = #expect(throws: JSONFailure.self) { try JSONDocument(parsing: Array(text.utf8)) }
        #expect(failure?.reason == .duplicateMember)
        #expect(failure?.line == 3)
        #expect(failure?.position == 17, "the second name's opening quote")
        #expect(failure?.description.contains("secret") == false)

        let nul = #expect(throws: JSONFailure.self) { try JSONDocument(parsing: Array("[\n1,\n\0]".utf8)) }
        #expect(nul?.line == 3)
        #expect(nul?.position == 5)
    }
}
