import JSON
import Testing

func value(_ text: String) throws -> JSONValue { try JSONDocument(parsing: Array(text.utf8)).root }

@Suite("What values give")
struct JSONValueTests {
    @Test(
        "Exact integers, whole reals, and nothing else",
        arguments: [
            ("0", 0), ("-5", -5), ("12.0", 12), ("1e3", 1000), ("-0", 0), ("-0.0", 0),
            ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min), ("9007199254740992.0", 1 << 53),
            ("1.5", nil), ("1e19", nil), ("1e300", nil), ("9007199254740994.0", nil), ("\"12\"", nil), ("null", nil),
            ("true", nil), ("[1]", nil), ("{}", nil),
        ] as [(String, Int?)])
    func integers(text: String, expected: Int?) throws { #expect(try value(text).int == expected) }

    @Test("An integer beyond 64 bits spoils only itself")
    func hugeInteger() throws {
        let root = try value(#"{"a":18446744073709551616,"b":7,"c":-99999999999999999999,"d":"x"}"#)
        #expect(root["a"]?.int == nil)
        #expect(root["a"]?.number == 0x1p64)
        #expect(root["b"]?.int == 7)
        #expect(root["c"]?.int == nil)
        #expect(root["d"]?.string == "x")
    }

    @Test("Duplicates are refused beside a huge integer, too")
    func hugeIntegerAndDuplicate() {
        #expect(refusal(#"{"a":18446744073709551616,"b":1,"b":2}"#) == .duplicateMember)
        #expect(refusal(#"{"b":1,"a":18446744073709551616,"b":2}"#) == .duplicateMember)
    }

    @Test("Kinds are never taken for each other")
    func kinds() throws {
        let root = try value(#"[{}, [], "", 0, 1.5, true, false, null]"#)
        #expect(root.elements.map(\.kind) == [.object, .array, .string, .number, .number, .bool, .bool, .null])
        #expect(root.elements.map(\.bool) == [nil, nil, nil, nil, nil, true, false, nil])
        #expect(root.elements.map(\.isNull) == [false, false, false, false, false, false, false, true])
        #expect(root.elements.map(\.number) == [nil, nil, nil, 0, 1.5, nil, nil, nil])
        #expect(root.elements.map(\.string) == [nil, nil, "", nil, nil, nil, nil, nil])
    }

    @Test("Strings come with their length, also around NULs")
    func strings() throws {
        let root = try value(#"["a\u0000b", "\ud83d\ude00é\n", "", "\/\\\""]"#)
        #expect(root[0]?.bytes == [0x61, 0, 0x62])
        #expect(root[1]?.string == "😀é\n")
        #expect(root[2]?.withString { $0.count } == 0)
        #expect(root[3]?.string == "/\\\"")
        #expect(root[0]?.isString("a") == false)
        #expect(root[0]?.isString("a\0b") == true)
        #expect(root.isString("") == false)
    }

    @Test("Members and elements are found, missing ones and wrong kinds are nil")
    func lookup() throws {
        let root = try value(#"{"a":[10,20],"é":{"":1}}"#)
        #expect(root["a"]?[1]?.int == 20)
        #expect(root["a"]?[2] == nil)
        #expect(root["a"]?[-1] == nil)
        #expect(root["a"]?["a"] == nil)
        #expect(root[0] == nil)
        #expect(root["é"]?[""]?.int == 1)
        #expect(root["e\u{301}"] == nil)
        #expect(root["b"] == nil)
        #expect(root.count == 2)
        #expect(root["a"]?.count == 2)
        #expect(root["a"]?[0]?.count == 0)
    }

    @Test("Members come in the order of the document")
    func memberOrder() throws {
        var names: [String] = []
        var sum = 0
        try value(#"{"z":1,"a":2,"m":3,"b":4}"#).forEachMember { name, value in
            names.append(String(decoding: name, as: UTF8.self))
            sum += value.int ?? 0
        }
        #expect(names == ["z", "a", "m", "b"])
        #expect(sum == 10)
        try value("[1]").forEachMember { _, _ in Issue.record("an array has no members") }
    }

    @Test("A value outlives the variable that held its document")
    func lifetime() throws {
        func inner() throws -> JSONValue? { try value(#"{"a":{"b":"still here"}}"#)["a"]?["b"] }
        #expect(try inner()?.string == "still here")
    }
}
