import HTTPCodec
import Testing

@Suite struct FieldLineTests {
    @Test(arguments: [
        ("X-A: b", "X-A=b"), ("X-A:b", "X-A=b"), ("X-A:", "X-A="), ("X-A: \t ", "X-A="), ("X-A:\t b c \t", "X-A=b c"),
        ("X-A: a\tb", "X-A=a\tb"), ("!#$%&'*+-.^_`|~9: x", "!#$%&'*+-.^_`|~9=x"), ("X-A: :", "X-A=:"),
        ("X-A: caf\u{E9}", "X-A=caf\u{E9}"), ("X-A: \u{85}\u{A0}", "X-A=\u{85}\u{A0}"),
    ])
    func valuesAreTrimmedOfBlanksOnly(_ line: String, _ expected: String) throws {
        let facts = try #require(parse(request("GET / HTTP/1.1", line)).facts)
        #expect(facts.fields.last.map { Array($0.utf8) } == Array(expected.utf8))
    }

    @Test(arguments: [
        ("X A: b", HTTPFailure.invalidFieldName), ("X-A : b", .invalidFieldName), ("X-A\t: b", .invalidFieldName),
        (": b", .invalidFieldName), ("[]: b", .invalidFieldName), ("X\u{E9}: b", .invalidFieldName),
        ("X\u{0}: b", .invalidFieldName), ("X-A", .invalidFieldName), ("X(A): b", .invalidFieldName),
        ("\"X\": b", .invalidFieldName), ("X/A: b", .invalidFieldName), (" X-A: b", .obsoleteFolding),
        ("\tX-A: b", .obsoleteFolding), (" ", .obsoleteFolding), ("X-A: a\u{0}b", .invalidFieldValue),
        ("X-A: \u{B}", .invalidFieldValue), ("X-A: \u{C}", .invalidFieldValue), ("X-A: \u{7F}", .invalidFieldValue),
        ("X-A: \u{1B}[0m", .invalidFieldValue), ("X-A: a\rb", .bareLineEnd), ("X-A: a\nb", .bareLineEnd),
        ("X-A: a\r", .bareLineEnd), ("X-A\n: b", .bareLineEnd), ("X-A: b\r\n c", .obsoleteFolding),
        ("X-A: b\r\n\tc", .obsoleteFolding), ("X-A: b\r\n \r\nX-B: c", .obsoleteFolding),
    ])
    func faultyLinesAreRefused(_ line: String, _ failure: HTTPFailure) {
        let text = request("GET / HTTP/1.1", line)
        #expect(parse(text).failure == failure)
        #expect(drip(Array(text.utf8)).failure == failure)
        #expect(failure.status == 400)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\nHost: app.test\n\n", "GET / HTTP/1.1\r\nHost: app.test\n\r\n",
        "GET / HTTP/1.1\r\nHost: app.test\r\n\n", "GET / HTTP/1.1\rHost: app.test\r\r", "GET / HTTP/1.1\r\n\rHost: a",
        "GET / HTTP/1.1\r\nHost: app.test\r\n\rX", "GET / HTTP/1.1\r\r\nHost: app.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: app.test\r\r\n\r\n",
    ])
    func linesEndInBothCarriageReturnAndLineFeed(_ text: String) throws {
        #expect(try #require(parse(text).failure).status == 400)
        #expect(drip(Array(text.utf8)).failure == parse(text).failure)
    }

    @Test func invalidUTF8IsKeptAsItIs() throws {
        let bytes =
            Array("GET / HTTP/1.1\r\nHost: a\r\nX-A: ".utf8) + [0xFF, 0xC3, 0x28, 0x80] + Array("\r\n\r\n".utf8)
        guard case .head(let head, _) = RequestHeadParser.parse(bytes.span, limits: HTTPLimits()) else {
            Issue.record("refused")
            return
        }
        let range = try #require(head.value(named: "x-a"))
        #expect(Array(head.bytes[range]) == [0xFF, 0xC3, 0x28, 0x80])
    }

    @Test(arguments: [
        ("hOsT", KnownField.host), ("AUTHORIZATION", .authorization), ("content-type", .contentType),
        ("Accept", .accept), ("Accept-Language", .acceptLanguage), ("Idempotency-Key", .idempotencyKey),
        ("Last-Event-ID", .lastEventID), ("traceparent", .traceparent), ("TraceState", .tracestate),
        ("X-Forwarded-For", .xForwardedFor), ("Forwarded", .forwarded), ("Content-Encoding", .contentEncoding),
        ("Connection", .connection),
    ])
    func knownFieldsAreFoundWhateverTheirCase(_ name: String, _ field: KnownField) throws {
        let text =
            field == .host ? "GET / HTTP/1.1\r\n\(name): v.test\r\n\r\n" : request("GET / HTTP/1.1", "\(name):  v.test")
        let head = try #require(readHead(text))
        let value = head.withValue(of: field) { String(decoding: Array(copying: $0), as: UTF8.self) }
        #expect(value == "v.test")
        #expect(head.count(of: field) == 1)
    }

    @Test(arguments: [
        "Hos_", "Acc_pt", "Accept_Language", "X_Forwarded_For", "Content_Length", "Transfer_Encoding", "Forwardex",
        "Traceparenu", "Content-Typf", "Authorisation", "Transfer-Encodinh", "xTransfer-Encoding", "Acdept", "Hoot",
    ])
    func namesThatOnlyResembleKnownFieldsAreOthers(_ name: String) throws {
        let head = try #require(readHead(request("GET / HTTP/1.1", "\(name): 5")))
        #expect(head.fields.last.map { $0.known == nil } == true)
        #expect(head.framing == .none)
    }

    @Test func repeatedFieldsAreCountedAndLent() throws {
        let head = try #require(
            readHead(
                request(
                    "GET / HTTP/1.1", "Authorization: a", "X-Forwarded-For: 1", "authorization: b", "X-Forwarded-For: 2"
                )))
        #expect(head.count(of: .authorization) == 2)
        #expect(head.count(of: .contentType) == 0)
        var values: [String] = []
        head.forEachValue(of: .xForwardedFor) { values.append(String(decoding: Array(copying: $0), as: UTF8.self)) }
        #expect(values == ["1", "2"])
        #expect(head.withValue(of: .authorization) { $0.count } == 1)
        #expect(head.withValue(of: .contentEncoding) { $0.count } == nil)
    }

    @Test func otherFieldsAreFoundByName() throws {
        let head = try #require(readHead(request("GET /here HTTP/1.1", "X-Thing: one", "x-THING: two")))
        let range = try #require(head.value(named: "x-thing"))
        #expect(head.withBytes(range) { Array(copying: $0) } == Array("one".utf8))
        #expect(head.value(named: "x-thin") == nil)
        #expect(head.pathIs("/here"))
        #expect(!head.pathIs("/her"))
        #expect(head.withBytes(head.bytes.count - 1..<head.bytes.count + 9) { $0.count } == 1)
    }
}

extension Array where Element == UInt8 {
    init(copying span: Span<UInt8>) {
        self = span.withUnsafeBufferPointer { Array($0) }
    }
}
