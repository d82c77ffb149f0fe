import HTTPCodec
import Testing

@Suite struct EventWriterTests {
    private func written(_ body: (inout [UInt8]) -> Void) -> String {
        var output: [UInt8] = []
        body(&output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func eventsAreWritten() {
        let text = self.written {
            EventWriter.event(data: Array("{\"a\":1}".utf8).span, to: &$0)
            EventWriter.heartbeat(to: &$0)
            EventWriter.event("answer", data: Array("x".utf8).span, to: &$0)
            let mark = EventWriter.open("finish", in: &$0)
            $0 += Array("{}".utf8)
            EventWriter.close(mark, in: &$0)
            EventWriter.event(data: [UInt8]().span, to: &$0)
        }
        #expect(
            text == "data: {\"a\":1}\n\n: ping\n\nevent: answer\ndata: x\n\nevent: finish\ndata: {}\n\ndata: \n\n")
    }

    @Test(arguments: [
        "", " ", "a", " a ", "a\nb", "a\r\nb", "a\rb", "\n", "\r\n\r\n", "a\n\ndata: evil\n\nb", "a\nevent: evil",
        "a\n\r\rb\r\n", ":\n:", "a\u{2028}b\u{85}", "[DONE]", "\n\n[DONE]\n\n",
    ])
    func whatIsWrittenIsOneEventWithTheSameLines(_ data: String) {
        let text = self.written { EventWriter.event("kind", data: Array(data.utf8).span, to: &$0) }
        var lines: [UInt8] = []
        var previous: UInt8 = 0
        for byte in data.utf8 {
            if byte == 0x0D { lines.append(0x0A) } else if byte != 0x0A || previous != 0x0D { lines.append(byte) }
            previous = byte
        }
        let read = events(text)
        #expect(read.events == [.init(type: "kind", data: String(decoding: lines, as: UTF8.self))])
        #expect(!read.isCut)
    }

    @Test func eventsGoIntoChunksInPlace() {
        let text = self.written {
            let chunk = ChunkWriter.open(in: &$0)
            let event = EventWriter.open(in: &$0)
            $0 += Array("a\nb".utf8)
            EventWriter.close(event, in: &$0)
            ChunkWriter.close(chunk, in: &$0)
            ChunkWriter.end(to: &$0)
        }
        #expect(events(decode(text).body).data == ["a\nb"])
    }
}
