import JSON
import Testing

@Suite("Our reader and jansson")
struct DifferentialTests {
    @Test("They agree on documents made up at random", arguments: UInt64(0)..<8)
    func generated(seed: UInt64) {
        var generator = DocumentGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<500 {
            let bytes = generator.document()
            if let found = SecondOpinion.difference(about: bytes) {
                Issue.record("\(found): \(String(decoding: bytes, as: UTF8.self))")
            }
            accepted += refusal(bytes) == nil ? 1 : 0
        }
        #expect((250..<500).contains(accepted), "the generator makes good documents, and some bad ones")
    }

    @Test("They agree on damaged documents", arguments: UInt64(100)..<108)
    func damaged(seed: UInt64) {
        var generator = DocumentGenerator(seed: seed)
        var refused = 0
        for _ in 0..<300 {
            let document = generator.document()
            for _ in 0..<5 {
                let bytes = generator.damaged(document)
                if let found = SecondOpinion.difference(about: bytes) { Issue.record("\(found): \(bytes)") }
                refused += refusal(bytes) == nil ? 0 : 1
            }
        }
        #expect((300..<1500).contains(refused), "most damage is fatal, some is not")
    }

    @Test("They agree on every beginning of a document, and on every byte taken out of it")
    func cuts() {
        let text = #" {"a\u00e9":[1,-2.5e+3,true,{"b":null,"é😀":"\ud83d\ude00x"}],"c":{},"d":[[]]} "#
        let bytes = Array(text.utf8)
        #expect(SecondOpinion.difference(about: bytes) == nil)
        for cut in bytes.indices {
            var without = bytes
            without.remove(at: cut)
            #expect(SecondOpinion.difference(about: Array(bytes[..<cut])) == nil, "cut at \(cut)")
            #expect(SecondOpinion.difference(about: without) == nil, "without byte \(cut)")
        }
    }

    @Test(
        "They agree on every byte in every kind of place",
        arguments: [
            "", "[", "{", "{\"a\"", "{\"a\":", "[1", "\"", "\"\\", "\"\\u00", "-", "1", "0", "1.", "1.5", "1e", "1e+",
            "1e5", "t", "nul",
        ])
    func everyByte(beginning: String) {
        for byte in UInt8.min...UInt8.max {
            for ending in ["", "1", "\"", "1\"", "1]", "\":1}", "1}", "]", "}"] {
                let bytes = Array(beginning.utf8) + [byte] + Array(ending.utf8)
                if let found = SecondOpinion.difference(about: bytes) { Issue.record("\(found): \(bytes)") }
            }
        }
    }

    @Test(
        "They agree on numbers near the ends of what a double holds",
        arguments: [
            "1e308", "1.7976931348623157e308", "1.7976931348623159e308", "-1.8e308", "1e309", "17e307", "0.001e311",
            "0e999", "0e99999999999999999999", "-0e400", "1e-400", "1e-99999999999999999999", "1e99999999999999999999",
            "4.9e-324", "2e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "9007199254740993",
            "9007199254740993.0", "0.1", "123456789012345678901234567890", "-0", "-0.0", "0.000", "1E5", "1e+05",
            "18446744073709551615", "9223372036854775808", "-9223372036854775809", "1.00000000000000011102230246251565",
        ])
    func numbers(text: String) {
        #expect(SecondOpinion.difference(about: Array(text.utf8)) == nil)
        #expect(SecondOpinion.difference(about: Array("[\(text),1]".utf8)) == nil)
    }

    @Test("They agree on hundreds of digits, before and behind the point and taken back by the exponent")
    func longNumbers() {
        for count in [20, 299, 300, 301, 308, 309, 310, 2000] {
            let nines = String(repeating: "9", count: count)
            let zeros = String(repeating: "0", count: count)
            for text in [
                nines, "-\(nines)", "\(nines).5", "0.\(nines)", "1\(zeros)", "0.\(zeros)1", "1\(zeros)e-\(count)",
                "0.\(zeros)1e\(count)", "0.\(zeros)1e\(count + 308)", "0.\(zeros)1e\(count + 310)",
                "\(nines)e-\(count)",
            ] {
                #expect(SecondOpinion.difference(about: Array(text.utf8)) == nil, "\(count) digits: \(text.prefix(20))")
            }
        }
    }
}
