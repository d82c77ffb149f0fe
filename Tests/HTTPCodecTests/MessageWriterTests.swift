import HTTPCodec
import Testing

@Suite struct MessageWriterTests {
    private func written(_ body: (inout [UInt8]) -> Void) -> String {
        var output: [UInt8] = []
        body(&output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func responseHeadIsWritten() {
        let text = self.written {
            MessageWriter.statusLine(429, to: &$0)
            MessageWriter.field("content-type", "application/problem+json", to: &$0)
            MessageWriter.field("content-length", 1234, to: &$0)
            MessageWriter.field("x-request-id", bytes: Array("0a1b".utf8).span, to: &$0)
            MessageWriter.endOfHead(to: &$0)
        }
        #expect(
            text == "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\n"
                + "content-length: 1234\r\nx-request-id: 0a1b\r\n\r\n")
    }

    @Test(arguments: [
        (200, "200 OK"), (204, "204 No Content"), (304, "304 Not Modified"), (413, "413 Content Too Large"),
        (503, "503 Service Unavailable"), (299, "299 Success"), (307, "307 Redirect"), (499, "499 Client Error"),
        (599, "599 Server Error"), (100, "100 Informational"), (0, "500 Internal Server Error"),
        (600, "500 Internal Server Error"), (-1, "500 Internal Server Error"), (Int.max, "500 Internal Server Error"),
    ])
    func statusLinesHaveThreeDigitsAndAPhrase(_ status: Int, _ expected: String) {
        #expect(self.written { MessageWriter.statusLine(status, to: &$0) } == "HTTP/1.1 \(expected)\r\n")
    }

    @Test(arguments: HTTPFailure.allCases)
    func everyFailureHasAPhraseOfItsOwn(_ failure: HTTPFailure) {
        let line = self.written { MessageWriter.statusLine(failure.status, to: &$0) }
        #expect(!line.contains("Error\r\n"))
    }

    @Test(arguments: [
        "a\r\nset-cookie: x", "a\nb", "a\rb", "a\u{0}b", "\r\n\r\nHTTP/1.1 200 OK", "\u{7F}\u{1B}",
        "long enough\r\nto skip",
    ])
    func valuesCannotEndTheirLine(_ value: String) {
        let bytes = Array(value.utf8)
        let line = self.written { MessageWriter.field("x", bytes: bytes.span, to: &$0) }
        #expect(line.utf8.dropLast(2).allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        #expect(line.utf8.count == bytes.count + 5)
    }

    @Test func cleaningLeavesEarlierLinesAndTabsAlone() {
        let text = self.written {
            MessageWriter.field("a", "b", to: &$0)
            MessageWriter.field("c", bytes: Array("d\te\u{E9}".utf8).span, to: &$0)
        }
        #expect(text == "a: b\r\nc: d\te\u{E9}\r\n")
    }

    @Test func continueIsAnInterimResponseWithoutFields() {
        #expect(self.written { MessageWriter.continueResponse(to: &$0) } == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    @Test(arguments: [1, 15, 16, 255, 4096, 70000])
    func chunksAreReadBackByTheDecoder(_ count: Int) {
        let data = [UInt8](repeating: 0x61, count: count)
        let text = self.written {
            ChunkWriter.append(data.span, to: &$0)
            let mark = ChunkWriter.open(in: &$0)
            $0 += data
            ChunkWriter.close(mark, in: &$0)
            ChunkWriter.end(to: &$0)
        }
        let decoded = decode(text)
        #expect(decoded.state == .complete)
        #expect(decoded.consumed == text.utf8.count)
        #expect(decoded.body.utf8.elementsEqual(data + data))
    }

    @Test func chunkWithoutDataIsNotWritten() {
        let text = self.written {
            $0 += Array("before".utf8)
            ChunkWriter.append([UInt8]().span, to: &$0)
            let mark = ChunkWriter.open(in: &$0)
            ChunkWriter.close(mark, in: &$0)
        }
        #expect(text == "before")
    }
}

@Suite struct HTTPDateTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
        (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"), (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
        (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"), (1_735_689_600, "Wed, 01 Jan 2025 00:00:00 GMT"),
        (2_147_483_648, "Tue, 19 Jan 2038 03:14:08 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (-1, "Thu, 01 Jan 1970 00:00:00 GMT"), (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (Int64.min, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ])
    func datesAreRendered(_ seconds: Int64, _ expected: String) {
        var date = HTTPDate()
        var output: [UInt8] = []
        date.append(seconds: seconds, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == expected)
    }

    @Test func everyDayOfSixtyYearsFollowsTheOneBefore() {
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        var date = HTTPDate()
        var (year, month, day) = (1970, 0, 1)
        for count in 0..<(60 * 365) {
            var output: [UInt8] = []
            date.append(seconds: Int64(count) * 86400 + 3661, to: &output)
            let number = day < 10 ? "0\(day)" : "\(day)"
            let expected = "\(weekdays[count % 7]), \(number) \(names[month]) \(year) 01:01:01 GMT"
            #expect(String(decoding: output, as: UTF8.self) == expected)
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            day += 1
            if day > lengths[month] { (month, day) = (month + 1, 1) }
            if month == 12 { (year, month) = (year + 1, 0) }
        }
    }

    @Test func sameSecondIsRenderedAlike() {
        var date = HTTPDate()
        var output: [UInt8] = []
        for seconds: Int64 in [100, 100, 101, 100] { date.append(seconds: seconds, to: &output) }
        let parts = stride(from: 0, to: output.count, by: 29).map { Array(output[$0..<$0 + 29]) }
        #expect(parts.count == 4)
        #expect(parts[0] == parts[1])
        #expect(parts[0] != parts[2])
        #expect(parts[0] == parts[3])
    }
}
