import JSON
import Testing

/// A document that is one string of these bytes, as they are.
private func quoted(_ inside: [UInt8]) -> [UInt8] { [0x22] + inside + [0x22] }

@Suite("Strings as they are read")
struct JSONStringTests {
    @Test(
        "Whatever needs a look is seen at every place of a word",
        arguments: [
            ("\\n", "\n"), ("\\u0000", "\0"), ("\\u00e9", "é"), ("\\ud83d\\ude00", "😀"), ("é", "é"), ("語", "語"),
            ("😀", "😀"),
            ("\u{7F}", "\u{7F}"), ("\\\\\\\"", "\\\""), ("é\\té", "é\té"), ("\\té\\t", "\té\t"),
        ])
    func everyPlace(spelt: String, meant: String) throws {
        for before in 0..<20 {
            for after in 0..<10 {
                let head = String(repeating: "x", count: before)
                let tail = String(repeating: "yz", count: after)
                let root = try value("[\"\(head)\(spelt)\(tail)\",\"next\"]")
                #expect(root[0]?.string == head + meant + tail)
                #expect(root[1]?.string == "next")
            }
        }
    }

    @Test("A string ends at its quote, and control characters are refused, at every place of a word")
    func ends() {
        for length in 0..<40 {
            let text = [UInt8](repeating: 0x61, count: length)
            #expect((try? JSONDocument(parsing: quoted(text)).root.bytes) == text)
            #expect(refusal([0x22] + text) == .unexpectedEnd)
            for control in UInt8(0)..<0x20 {
                #expect(refusal(quoted(text + [control] + text)) == (control == 0 ? .nulByte : .syntax))
            }
        }
    }

    @Test("Every character of the first plane reads the same, written plainly or escaped")
    func firstPlane() throws {
        var plain: [UInt8] = []
        var escaped: [UInt8] = []
        for scalar in (UInt32(0x20)...0xFFFF).compactMap(Unicode.Scalar.init) where scalar != "\"" && scalar != "\\" {
            plain += Array(String(scalar).utf8)
            let digits = String(scalar.value, radix: 16, uppercase: scalar.value % 2 == 0)
            escaped += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
        }
        #expect(try JSONDocument(parsing: quoted(plain)).root.bytes == plain)
        #expect(try JSONDocument(parsing: quoted(escaped)).root.bytes == plain)
    }

    @Test("Pairs of surrogates give the characters beyond the first plane")
    func pairs() throws {
        for scalar in [0x10000, 0x103FF, 0x10400, 0x1F600, 0x2FFFF, 0xFFFFF, 0x100000, 0x10FFFF] as [UInt32] {
            let high = String(0xD800 + (scalar - 0x10000) >> 10, radix: 16)
            let low = String(0xDC00 + (scalar - 0x10000) & 0x3FF, radix: 16)
            let plain = String(try #require(Unicode.Scalar(scalar)))
            #expect(try value("\"\\u\(high)\\u\(low)\"").string == plain)
            #expect(try value("\"\(plain)\"").string == plain)
        }
    }

    @Test("Two bytes are taken exactly when they are UTF-8")
    func everyTwoBytes() {
        for first in UInt8(0x80)...0xFF {
            for second in UInt8(0x23)...0xFF where second != 0x5C {
                let isValid = String(validating: [first, second], as: UTF8.self) != nil
                #expect((refusal(quoted([first, second])) == nil) == isValid, "\(first) \(second)")
            }
        }
    }

    @Test("Longer sequences are taken exactly when they are UTF-8, and no part of one is")
    func longSequences() {
        let edges: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for first in UInt8(0xC0)...0xFF {
            for second in edges {
                for third in edges {
                    for bytes in [
                        [first, second, third], [first, second, third, 0x80], [first, second, third, 0xC0],
                    ] {
                        let isValid = String(validating: bytes, as: UTF8.self) != nil
                        #expect((refusal(quoted(bytes)) == nil) == isValid, "\(bytes)")
                    }
                }
            }
        }
    }

    @Test("What the bytes become later does not change the document")
    func ownCopy() throws {
        var bytes = Array(#"{"name":"value","n":12}"#.utf8)
        let document = try bytes.withUnsafeBytes { try JSONDocument(parsing: $0) }
        for index in bytes.indices { bytes[index] = 0x7A }
        #expect(document.root["name"]?.string == "value")
        #expect(document.root["n"]?.int == 12)
    }
}
