import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What operators change holds for the next ask.
@Suite("Operators steer", .ownThread, .gateway())
struct AdminSteeringTests {
    @Test func `A raised limit gives exactly the difference, a lowered one refuses at once`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-2")
        for _ in 0..<6 { _ = try gateway.ask(Ask("raise"), as: caller) }
        try gateway.override("requests_per_minute", of: caller, to: 5)
        let statuses = try (0..<5).map { _ in try gateway.ask(Ask("raise"), as: caller).status }
        #expect(statuses == [200, 200, 200, 429, 429])
        #expect(try gateway.used("requests_per_minute", by: caller) == 5)
        try gateway.override("requests_per_minute", of: caller, to: 3)
        let refused = try gateway.ask(Ask("raise"), as: caller)
        #expect(refused.status == 429 && refused.response.json?["limit"]?["limit"]?.int == 3)
        try gateway.steer("DELETE", gateway.holder(caller) + "/override")
        #expect(try gateway.quota(caller)["requests_per_minute"]?.limit == 2)
        // Nobody else of the plan has seen any of it.
        #expect(try gateway.quota(Caller("rpm-2"))["requests_per_minute"]?.limit == 2)
    }

    @Test func `An override ends by itself`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-0")
        try gateway.override("requests_per_minute", of: caller, to: 100, more: #","expiresInSeconds":1"#)
        #expect(try gateway.ask(Ask("short"), as: caller).status == 200)
        #expect(
            Stopwatch.wait(upTo: .seconds(15), every: 50) {
                (try? gateway.quota(caller))?["requests_per_minute"]?.limit == 0
            })
        #expect(try gateway.ask(Ask("short"), as: caller).status == 429)
    }

    @Test func `A blocked subject is refused until the block is lifted`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let marker = Caller.unique("blocked")
        let script = gateway.provider.script(marker)
        try gateway.steer("PUT", gateway.holder(caller) + "/block", #"{"reason":"leaked key"}"#)
        let refused = try gateway.ask(Ask(marker), as: caller)
        #expect(refused.status == 403 && refused.code == "subject_blocked")
        #expect(script.calls.isEmpty)
        #expect(try gateway.ask(Ask("other"), as: Caller()).status == 200)
        try gateway.steer("DELETE", gateway.holder(caller) + "/block")
        #expect(try gateway.ask(Ask(marker), as: caller).status == 200)
    }

    @Test func `A block of a tenant refuses all of its subjects and no others`() throws {
        let gateway = try TestGateway()
        let claims = TokenMint.claims(
            issuer: Issuers.borealis, audience: Issuers.borealisAudience, subject: "b",
            now: Int64(Stopwatch.wallSeconds()))
        let other = Caller(
            subject: "b", token: Issuers.hmac.token(claims: claims, header: Issuers.hmac.header(type: "JWT")))
        try gateway.steer("PUT", "/tenants/acme/limits/block", #"{"reason":"contract ended"}"#)
        #expect(try gateway.ask(Ask("all"), as: Caller()).code == "subject_blocked")
        #expect(try gateway.ask(Ask("all"), as: other).status == 200)
        try gateway.steer("DELETE", "/tenants/acme/limits/block")
        try gateway.steer(
            "PUT", "/tenants/acme/limits/override",
            #"{"limit":"requests_per_minute","quantity":2,"reason":"cap"}"#)
        let statuses = try (0..<3).map { _ in try gateway.ask(Ask("cap"), as: Caller()).status }
        #expect(statuses == [200, 200, 429])
    }

    @Test func `A reset lets a subject that had used all of its day and minute ask again`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-1")
        #expect(try gateway.ask(Ask("reset"), as: caller).status == 200)
        let spent = try gateway.used("tokens_per_day", by: caller)
        #expect(spent > 0)
        #expect(try gateway.ask(Ask("reset"), as: caller).status == 429)
        try gateway.steer(
            "POST", gateway.holder(caller) + "/reset", #"{"limit":"requests_per_minute","reason":"goodwill"}"#)
        #expect(try gateway.used("tokens_per_day", by: caller) == spent)
        #expect(try gateway.ask(Ask("reset"), as: caller).status == 200)
        try gateway.steer("POST", gateway.holder(caller) + "/reset")
        let counters = try gateway.counters(caller)
        #expect(counters.values.allSatisfy { $0 == 0 }, "\(counters)")
    }

    @Test func `A freed place is free at once, and the ask that held it goes on and is charged`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("conc-1")
        let marker = Caller.unique("held")
        let gate = Gate()
        let script = gateway.provider.script(marker, .heldStream(gate))
        let client = try gateway.client()
        var answer = try gateway.begin(Ask(marker, stream: true), as: caller, on: client)
        script.waitForCall()
        #expect(try gateway.ask(Ask("second"), as: caller).status == 429)
        let leases = try #require(try gateway.steer("GET", gateway.holder(caller) + "/leases")["leases"])
        #expect(leases.count == 1 && leases[0]?["request"]?.string == answer.requestID)
        let request = try #require(answer.requestID)
        let dropped = try gateway.steer("DELETE", gateway.holder(caller) + "/leases/\(request)?reason=stuck")
        #expect(dropped["dropped"]?.int == 1)
        #expect(try gateway.ask(Ask("second"), as: caller).status == 200)
        gate.open()
        gateway.readEvents(of: &answer, on: client)
        answer.checkStream()
        #expect(try gateway.used("requests_per_minute", by: caller) == 2)
        #expect(try gateway.isIdle(caller))
    }

    @Test func `Subjects that only look the same are two`() throws {
        let gateway = try TestGateway.current
        let mark = Caller.unique("caf")
        let callers = ["\(mark)\u{e9}", "\(mark)e\u{301}"].map { Caller("rpm-1", subject: $0) }
        let bytes = callers[0].subject.utf8.map { "%" + String($0, radix: 16) }.joined()
        try gateway.steer(
            "PUT", "/tenants/acme/subjects/\(bytes)/override",
            #"{"limit":"requests_per_minute","quantity":3,"reason":"one of two"}"#)
        #expect(try callers.map { try gateway.quota($0)["requests_per_minute"]?.limit } == [3, 1])
        #expect(try gateway.ask(Ask("two"), as: callers[0]).status == 200)
        #expect(try callers.map { try gateway.used("requests_per_minute", by: $0) } == [1, 0])
    }

    @Test func `What an operator sees, the quota route, both header families and the refusal agree`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-2")
        let last = try (0..<2).map { _ in try gateway.ask(Ask("agree"), as: caller) }.last
        let answered = try #require(last?.response)
        let refused = try gateway.ask(Ask("agree"), as: caller).response
        let quota = try gateway.quota(caller)
        let seen = try #require(
            try gateway.steer("GET", gateway.holder(caller) + "?plan=rpm-2", token: Operators.viewer)["limits"])
        for limit in seen.elements {
            let name = try #require(limit["name"]?.string)
            let known = try #require(quota[name])
            #expect(known.limit == limit["limit"]?.int && known.remaining == limit["remaining"]?.int, "\(name)")
            let reset = try #require(limit["resetSeconds"]?.int)
            #expect(abs(known.reset - reset) <= 1, "\(name)")
        }
        let requests = try #require(quota["requests_per_minute"])
        let tokens = try #require(quota["tokens_per_day"])
        #expect(answered.header("x-ratelimit-remaining-requests") == "0")
        #expect(answered.header("x-ratelimit-remaining-tokens") == "\(tokens.remaining)")
        #expect(answered.header("ratelimit")?.contains(#""rpm";r=0;t="#) == true)
        #expect(answered.header("ratelimit-policy")?.contains(#""rpm";q=2;w=60"#) == true)
        let wait = try #require(refused.header("retry-after").flatMap { Int($0) })
        let limit = try #require(refused.json?["limit"])
        #expect(limit["resetSeconds"]?.int == wait && limit["remaining"]?.int == requests.remaining)
        #expect(refused.header("ratelimit")?.contains("r=0;t=\(wait)") == true)
        #expect((requests.reset...requests.reset + 1).contains(wait))
    }

    @Test func `Nothing of an operator's token or reason is written to a log`() throws {
        let gateway = try TestGateway.current
        let canary = Caller.unique("canary")
        try gateway.steer("PUT", "/tenants/acme/subjects/x/block", #"{"reason":"\#(canary)"}"#)
        try gateway.steer("GET", "/status", status: 401, token: canary)
        #expect(!gateway.process.everySink.contains(canary))
        #expect(!gateway.process.everySink.contains(Operators.boss))
    }
}
