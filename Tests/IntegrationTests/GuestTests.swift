import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// People without an account, at real gateways.
@Suite("Guests", .oneOfFewThreads)
struct GuestTests {
    @Test func `A guest has a plan and limits of its own, wherever its installation asks`() throws {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis) {
            $0.guestLimits = "{name: requests_per_minute, limit: 2}, {name: tokens_per_day, limit: 100000}"
        }
        let answer = try gateways[0].guest("installation-of-mina")
        #expect(answer.status == 201 && answer.header("cache-control") == "no-store")
        #expect(answer.json?["tokenType"]?.string == "Bearer" && answer.json?["expiresIn"]?.int == 3600)
        #expect(answer.json?["plan"]?.string == "guest")
        let mina = try #require(answer.json?["accessToken"]?.string)
        // A second token of the installation, from the other instance, is the same guest.
        let again = try gateways[1].guestToken("installation-of-mina")
        let statuses = [
            try gateways[0].ask(mina).status, try gateways[1].ask(again).status, try gateways[0].ask(again).status,
            try gateways[1].ask(mina).status,
        ]
        #expect(statuses == [200, 200, 429, 429])
        let omid = try gateways[1].guestToken("installation-of-omid")
        #expect(try gateways[0].ask(omid).status == 200)
        let record = gateways[0].process.record(of: try gateways[0].ask(omid).header("x-request-id"))
        #expect(record?.json["subject"]?.string?.hasPrefix("guest:") == true)
        #expect(record?.json["plan"]?.string == "guest")
        #expect(!gateways[0].process.everySink.contains("installation-of"))
    }

    @Test func `An address gets so many guests, and guests ask so often, over all instances`() throws {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis) {
            $0.sessionsPerMinute = 4
            $0.guestLimits =
                "{name: requests_per_minute, limit: 100}, {name: requests_per_minute, scope: address, limit: 3}"
        }
        var tokens: [String] = []
        for number in 0..<4 {
            tokens.append(try gateways[number % 2].guestToken("installation-number-\(number)", from: "192.0.2.9"))
        }
        let refused = try gateways[0].guest("installation-number-5", from: "192.0.2.9")
        #expect(refused.status == 429 && refused.header("retry-after") != nil)
        #expect(refused.json?["limit"]?["scope"]?.string == "address")
        #expect(try gateways[1].guest("installation-number-5", from: "192.0.2.9").status == 429)
        #expect(try gateways[1].guest("installation-number-5", from: "192.0.2.10").status == 201)
        let asks = try tokens.indices.map { try gateways[$0 % 2].ask(tokens[$0], from: "198.51.100.7").status }
        #expect(asks == [200, 200, 200, 429])
        #expect(try gateways[0].ask(tokens[0], from: "198.51.100.8").status == 200)
    }

    @Test func `What a guest has used today is the account's once it signs in, exactly once`() throws {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis)
        let guest = try gateways[0].guestToken("installation-of-mina")
        for gateway in gateways + gateways { #expect(try gateway.ask(guest).status == 200) }
        let used = try gateways[0].tokensSettled(guest)
        let account = GuestGateway.account("alice")
        #expect(try gateways[1].ask(account).status == 200)
        let own = try gateways[1].tokensSettled(account)
        #expect(used > 0 && own > 0)
        let claimed = try gateways[1].claim(guest, as: account)
        #expect(claimed.status == 200, "\(claimed.text)")
        #expect(claimed.json?["tokensCharged"]?.int == used)
        #expect(try gateways[0].tokensUsed(account) == used + own)
        // Closed here at once, there a moment later.
        #expect(try gateways[1].ask(guest).status == 401)
        let isClosedThere = try Stopwatch.wait(upTo: .seconds(15), every: 20) {
            try gateways[0].call("GET", "/v1/quota", token: guest).status == 401
        }
        #expect(isClosedThere)
        // Whoever did not hear the answer asks again.
        for gateway in gateways {
            let repeated = try gateway.claim(guest, as: account)
            #expect(repeated.status == 200 && repeated.json?["tokensCharged"]?.int == used, "\(repeated.text)")
            let other = try gateway.claim(guest, as: GuestGateway.account("bob"))
            #expect(other.status == 409 && other.json?["code"]?.string == "guest_session_claimed")
        }
        #expect(try gateways[1].tokensUsed(account) == used + own)
        #expect(try gateways[1].tokensUsed(GuestGateway.account("bob")) == 0)
        // The installation may be a guest again, and finds its day as it left it.
        let again = try gateways[0].guestToken("installation-of-mina")
        #expect(try gateways[0].tokensUsed(again) == used)
        #expect(try gateways[0].claim(again, as: account).json?["tokensCharged"]?.int == 0)
    }

    @Test(arguments: [false, true])
    func `What a guest's asks come to that run while it signs in is the account's, to the token`(leaves: Bool) throws {
        let redis = try RedisServer()
        let gate = Gate()
        let provider = try FakeProvider { call, _ in
            guard call.wantsStream else { return .answer() }
            let events = OpenAIShapes.stream(["By", " the", " moon"], usage: .init(21, 9)).map { ProviderStep.send($0) }
            return .events([events[0], .wait(gate)] + events.dropFirst())
        }
        let gateways = try GuestGateway.pair(redis) {
            $0.provider = "{dialect: openai, base_url: '\(provider.baseURL)', key: {file: names.secret}}"
        }
        let guest = try gateways[0].guestToken("installation-of-mina")
        let account = GuestGateway.account("alice")
        #expect(try gateways[0].ask(guest).status == 200)
        let settled = try gateways[1].tokensSettled(guest)
        // One at each instance.
        let streams = try gateways.map { try $0.stream(as: guest) }
        for stream in streams { _ = try stream.client.event() }
        let reserved = try gateways[1].tokensUsed(guest) - settled
        let claimed = try gateways[1].claim(guest, as: account)
        #expect(claimed.json?["tokensCharged"]?.int == settled + reserved, "\(claimed.text)")
        #expect(try gateways[0].tokensUsed(account) == settled + reserved)
        var total = settled
        if !leaves { gate.open() }
        for (stream, gateway) in zip(streams, gateways) {
            if leaves {
                stream.client.close(reset: true)
            } else {
                #expect(try stream.client.allEvents().last?.name == "finish")
            }
            let record = try #require(gateway.process.record(of: stream.id))
            total += (record["input_tokens"]?.int ?? 0) + (record["output_tokens"]?.int ?? 0)
        }
        #expect(total > settled && total < settled + reserved)
        #expect(try Stopwatch.wait(upTo: .seconds(15), every: 20) { try gateways[0].tokensUsed(account) == total })
        #expect(try gateways[1].tokensUsed(account) == total)
        // The guest that the installation is next finds the same day, of which nothing is left to hand over.
        let next = try gateways[1].guestToken("installation-of-mina")
        #expect(try gateways[1].tokensUsed(next) == total)
        #expect(try gateways[1].claim(next, as: GuestGateway.account("bob")).json?["tokensCharged"]?.int == 0)
    }

    @Test func `Many claims at once at two instances charge once`() throws {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis)
        let guest = try gateways[0].guestToken("installation-of-mina")
        for _ in 0..<3 { #expect(try gateways[0].ask(guest).status == 200) }
        let used = try gateways[0].tokensSettled(guest)
        let names = (0..<4).map { "claimer-\($0)" }
        let accounts = names.map { GuestGateway.account($0) }
        let ends = OwnThread.together(16) { number in
            (try? gateways[number % 2].claim(guest, as: accounts[number % 4]).status) ?? 0
        }
        let charged = try accounts.map { try gateways[0].tokensUsed($0) }
        #expect(charged.sorted() == [0, 0, 0, used])
        #expect(ends.count(where: { $0 == 200 }) == 4 && ends.count(where: { $0 == 409 }) == 12, "\(ends)")
    }

    @Test func `Signing keys rotate with overlap`() throws {
        var settings = GuestGateway.Settings()
        settings.keys = ["old"]
        let gateway = try GuestGateway(settings)
        let before = try gateway.guestToken("installation-of-mina")
        #expect(try gateway.ask(before).status == 200)
        let used = try gateway.tokensSettled(before)
        func reload(_ keys: [String]) throws {
            settings.keys = keys
            let count = gateway.process.metrics.value("askgate_config_reloads_total")
            try gateway.process.reload(settings.yaml(api: gateway.process.port, admin: gateway.process.adminPort))
            #expect(
                Stopwatch.wait(upTo: .seconds(10), every: 10) {
                    gateway.process.metrics.value("askgate_config_reloads_total") > count
                })
        }
        try reload(["new", "old"])
        #expect(try gateway.ask(before).status == 200)
        let after = try gateway.guestToken("installation-of-mina")
        #expect(try gateway.tokensUsed(after) > used)
        try reload(["new"])
        #expect(try gateway.ask(before).status == 401)
        #expect(try gateway.ask(after).status == 200)
    }

    @Test func `Nobody takes over what is not a guest of the same app`() throws {
        let gateway = try GuestGateway()
        let guest = try gateway.guestToken("installation-of-mina")
        #expect(try gateway.ask(guest).status == 200)
        let account = GuestGateway.account("alice")
        let stranger = GuestGateway.account("alice", tenant: "borealis")
        for (token, claimer) in [
            (account, account), ("nonsense", account), ("", account), (guest, stranger), (guest + "x", account),
        ] {
            let answer = try gateway.claim(token, as: claimer)
            #expect(answer.status == 400 && answer.json?["code"]?.string == "invalid_request", "\(answer.text)")
        }
        let other = try gateway.guestToken("installation-of-omid")
        #expect(try gateway.claim(guest, as: other).status == 400)
        #expect(try gateway.call("POST", "/v1/guest-sessions/claim", #"{"guestToken":"x"}"#).status == 401)
        #expect(try gateway.tokensUsed(account) == 0 && gateway.tokensUsed(stranger) == 0)
        #expect(try gateway.ask(guest).status == 200)
        // A guest of one app is nobody in the other.
        let elsewhere = try gateway.guest("installation-of-mina", tenant: "borealis")
        let token = try #require(elsewhere.json?["accessToken"]?.string)
        #expect(try gateway.claim(token, as: account).status == 400)
        #expect(try gateway.tokensUsed(token) == 0)
    }

    @Test func `A guest's name is no account's`() throws {
        let gateway = try GuestGateway()
        let guest = try gateway.guestToken("installation-of-mina")
        let id = try gateway.ask(guest).header("x-request-id")
        let name = try #require(gateway.process.record(of: id)?.json["subject"]?.string)
        #expect(try gateway.ask(GuestGateway.account(name)).status == 401)
    }

    @Test func `Odd bodies are refused with what is wrong`() throws {
        let gateway = try GuestGateway()
        for body in [
            "{}", "[]", "", #"{"tenant":"acme"}"#, #"{"tenant":"nowhere","installationId":"installation-of-mina"}"#,
            #"{"installationId":"installation-of-mina"}"#, #"{"tenant":"acme","installationId":"short"}"#,
            #"{"tenant":"acme","installationId":7}"#, #"{"tenant":7,"installationId":"installation-of-mina"}"#,
            #"{"tenant":"acme","installationId":"installation\#u{5C}u0000of-mina"}"#,
            #"{"tenant":"acme","installationId":"\#(String(repeating: "i", count: 201))"}"#,
        ] {
            let answer = try gateway.call("POST", "/v1/guest-sessions", body, from: "192.0.2.77")
            #expect(answer.status == 400 && answer.json?["code"]?.string == "invalid_request", "\(body)")
        }
        #expect(try gateway.call("GET", "/v1/guest-sessions").status == 405)
        #expect(try gateway.call("POST", "/v1/guest-sessions", String(repeating: " ", count: 20_000)).status == 413)
        #expect(gateway.process.isReady)
    }

    @Test func `Without the store nobody is a guest, whatever a limit's stance, and nothing is handed over`() throws {
        let redis = try RedisServer()
        let gateway = try GuestGateway.pair(redis) {
            $0.guestLimits = "{name: requests_per_minute, limit: 100, on_outage: allow}"
        }[0]
        let guest = try gateway.guestToken("installation-of-mina")
        redis.kill()
        let answer = try gateway.guest("installation-of-omid")
        #expect(answer.status == 503 && answer.header("retry-after") != nil)
        #expect(try gateway.claim(guest, as: GuestGateway.account("alice")).status == 503)
        #expect(try gateway.ask(guest).status == 503)
    }
}
