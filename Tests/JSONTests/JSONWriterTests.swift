import JSON
import Testing

@Suite("What the writer writes")
struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Commas stand between, never before or after")
    func commas() {
        let text = self.written {
            $0.beginObject()
            $0.name("a")
            $0.beginArray()
            $0.integer(1)
            $0.bool(true)
            $0.null()
            $0.beginArray()
            $0.endArray()
            $0.beginObject()
            $0.endObject()
            $0.string("x")
            $0.endArray()
            $0.name("b")
            $0.raw(Array("{\"r\":1}".utf8))
            $0.name("c")
            $0.number(0.7)
            $0.endObject()
        }
        #expect(text == #"{"a":[1,true,null,[],{},"x"],"b":{"r":1},"c":0.7}"#)
    }

    @Test("Integers of every size", arguments: [0, 7, 10, -1, 1_234_567_890, Int.max, Int.min])
    func integers(value: Int) { #expect(self.written { $0.integer(value) } == String(value)) }

    @Test(
        "Doubles read back as the same number",
        arguments: [0, -0.0, 0.1, 1e300, .leastNonzeroMagnitude, 1e20, 123456789.25, .pi])
    func doubles(value: Double) throws {
        let text = self.written { $0.number(value) }
        #expect(try JSONDocument(parsing: Array(text.utf8)).root.number == value)
    }

    @Test("What JSON has no word for becomes null", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(value: Double) { #expect(self.written { $0.number(value) } == "null") }

    @Test("Control characters, quotes and backslashes are escaped, nothing else")
    func escapes() {
        #expect(
            self.written { $0.string("\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1F}\"\\/") }
                == #""\u0001\b\t\n\u000b\f\r\u001f\"\\/""#)
        #expect(self.written { $0.string("سلام 😀 \u{7F}\u{2028}") } == "\"سلام 😀 \u{7F}\u{2028}\"")
    }

    @Test("Every byte at every place of a word reads back")
    func everyPlace() throws {
        for byte in UInt8(0)..<0x80 {
            for place in 0..<20 {
                var text = [UInt8](repeating: 0x61, count: 20)
                text[place] = byte
                var writer = JSONWriter()
                writer.string(utf8: text)
                #expect(try JSONDocument(parsing: writer.bytes).root.bytes == text)
            }
        }
    }

    @Test("Characters above ASCII beside escapes read back")
    func mixedText() throws {
        for length in 0..<24 {
            let text = String(repeating: "é", count: length) + "\n" + String(repeating: "x", count: length) + "\"😀"
            var writer = JSONWriter()
            writer.string(text)
            #expect(try JSONDocument(parsing: writer.bytes).root.string == text)
        }
    }

    @Test("It writes at the end of a buffer that has something in it")
    func appending() {
        var buffer = Array("data: ".utf8)
        JSONWriter.append(to: &buffer) {
            $0.beginArray()
            $0.endArray()
        }
        #expect(String(decoding: buffer, as: UTF8.self) == "data: []")
    }
}
