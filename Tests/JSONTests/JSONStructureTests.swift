import JSON
import Testing

@Suite("Large and odd structures")
struct JSONStructureTests {
    /// An object with these names, each with its place as value.
    private func object(_ names: [String]) -> String {
        "{" + names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",") + "}"
    }

    @Test("A name that comes twice is found in objects of every size, wherever the two stand")
    func duplicatesBySize() {
        for size in 2..<40 {
            var names = (0..<size).map { "name \($0)" }
            #expect(refusal(self.object(names)) == nil)
            for (first, second) in [(0, size - 1), (0, 1), (size - 2, size - 1), (size / 2, size - 1)]
            where first < second {
                let kept = names[second]
                names[second] = names[first]
                #expect(refusal(self.object(names)) == .duplicateMember, "\(size) members, \(first) and \(second)")
                names[second] = kept
            }
        }
    }

    @Test("Names of an object are no names of the one around it, nor of the one beside it")
    func namesOfOthers() {
        #expect(refusal(#"{"a":{"a":{"a":1},"b":2},"b":[{"a":1},{"a":1}],"c":{"a":1}}"#) == nil)
        #expect(refusal(#"{"a":{"b":1},"c":{"d":[{"e":1}]},"a":2}"#) == .duplicateMember)
        #expect(refusal(#"{"x":[{"a":{"b":1},"c":2,"b":3,"a":4}]}"#) == .duplicateMember)
    }

    @Test("The second of two equal names is named as the place, in small objects and in large ones")
    func placeOfDuplicate() {
        for size in [3, 30] {
            let names = (0..<size).map { "n\($0)" } + ["twice", "between", "twice", "other"]
            let text = self.object(names)
            let failure = #expect(throws: JSONFailure.self) { try JSONDocument(parsing: Array(text.utf8)) }
            let second = text.utf8.count - "\"twice\":\(size + 2),\"other\":\(size + 3)}".utf8.count
            #expect(failure?.reason == .duplicateMember)
            #expect(failure?.position == second)
        }
    }

    @Test("A hundred thousand members are read and told apart, also when they begin alike")
    func manyMembers() throws {
        let limits = JSONLimits(bytes: 1 << 24)
        for beginning in ["", "the same long beginning of each of them "] {
            let names = (0..<100_000).map { beginning + String($0) }
            let root = try JSONDocument(parsing: Array(self.object(names).utf8), limits: limits).root
            #expect(root.count == 100_000)
            #expect(root[beginning + "99999"]?.int == 99_999)
            #expect(refusal(self.object(names + [beginning + "500"]), limits: limits) == .duplicateMember)
        }
    }

    @Test("A document of many small values is read whole")
    func dense() throws {
        let text = "[" + Array(repeating: "[],{},0,\"\",[[1]]", count: 5000).joined(separator: ",") + "]"
        let root = try JSONDocument(parsing: Array(text.utf8)).root
        let values = Array(root.elements)
        #expect(root.count == 25_000)
        #expect(values.count == 25_000)
        #expect(values[24_999][0]?[0]?.int == 1)
        #expect(values.filter { $0.kind == .array }.count == 10_000)
        #expect(root[24_997]?.int == 0)
        #expect(root[24_998]?.string == "")
    }

    @Test("As many levels as the cap allows are read, and left again in order")
    func deepest() throws {
        let depth = 1024
        let text =
            String(repeating: "{\"a\":[", count: depth / 2) + "7" + String(repeating: "],\"b\":8}", count: depth / 2)
        let root = try JSONDocument(parsing: Array(text.utf8), limits: JSONLimits(depth: depth)).root
        var value = root
        for _ in 0..<depth / 2 {
            #expect(value["b"]?.int == 8)
            value = try #require(value["a"]?[0])
        }
        #expect(value.int == 7)
        #expect(refusal("7", limits: JSONLimits(depth: 0)) == nil)
        #expect(refusal("[]", limits: JSONLimits(depth: 0)) == .tooDeep)
    }

    @Test("Space may stand around every token, and nowhere else")
    func space() throws {
        let root = try value(" \t\r\n{ \"a\" : [ 1 , { } , [ ] , \" \" ] \n, \"b\"\t:\rnull } \n")
        #expect(root["a"]?.count == 4)
        #expect(root["b"]?.isNull == true)
        for text in ["1 2", "[1 2]", "tr ue", "- 1", "1 .5", "1. 5", "1e 5", "\"\\ n\"", "\"\\u 041\""] {
            #expect(refusal(text) != nil, "\(text)")
        }
    }

    @Test(
        "A refusal names the first byte that cannot stand there",
        arguments: [
            ("", .unexpectedEnd, 0, 1), ("  \n ", .unexpectedEnd, 4, 2), ("[1,]", .syntax, 3, 1),
            ("[1\n2]", .syntax, 3, 2),
            ("{\"a\" 1}", .syntax, 5, 1), ("{\"a\":1,}", .syntax, 7, 1), ("{1:1}", .syntax, 1, 1),
            ("[1}", .syntax, 2, 1),
            ("{\"a\":1]", .syntax, 6, 1), ("nulL", .syntax, 3, 1), ("tru", .unexpectedEnd, 3, 1),
            ("-", .unexpectedEnd, 1, 1),
            ("[-x]", .syntax, 2, 1), ("[01]", .syntax, 2, 1), ("[1.]", .syntax, 3, 1), ("[1e+]", .syntax, 4, 1),
            ("\"\\q\"", .syntax, 2, 1), ("\"\\u12G4\"", .syntax, 5, 1), ("\"ab\\ud800\"", .syntax, 9, 1),
            ("\"\\udc00\"", .syntax, 1, 1), ("\"\\ud800\\u0041\"", .syntax, 7, 1), ("\"a\nb\"", .syntax, 2, 1),
            ("\"abc", .unexpectedEnd, 4, 1), ("\"abc\\", .unexpectedEnd, 5, 1), ("\"\\ud83d", .unexpectedEnd, 7, 1),
            ("1\n\n2", .trailingBytes, 3, 3), ("[[1]]]", .trailingBytes, 5, 1), ("[1e999]", .numberOutOfRange, 1, 1),
            ("{\"a\\u0000\":1}", .nulByte, 1, 1), ("\"x\\ny\"\n\n\0", .nulByte, 8, 3),
        ] as [(String, JSONFailure.Reason, Int, Int)])
    func places(text: String, reason: JSONFailure.Reason, position: Int, line: Int) {
        let failure = #expect(throws: JSONFailure.self) { try JSONDocument(parsing: Array(text.utf8)) }
        #expect(failure?.reason == reason)
        #expect(failure?.position == position)
        #expect(failure?.line == line)
    }

    @Test("Nothing is read beyond the bytes that were given")
    func exactBounds() {
        let text = Array("[1,\"abc\",tru".utf8)
        for end in 0...text.count {
            // What stands behind would complete the document.
            for rest in ["]", "1]", "\"]", "e]", "\",true]"] {
                let bytes = text[..<end] + Array(rest.utf8)
                let reason = bytes.withUnsafeBytes { raw in
                    do throws(JSONFailure) {
                        _ = try JSONDocument(parsing: UnsafeRawBufferPointer(rebasing: raw[..<end]))
                        return JSONFailure.Reason?.none
                    } catch { return error.reason }
                }
                #expect(reason == .unexpectedEnd)
            }
        }
    }
}
