import GatewayTesting
import GatewayTypes
import HTTPClient
import Testing

@testable import Asking

@Suite("What the dialects have in common")
struct DialectTests {
    @Test(
        arguments: TestDialect.allCases,
        [
            (201, .unusableAnswer), (204, .unusableAnswer), (301, .unusableAnswer), (400, .requestRefused),
            (401, .credentialsRefused), (402, .credentialsRefused), (403, .credentialsRefused),
            (404, .notOffered), (408, .totalTimeout), (413, .contextTooLong), (422, .requestRefused),
            (429, .rateLimited(retryAfterSeconds: 7)), (500, .serverError), (502, .serverError),
            (503, .overloaded(retryAfterSeconds: 7)), (504, .totalTimeout), (529, .overloaded(retryAfterSeconds: 7)),
        ] as [(Int, ProviderFailure)])
    func `A status means the same everywhere`(dialect: TestDialect, case: (status: Int, failure: ProviderFailure)) {
        for body in ["", "<html>", "{}", "[]", #"{"error":null}"#, #"{"error":{"message":"secret words"}}"#] {
            for streams in [true, false] {
                let reading = Reading(
                    Array(body.utf8), of: dialect, streams: streams, every: 5, status: `case`.status, wait: 7)
                #expect(reading.failure == `case`.failure && reading.text.isEmpty && reading.finish == nil)
            }
        }
    }

    @Test(
        arguments: [
            (.openai, 429, nil, #"{"error":{"code":"insufficient_quota"}}"#, .credentialsRefused),
            (.openai, 429, nil, #"{"error":{"type":"insufficient_quota","code":null}}"#, .credentialsRefused),
            (
                .openai, 429, 3, #"{"error":{"type":"tokens","code":"rate_limit_exceeded"}}"#,
                .rateLimited(retryAfterSeconds: 3)
            ),
            (.openai, 400, nil, #"{"error":{"code":"context_length_exceeded"}}"#, .contextTooLong),
            (.anthropic, 400, nil, #"{"type":"error","error":{"type":"billing_error"}}"#, .credentialsRefused),
            (
                .anthropic, 429, 9, #"{"type":"error","error":{"type":"rate_limit_error"}}"#,
                .rateLimited(retryAfterSeconds: 9)
            ),
            (.gemini, 400, nil, #"{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}"#, .credentialsRefused),
            (.gemini, 429, nil, #"{"error":{"details":[{"retryDelay":"12s"}]}}"#, .rateLimited(retryAfterSeconds: 12)),
            (
                .gemini, 429, nil, #"[{"error":{"details":[{"retryDelay":"12s"}]}}]"#,
                .rateLimited(retryAfterSeconds: 12)
            ),
            (.gemini, 429, 3, #"{"error":{"details":[{"retryDelay":"12s"}]}}"#, .rateLimited(retryAfterSeconds: 3)),
        ] as [(TestDialect, Int, Int?, String, ProviderFailure)])
    func `A refusal's body tells more than its status where it can`(
        dialect: TestDialect, status: Int, wait: Int?, body: String, failure: ProviderFailure
    ) {
        for streams in [true, false] {
            let reading = Reading(
                Array(body.utf8), of: dialect, streams: streams, every: 3, status: status, wait: wait)
            #expect(reading.failure == failure)
        }
    }

    @Test(arguments: [
        #"{"error":{"code":"content_filter","status":400}}"#,
        #"{"error":{"code":"BadRequest","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
    ])
    func `A prompt that is withheld by a 400 is an answer without words`(body: String) {
        for streams in [true, false] {
            let reading = Reading(Array(body.utf8), of: .openai, streams: streams, status: 400)
            #expect(reading.failure == nil && reading.finish == .contentFilter)
        }
    }

    @Test(arguments: TestDialect.allCases)
    func `A refusal without end is not read on`(dialect: TestDialect) {
        for streams in [true, false] {
            let decoder = dialect.decoder(streams: streams)
            let reading = Reading([], of: dialect, streams: streams)
            let head = UpstreamHead(status: 429, contentType: "application/json", retryAfterSeconds: 2)
            #expect(decoder.receive(head: head) == nil)
            var failure: ProviderFailure?
            var taken = 0
            while failure == nil, taken < 1 << 20 {
                failure = Array(repeating: 0x20, count: 4096).withUnsafeBytes { decoder.receive($0, into: reading) }
                taken += 4096
            }
            #expect(failure == .rateLimited(retryAfterSeconds: 2) && taken < 1 << 18)
        }
    }

    @Test(arguments: TestDialect.allCases)
    func `Only the media type of a stream is one`(dialect: TestDialect) {
        for type in ["", "application/json", "text/html", "text/plain; text/event-stream"] {
            let head = UpstreamHead(status: 200, contentType: type)
            #expect(dialect.decoder(streams: true).receive(head: head) == .unusableAnswer)
        }
        let head = UpstreamHead(status: 200, contentType: "text/event-stream; charset=utf-8")
        #expect(dialect.decoder(streams: true).receive(head: head) == nil)
        #expect(dialect.decoder(streams: false).receive(head: head) == .unusableAnswer)
    }

    @Test(arguments: TestDialect.allCases)
    func `A body that is too large is given up`(dialect: TestDialect) {
        let wire = Array(repeating: UInt8(0x20), count: 5 << 20)
        #expect(Reading(wire, of: dialect, streams: false, every: 65536).failure == .unusableAnswer)
        #expect(Reading(Array("data: ".utf8) + wire, of: dialect, streams: true).failure == .unusableAnswer)
    }

    @Test(arguments: TestDialect.allCases)
    func `Garbage of any kind ends nothing well`(dialect: TestDialect) {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            for streams in [true, false] {
                let reading = Reading(bytes, of: dialect, streams: streams, every: 9)
                #expect(reading.failure != nil && reading.text.isEmpty && reading.ends == 0, "\(bytes)")
            }
        }
    }

    // MARK: Addresses

    private func url(_ addresses: Endpoints.Addresses, _ model: ModelName, streams: Bool = false) -> String {
        Endpoints(addresses) { UpstreamEndpoint(url: $0, headers: []) }.endpoint(for: model, streams: streams).url
    }

    @Test func `An address names the model as one segment`() {
        let addresses = Endpoints.Addresses("https://x/{model}:a?v=1", stream: "https://x/{model}:b?v=1")
        #expect(self.url(addresses, "m-1.5_x~") == "https://x/m-1.5_x~:a?v=1")
        #expect(self.url(addresses, "m", streams: true) == "https://x/m:b?v=1")
        #expect(self.url(addresses, "../a/b?c#d%&e f") == "https://x/..%2Fa%2Fb%3Fc%23d%25%26e%20f:a?v=1")
        #expect(self.url(addresses, "مدل\n") == "https://x/%D9%85%D8%AF%D9%84%0A:a?v=1")
    }

    @Test func `Calls to one place share its endpoint, and so its connections`() {
        let fixed = Endpoints(.init("https://x/a")) { UpstreamEndpoint(url: $0, headers: []) }
        #expect(fixed.endpoint(for: "m", streams: true) === fixed.endpoint(for: "n", streams: false))
        let named = Endpoints(.init("https://x/{model}")) { UpstreamEndpoint(url: $0, headers: []) }
        #expect(named.endpoint(for: "m", streams: true) === named.endpoint(for: "m", streams: true))
        #expect(named.endpoint(for: "m", streams: true) !== named.endpoint(for: "n", streams: true))
    }
}
