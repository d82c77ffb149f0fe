import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Callers that try tokens.
@Suite("Hostile callers", .oneOfFewThreads)
struct HostileCallerTests {
    private static let stranger = TokenMint.hmac(
        Array("a-secret-that-nobody-here-has-ever-seen".utf8), keyID: "accounts")

    private func badToken(_ number: Int) -> String {
        Self.stranger.token(
            claims: TokenMint.claims(
                issuer: "https://id.acme.test", audience: "acme-app", subject: "mallory-\(number)",
                now: Int64(Stopwatch.wallSeconds())), header: Self.stranger.header(type: "JWT"))
    }

    @Test func `Failed authentications of one address are limited, and nobody else's`() throws {
        var settings = GuestGateway.Settings()
        settings.failures = 10
        settings.loops = 1
        let gateway = try GuestGateway(settings)
        let known = GuestGateway.account("alice")
        #expect(try gateway.ask(known, from: "192.0.2.66").status == 200)
        var statuses: [Int] = []
        var last: HTTPResponse?
        for number in 0..<14 {
            last = try gateway.ask(self.badToken(number), from: "192.0.2.66")
            statuses.append(last?.status ?? 0)
        }
        #expect(statuses == [Int](repeating: 401, count: 10) + [Int](repeating: 429, count: 4))
        let answer = try #require(last)
        #expect(answer.json?["code"]?.string == "too_many_failed_authentications")
        #expect((1...7).contains(answer.header("retry-after").flatMap { Int($0) } ?? 0))
        // Who was let in before sits behind the same address and stays; a new token has to wait.
        #expect(try gateway.ask(known, from: "192.0.2.66").status == 200)
        #expect(try gateway.ask(GuestGateway.account("bob"), from: "192.0.2.66").status == 429)
        #expect(try gateway.ask(GuestGateway.account("bob"), from: "192.0.2.67").status == 200)
        // No token at all tries nothing.
        #expect(try gateway.call("GET", "/v1/quota", from: "192.0.2.66").status == 401)
        let metrics = gateway.process.metrics
        #expect(metrics.value("askgate_authentication_failures_total", ["reason": "bad_signature"]) == 10)
        #expect(metrics.value("askgate_authentication_failures_total", ["reason": "too_many_failures"]) == 5)
        let record = gateway.process.record(of: answer.header("x-request-id"))
        #expect(record?.json["refusal"]?.string == "too_many_failures")
        #expect(!gateway.process.everySink.contains("mallory"))
    }

    @Test func `A claim with a bad token counts as well`() throws {
        var settings = GuestGateway.Settings()
        settings.failures = 3
        let gateway = try GuestGateway(settings)
        let account = GuestGateway.account("alice")
        let statuses = try (0..<5).map { try gateway.claim(self.badToken($0), as: account).status }
        #expect(statuses == [400, 400, 400, 429, 429])
    }

    @Test func `Only trusted proxies say who is asking`() throws {
        var settings = GuestGateway.Settings()
        settings.failures = 5
        settings.proxies = "none"
        let gateway = try GuestGateway(settings)
        let statuses = try (0..<7).map { try gateway.ask(self.badToken($0), from: "192.0.2.\($0)").status }
        #expect(statuses == [401, 401, 401, 401, 401, 429, 429])
        var guests = GuestGateway.Settings()
        guests.proxies = "none"
        guests.sessionsPerMinute = 3
        let other = try GuestGateway(guests)
        let sessions = try (0..<5).map { try other.guest("installation-number-\($0)", from: "192.0.2.\($0)").status }
        #expect(sessions == [201, 201, 201, 429, 429])
    }

    @Test func `All 401 bodies are alike, and the reason is in the record`() throws {
        let gateway = try GuestGateway()
        let expired = GuestGateway.account("alice", ["exp": "1000000000"])
        let elsewhere = GuestGateway.account("alice", ["aud": #""another""#])
        let tokens = [self.badToken(1), expired, elsewhere, "nonsense"]
        let answers = try tokens.map { try gateway.ask($0) }
        #expect(answers.allSatisfy { $0.status == 401 })
        #expect(Set(answers.map(\.text)).count == 1)
        #expect(Set(answers.map { $0.header("www-authenticate") ?? "" }).count == 1)
        let reasons = answers.map { answer in
            gateway.process.record(of: answer.header("x-request-id"))?.json["refusal"]?.string
        }
        #expect(reasons == ["bad_signature", "expired", "wrong_audience", "malformed"])
    }
}
