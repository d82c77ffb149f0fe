import HTTPCodec
import Testing

@Suite struct MediaTypeTests {
    @Test(arguments: [
        ("identity", true), ("Identity", true), ("", true), (" identity , ,IDENTITY", true), ("gzip", false),
        ("identity, gzip", false), ("br,identity", false), ("identityx", false), ("x", false), (",", true),
        ("gzip;q=0", false),
    ])
    func codingsAreTold(_ value: String, _ expected: Bool) {
        #expect(MediaType.isIdentity(Array(value.utf8).span) == expected)
    }

    @Test(arguments: [
        ("application/json", true), ("Application/JSON; charset=utf-8", true), (" application/json\t;x", true),
        ("application/problem+json", true), ("application/vnd.a+JSON;v=1", true), ("application/+json", false),
        ("application/jsonp", false), ("text/json", false), ("application/x-www-form-urlencoded", false), ("", false),
        ("application/json, text/plain", false), ("text/plain; application/json", false), ("image/svg+json", false),
        ("applicatioN/x+jso", false),
    ])
    func jsonIsRecognised(_ value: String, _ expected: Bool) {
        #expect(MediaType.isJSON(Array(value.utf8).span) == expected)
    }

    @Test(arguments: [
        ("text/event-stream", true), ("TEXT/EVENT-STREAM", true), ("text/event-stream, */*", true),
        ("text/event-stream, */*;q=0.1", true), ("*/*, text/event-stream;q=0.5", false),
        ("application/json, text/event-stream", false), ("text/event-stream, application/json", false),
        ("application/json;q=0.9, text/event-stream", true), ("application/json, text/event-stream;q=0.9", false),
        ("application/json;q=0.5, text/event-stream;q=0.51", true), ("text/event-stream;q=0", false),
        ("text/event-stream;q=0.000", false), ("text/event-stream;q=0.001", true), ("text/event-stream;q=2", false),
        ("text/event-stream;q=1.001", false), ("text/event-stream;q=x", false), ("text/event-stream;q=", false),
        ("text/event-stream;q=0.0001", false), ("text/event-stream ; Q=1.000", true), ("*/*", false), ("text/*", false),
        ("application/json", false), ("", false), (",,", false), ("text/event-stream;a=\",\";q=0", false),
        ("text/event-stream;q=0.5, application/*;q=0.6", false),
        ("text/event-stream;q=0.7, application/*;q=0.6, */*", true),
        ("text/event-stream;q=0.1, text/event-stream", true), ("application/json;q=0, text/event-stream", true),
    ])
    func eventStreamsArePreferredOnlyWhenNamed(_ accept: String, _ expected: Bool) {
        #expect(MediaType.prefersEventStream(Array(accept.utf8).span) == expected)
    }

    @Test func acceptMayTakeSeveralLines() throws {
        let two = try #require(
            readHead(request("GET / HTTP/1.1", "Accept: application/json;q=0.5", "Accept: text/event-stream")))
        #expect(two.prefersEventStream)
        let tie = try #require(
            readHead(request("GET / HTTP/1.1", "Accept: application/json", "Accept: text/event-stream")))
        #expect(!tie.prefersEventStream)
        #expect(try #require(readHead(request())).prefersEventStream == false)
    }
}
