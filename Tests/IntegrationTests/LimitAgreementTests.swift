import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What answers, refusals and `GET /v1/quota` say of one counter is the same, to the unit and the second.
@Suite("Limits told in several places", .oneOfFewThreads, .gateway(GatewaySettings(zone: "Asia/Kathmandu")))
struct LimitAgreementTests {
    @Test(arguments: [0, 3500])
    func `A whole answer says what the quota says, however long it took`(milliseconds: Int) throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-3")
        let marker = Caller.unique("slow")
        let gate = Gate()
        let body = OpenAIShapes.completion("ok", usage: OpenAIShapes.Usage(30, 12).json)
        let script = gateway.provider.script(
            marker,
            .init(
                headers: [("Content-Type", "application/json")], framing: .chunked, steps: [.wait(gate), .send(body)]))
        let client = try gateway.client()
        try gateway.send(Ask(marker), as: caller, on: client)
        script.waitForCall()
        Stopwatch.sleep(milliseconds: milliseconds)
        gate.open()
        let response = try #require(try client.response())
        let told = Stopwatch()
        #expect(response.status == 200)
        let quota = try gateway.quota(caller)
        try self.expectAgreement(of: response, with: quota, told, name: "requests_per_minute", family: "requests")
        try self.expectAgreement(of: response, with: quota, told, name: "tokens_per_day", family: "tokens")
        #expect(quota["requests_per_minute"]?.used == 1)
        #expect(quota["tokens_per_day"]?.used == 42)
    }

    @Test func `A refusal by the minute says the same in its body, its fields and the quota`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-2")
        for _ in 0..<2 { #expect(try gateway.ask(Ask("pass"), as: caller).status == 200) }
        // The first refusal is the store's, the second one is remembered in front of it.
        for _ in 0..<2 {
            let refused = try gateway.ask(Ask("refused"), as: caller).response
            let told = Stopwatch()
            #expect(refused.status == 429)
            let limit = try #require(refused.json?["limit"])
            let wait = try #require(limit["resetSeconds"]?.int)
            #expect(refused.header("retry-after") == String(wait))
            #expect(refused.header("ratelimit")?.contains("\"rpm\";r=0;t=\(wait)") == true)
            #expect(self.seconds(refused.header("x-ratelimit-reset-requests")) == wait)
            let quota = try gateway.quota(caller)
            #expect(quota["requests_per_minute"]?.limit == limit["limit"]?.int)
            #expect(quota["requests_per_minute"]?.remaining == limit["remaining"]?.int)
            try self.expectAgreement(of: refused, with: quota, told, name: "requests_per_minute", family: "requests")
        }
    }

    @Test func `A refusal by the day waits for midnight where the tenant is`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("day-0")
        let before = self.secondsToMidnightInKathmandu
        let refused = try gateway.ask(Ask("day"), as: caller).response
        let after = self.secondsToMidnightInKathmandu
        let told = Stopwatch()
        #expect(refused.status == 429)
        #expect(refused.header("x-should-retry") == "false")
        let wait = try #require(refused.json?["limit"]?["resetSeconds"]?.int)
        // Once a day midnight comes between the two readings.
        if after <= before { #expect((after...before).contains(wait)) }
        #expect(refused.header("retry-after") == String(wait))
        #expect(self.seconds(refused.header("x-ratelimit-reset-tokens")) == wait)
        let quota = try gateway.quota(caller)
        try self.expectAgreement(of: refused, with: quota, told, name: "tokens_per_day", family: "tokens")
    }

    /// - Parameter told: runs since the response came; the quota was read after it.
    private func expectAgreement(
        of response: HTTPResponse, with quota: [String: Standing], _ told: Stopwatch, name: String, family: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let standing = try #require(quota[name], sourceLocation: sourceLocation)
        let limit = response.header("x-ratelimit-limit-\(family)")
        let remaining = response.header("x-ratelimit-remaining-\(family)")
        #expect(limit == String(standing.limit), sourceLocation: sourceLocation)
        #expect(remaining == String(standing.remaining), sourceLocation: sourceLocation)
        let reset = try #require(
            self.seconds(response.header("x-ratelimit-reset-\(family)")), sourceLocation: sourceLocation)
        // A second for each rounding, of the wait and of the time between.
        let passed = told.milliseconds / 1000 + 2
        #expect(
            (standing.reset...standing.reset + passed).contains(reset), "\(name): \(reset), \(standing.reset)",
            sourceLocation: sourceLocation)
    }

    /// Nepal is 5 hours and 45 minutes ahead all year.
    private var secondsToMidnightInKathmandu: Int { 86_400 - (Stopwatch.wallSeconds() + 20_700) % 86_400 }

    /// Reads `1h2m5s`.
    private func seconds(_ duration: String?) -> Int? {
        guard let duration, duration.last == "s" else { return nil }
        var total = 0
        var number = 0
        for character in duration {
            switch character {
            case "h": (total, number) = (total + number * 3600, 0)
            case "m": (total, number) = (total + number * 60, 0)
            case "s": (total, number) = (total + number, 0)
            default:
                guard let digit = character.wholeNumberValue else { return nil }
                number = number * 10 + digit
            }
        }
        return total
    }
}
