import HTTPCodec
import Testing

@Suite struct RequestLineTests {
    @Test func plainRequestIsRead() throws {
        let text = request("POST /v1/questions?stream=1&x=%20 HTTP/1.1", "Content-Length: 5")
        let result = parse(text)
        let facts = try #require(result.facts)
        #expect(facts.method == .post)
        #expect(facts.path == "/v1/questions")
        #expect(facts.query == "stream=1&x=%20")
        #expect(facts.authority == "app.test")
        #expect(facts.minorVersion == 1)
        #expect(facts.framing == .length(5))
        #expect(facts.keepAlive)
        #expect(facts.fields == ["Host=app.test", "Content-Length=5"])
        #expect(result.consumed == text.utf8.count)
    }

    @Test(arguments: HTTPMethod.allCases.filter { $0 != .unknown })
    func everyKnownMethodIsRecognised(_ method: HTTPMethod) {
        #expect(parse(request("\(method.rawValue) / HTTP/1.1")).facts?.method == method)
    }

    @Test(arguments: ["get", "Post", "GETS", "GE", "PROPFIND", "M-SEARCH", "PRI", "!#$%&'*+-.^_`|~09", "DELETES"])
    func otherTokensAreUnknownMethods(_ method: String) {
        #expect(parse(request("\(method) / HTTP/1.1")).facts?.method == .unknown)
    }

    @Test(arguments: ["CONNECT app.test:443 HTTP/1.1", "CONNECT / HTTP/1.1", String(repeating: "A", count: 33) + " /"])
    func connectAndOverlongMethodsAreNotImplemented(_ line: String) {
        #expect(parse(request(line)).failure == .methodNotImplemented)
    }

    @Test(arguments: [
        "", " GET / HTTP/1.1", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ", "GET\t/ HTTP/1.1",
        "GET /\tHTTP/1.1", "GET / HTTP/1.1\t", "GET /", "GET / ", "GET", "GET / a HTTP/1.1", "GE(T / HTTP/1.1",
        "GE\u{E9}T / HTTP/1.1", "\u{FEFF}GET / HTTP/1.1", "GET / http/1.1", "GET / HTTP/1", "GET / HTTP/1.",
        "GET / HTTP/11", "GET / HTTP/1.10", "GET / HTTP/10.1", "GET / HTTP/-1.1", "GET / HTTP/1,1", "GET / HTCPCP/1.0",
        "GET / HTTP 1.1", "GET / HTTP/a.1", "GET / HTTP/1.b", "GET / HTTP/1.1x", "\u{16}\u{3}\u{1}\u{2}",
    ])
    func otherShapesOfTheLineAreRefused(_ line: String) throws {
        let failure = try #require(parse("\r\n" + request(line)).failure)
        #expect(failure.status == 400)
        #expect(try #require(drip(Array(request(line).utf8)).failure).status == 400)
    }

    @Test(arguments: [
        ("HTTP/1.0", 0), ("HTTP/1.1", 1), ("HTTP/1.2", 1), ("HTTP/1.9", 1),
    ])
    func minorVersionsAreServed(_ version: String, _ minor: Int) {
        #expect(parse(request("GET / \(version)")).facts?.minorVersion == minor)
    }

    @Test(arguments: ["GET / HTTP/2.0", "GET / HTTP/0.9", "GET / HTTP/3.1", "PRI * HTTP/2.0"])
    func otherMajorVersionsAreRefused(_ line: String) {
        #expect(parse(request(line)).failure == .unsupportedVersion)
        #expect(HTTPFailure.unsupportedVersion.status == 505)
    }

    @Test func twoEmptyLinesMayComeFirst() throws {
        let text = request()
        #expect(parse("\r\n" + text).consumed == text.utf8.count + 2)
        #expect(parse("\r\n\r\n" + text).consumed == text.utf8.count + 4)
        #expect(parse("\r\n\r\n\r\n" + text).failure == .malformedRequestLine)
        #expect(parse("\n" + text).failure == .bareLineEnd)
        #expect(parse("\r" + text).failure == .bareLineEnd)
        #expect(parse("\r\n\r\n") == .incomplete)
    }

    @Test(arguments: [
        "/a#b", "/a\\b", "/\u{7F}", "/\u{1}", "/caf\u{E9}", "*", "//app.test\\", "app.test:443", "a/b", "?x",
        "ftp://app.test/", "http:/app.test", "http://", "http:///x", "http://u@app.test/", "http://u:p@app.test/",
        "http://a,b/", "https://app.test:99999/", "mailto:x@app.test", "**", "#",
    ])
    func targetsOfNoServedFormAreRefused(_ target: String) throws {
        #expect(try #require(parse(request("GET \(target) HTTP/1.1")).failure) == .invalidTarget)
    }

    @Test func asteriskGoesWithOptionsOnly() {
        #expect(parse(request("OPTIONS * HTTP/1.1")).facts?.path == "*")
        #expect(parse(request("POST * HTTP/1.1")).failure == .invalidTarget)
    }

    @Test(arguments: [
        ("http://app.test/a/b?c=d", "/a/b", "c=d"), ("HTTP://APP.TEST/", "/", nil), ("https://app.test", "/", nil),
        ("http://app.test?c", "/", "c"), ("http://app.test?/x", "/", "/x"), ("/a?b?c", "/a", "b?c"), ("/?", "/", ""),
        ("//evil.test/x", "//evil.test/x", nil), ("/%2e%2E/%00", "/%2e%2E/%00", nil),
        ("/a|{}\"<>^`", "/a|{}\"<>^`", nil),
    ])
    func targetsAreDividedAndKeptRaw(_ target: String, _ path: String, _ query: String?) throws {
        let facts = try #require(parse(request("GET \(target) HTTP/1.1")).facts)
        #expect(facts.path == path)
        #expect(facts.query == query)
    }

    @Test func absoluteTargetMustNameTheSameHost() {
        #expect(parse(request("GET http://other.test/ HTTP/1.1")).failure == .hostInvalid)
        #expect(parse(request("GET http://app.test:80/ HTTP/1.1")).failure == .hostInvalid)
        #expect(
            parse(request("GET http://app.test:80/ HTTP/1.1", host: "APP.test:80")).facts?.authority == "app.test:80")
        #expect(parse(request("GET http://app.test/ HTTP/1.1", host: nil)).failure == .hostMissing)
        #expect(parse(request("GET http://app.test/ HTTP/1.0", host: nil)).facts?.authority == "app.test")
    }
}
