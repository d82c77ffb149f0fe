import HTTPCodec
import Testing

@Suite struct HeadLimitTests {
    /// A request line of exactly `count` bytes.
    private func line(_ count: Int) -> String {
        "GET /" + String(repeating: "a", count: count - 14) + " HTTP/1.1"
    }

    @Test func requestLineMayTakeItsLimit() {
        #expect(parse(request(self.line(8192))).facts != nil)
        #expect(parse(request(self.line(8193))).failure == .targetTooLong)
        #expect(HTTPFailure.targetTooLong.status == 414)
    }

    @Test func targetWithoutEndIsRefusedEarly() {
        let endless = Array(("GET /" + String(repeating: "a", count: 1 << 20)).utf8)
        #expect(parse(endless).failure == .targetTooLong)
        #expect(parse(endless, cutAt: stride(from: 1000, to: 13000, by: 1000)).failure == .targetTooLong)
        #expect(parse(Array(endless.prefix(8191))) == .incomplete)
    }

    @Test func hundredFieldsAreServed() {
        let field = { (count: Int) in Array(repeating: "X-A: b", count: count) }
        #expect(parse(request("GET / HTTP/1.1", field(99))).facts?.fields.count == 100)
        #expect(parse(request("GET / HTTP/1.1", field(100))).failure == .tooManyFields)
        #expect(parse(request("GET / HTTP/1.1", field(200_000))).failure == .tooManyFields)
        #expect(HTTPFailure.tooManyFields.status == 431)
    }

    @Test func nameMayTakeItsLimit() {
        let name = { (count: Int) in String(repeating: "n", count: count) + ": v" }
        #expect(parse(request("GET / HTTP/1.1", name(256))).facts != nil)
        #expect(parse(request("GET / HTTP/1.1", name(257))).failure == .fieldTooLarge)
        #expect(parse("GET / HTTP/1.1\r\n" + String(repeating: "n", count: 300)).failure == .fieldTooLarge)
        #expect(HTTPFailure.fieldTooLarge.status == 431)
    }

    @Test func valueMayTakeItsLimit() {
        let value = { (count: Int) in "X-A: " + String(repeating: "v", count: count) }
        #expect(parse(request("GET / HTTP/1.1", value(16384))).facts != nil)
        #expect(parse(request("GET / HTTP/1.1", value(16385))).failure == .fieldTooLarge)
        #expect(parse("GET / HTTP/1.1\r\n" + value(1 << 20)).failure == .fieldTooLarge)
    }

    @Test func credentialsMayTakeTheirLimit() {
        let value = { (count: Int) in "authorization: " + String(repeating: "v", count: count) }
        #expect(parse(request("GET / HTTP/1.1", value(8192))).facts != nil)
        #expect(parse(request("GET / HTTP/1.1", value(8193))).failure == .fieldTooLarge)
    }

    @Test func headMayTakeItsLimit() {
        let value = String(repeating: "v", count: 16000)
        let start = "GET / HTTP/1.1\r\nHost: app.test\r\nA: \(value)\r\nB: \(value)\r\nC: "
        let room = 32768 - start.utf8.count - 4
        let whole = Array((start + String(repeating: "v", count: room) + "\r\n\r\n").utf8)
        #expect(whole.count == 32768)
        #expect(parse(whole).consumed == 32768)
        #expect(parse(Array("\r\n\r\n".utf8) + whole).consumed == 32772)
        #expect(drip(whole).consumed == 32768)
        let over = Array((start + String(repeating: "v", count: room + 1) + "\r\n\r\n").utf8)
        #expect(parse(over).failure == .headTooLarge)
        #expect(drip(over).failure == .headTooLarge)
        #expect(parse(Array(over.prefix(32767))) == .incomplete)
        #expect(parse(Array(over.prefix(32768))).failure == .headTooLarge)
    }

    @Test func unfinishedHeadThatDripsInIsRefusedBeforeTheLimitOfAll() {
        var bytes = Array("GET / HTTP/1.1\r\n".utf8)
        for _ in 0..<3000 { bytes += Array("X-A: b\r\n".utf8) }
        #expect(parse(bytes, cutAt: 1...8192).failure == .tooManyFields)
        let long = Array(("GET / HTTP/1.1\r\nX-A: " + String(repeating: "v", count: 30000)).utf8)
        #expect(parse(long, cutAt: 1...20480).failure == .fieldTooLarge)
    }

    @Test func narrowLimitsHold() {
        var limits = HTTPLimits()
        limits.headBytes = 64
        limits.requestLineBytes = 20
        limits.fields = 1
        limits.leadingEmptyLines = 0
        #expect(parse("GET /123456 HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).facts != nil)
        #expect(parse("GET /1234567 HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).failure == .targetTooLong)
        #expect(parse("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n", limits: limits).failure == .tooManyFields)
        #expect(parse("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).failure == .malformedRequestLine)
        let unfinished = Array("GET / HTTP/1.1\r\nHost: a.test\r\nX-A: some words and no end of them, none at all".utf8)
        limits.fields = 2
        #expect(parse(unfinished, cutAt: 1...63, limits: limits) == .incomplete)
        #expect(parse(unfinished, cutAt: 1...64, limits: limits).failure == .headTooLarge)
        limits.headBytes = 0
        #expect(parse("GET / HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).failure == .headTooLarge)
    }

    @Test func everyFailureHasAStatusAndItsOwnLabel() {
        for failure in HTTPFailure.allCases {
            #expect((400...505).contains(failure.status))
            #expect(failure.metricLabel.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) })
        }
        #expect(Set(HTTPFailure.allCases.map(\.metricLabel)).count == HTTPFailure.allCases.count)
    }
}
