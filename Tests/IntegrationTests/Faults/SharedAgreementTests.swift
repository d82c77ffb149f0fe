import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What two gateways beside one Redis tell of one counter is the same in every place, to the unit and the second.
@Suite("Limits told by several gateways", .oneOfFewThreads)
struct SharedAgreementTests {
    private func gateways() throws -> (one: TestGateway, other: TestGateway, redis: RedisServer) {
        let redis = try RedisServer()
        var settings = GatewaySettings(loops: 1, zone: "Asia/Kathmandu")
        settings.store = "{kind: redis, address: \"127.0.0.1:\(redis.port)\", timeout: 500ms}"
        return (try TestGateway(settings), try TestGateway(settings), redis)
    }

    /// A limit as one place tells it.
    private struct Told: CustomStringConvertible {
        let place: String
        let limit: Int?
        let remaining: Int?
        let reset: Int?
        var description: String { "\(self.place): \(self.limit ?? -1) \(self.remaining ?? -1) \(self.reset ?? -1)" }
    }

    /// Everything that the fields of a response say of requests or tokens.
    private func fields(_ response: HTTPResponse, _ family: String, at place: String) -> [Told] {
        let own = Told(
            place: "x-ratelimit of \(place)", limit: response.header("x-ratelimit-limit-\(family)").flatMap { Int($0) },
            remaining: response.header("x-ratelimit-remaining-\(family)").flatMap { Int($0) },
            reset: DurationField.seconds(response.header("x-ratelimit-reset-\(family)")))
        guard family == "requests" else { return [own] }
        let (policy, state) = (response.header("ratelimit-policy") ?? "", response.header("ratelimit") ?? "")
        return [
            own,
            Told(
                place: "RateLimit of \(place)", limit: DurationField.parameter("q", of: "rpm", in: policy),
                remaining: DurationField.parameter("r", of: "rpm", in: state),
                reset: DurationField.parameter("t", of: "rpm", in: state)),
        ]
    }

    private func standing(_ limit: JSONValue?, at place: String) -> Told {
        Told(
            place: place, limit: limit?["limit"]?.int, remaining: limit?["remaining"]?.int,
            reset: limit?["resetSeconds"]?.int)
    }

    /// - Parameter watch: runs since before the first of them was told.
    private func expectAgreement(_ told: [Told], _ watch: Stopwatch, _ location: SourceLocation = #_sourceLocation) {
        let most = watch.milliseconds / 1000 + 1
        let first = told[0]
        for other in told {
            #expect(
                other.limit == first.limit && other.remaining == first.remaining, "\(told)", sourceLocation: location)
            guard let reset = other.reset, let start = first.reset else {
                Issue.record("no reset in \(other)", sourceLocation: location)
                continue
            }
            #expect((max(0, start - most)...start).contains(reset), "\(told)", sourceLocation: location)
        }
    }

    @Test(arguments: ["requests", "tokens"])
    func `A refusal here, its fields, the quota there and the operators' view agree`(_ family: String) throws {
        let (one, other, redis) = try self.gateways()
        let plan = family == "requests" ? "rpm-2" : "day-1000"
        let name = family == "requests" ? "requests_per_minute" : "tokens_per_day"
        let caller = Caller(plan)
        let marker = Caller.unique("agree")
        for gateway in [one, other] {
            let dear = OpenAIShapes.completion("ok", usage: OpenAIShapes.Usage(300, 180).json)
            _ = gateway.provider.script(marker, .body(dear))
        }
        var refused: Answer?
        for index in 0..<12 where refused == nil {
            let answer = try (index % 2 == 0 ? one : other).ask(Ask(marker), as: caller)
            if answer.status == 429 { refused = answer } else { #expect(answer.status == 200) }
            #expect(try one.isIdle(caller))
        }
        let watch = Stopwatch()
        // The first refusal of each is the store's; the next one may be remembered.
        let answers = try [one, one, other, other].map { try $0.ask(Ask(marker), as: caller).response }
        var told: [Told] = []
        for (index, answer) in answers.enumerated() {
            #expect(answer.status == 429 && refused != nil)
            let limit = answer.json?["limit"]
            #expect(limit?["name"]?.string == name)
            told.append(self.standing(limit, at: "body \(index)"))
            told += self.fields(answer, family, at: "refusal \(index)")
            #expect(answer.header("retry-after") == (limit?["resetSeconds"]?.int).map(String.init))
        }
        for gateway in [one, other] {
            let client = try gateway.client()
            try client.request("GET", "/v1/quota", headers: [caller.authorization])
            let response = try #require(try client.response())
            let limit = response.json?["limits"]?.elements.first { $0["name"]?.string == name }
            told.append(self.standing(limit, at: "quota"))
            told += self.fields(response, family, at: "quota")
            let seen = try gateway.steer("GET", gateway.holder(caller) + "?plan=\(plan)")["limits"]
            told.append(self.standing(seen?.elements.first { $0["name"]?.string == name }, at: "operators"))
        }
        self.expectAgreement(told, watch)
        _ = redis
    }

    @Test func `A day that is used up says at which moment of the tenant's clocks it turns`() throws {
        let (one, other, redis) = try self.gateways()
        let caller = Caller("day-100")
        // Less than the smallest ask needs.
        try one.override("tokens_per_day", of: caller, to: 1)
        let midnight = { ((Stopwatch.wallSeconds() + 20_700) / 86_400 + 1) * 86_400 }
        let (before, refused, after) = (midnight(), try one.ask(Ask("day"), as: caller).response, midnight())
        #expect(refused.status == 429 && refused.header("x-should-retry") == "false")
        let turn = try #require(refused.json?["limit"]?["resetsAt"]?.string)
        #expect(turn.hasSuffix("T00:00:00+05:45"))
        let client = try other.client()
        try client.request("GET", "/v1/quota", headers: [caller.authorization])
        let limits = try #require(try client.response()?.json?["limits"]).elements
        let day = try #require(limits.first { $0["name"]?.string == "tokens_per_day" })
        // Once a day midnight comes in between.
        if before == after {
            #expect(day["resetsAt"]?.string == turn)
            let wait = try #require(refused.json?["limit"]?["resetSeconds"]?.int)
            #expect(abs(before - 20_700 - Stopwatch.wallSeconds() - wait) <= 5)
        }
        #expect(limits.first { $0["name"]?.string == "requests_per_minute" }?["resetsAt"] == nil)
        // Where the limit is 0 the next day changes nothing.
        let none = try one.ask(Ask("day"), as: Caller("day-0")).response
        #expect(none.status == 429 && none.json?["limit"]?["resetsAt"] == nil)
        #expect(none.json?["detail"]?.string?.hasPrefix("The limit is 0") == true)
        _ = redis
    }

    @Test func `Who is known to be over its limit costs the store nothing`() throws {
        let (one, _, redis) = try self.gateways()
        let caller = Caller("rpm-1")
        #expect(try one.ask(Ask("known"), as: caller).status == 200)
        #expect(try one.ask(Ask("known"), as: caller).status == 429)
        let (counted, called) = (self.scripts(one), try redis.calls())
        for _ in 0..<60 { #expect(try one.ask(Ask("known"), as: caller).status == 429) }
        let (calledNow, countedNow) = (try redis.calls(), self.scripts(one))
        #expect(counted["admit"] == countedNow["admit"] && counted["settle"] == countedNow["settle"])
        // All that Redis was asked meanwhile is what the gateways read for themselves.
        let scripts = ["eval", "evalsha"].map { (calledNow[$0] ?? 0) - (called[$0] ?? 0) }.reduce(0, +)
        #expect(scripts < 60)
        for writing in ["set", "append", "zadd", "setrange", "zrem", "pexpire"] {
            #expect(calledNow[writing] == called[writing], "\(writing)")
        }
        // And an ask that is admitted is seen by the same means.
        #expect(try one.ask(Ask("known")).status == 200)
        #expect(self.scripts(one)["admit"] == (counted["admit"] ?? 0) + 1)
        #expect(try redis.calls()["set"] != called["set"])
    }

    /// Answers of the store by operation.
    private func scripts(_ gateway: TestGateway) -> [String: Double] {
        let metrics = gateway.process.metrics
        return ["admit", "settle"].reduce(into: [:]) {
            $0[$1] = metrics.value("askgate_store_latency_seconds_count", ["operation": $1])
        }
    }
}

/// Reads numbers out of fields.
enum DurationField {
    /// `1h2m5s` in seconds.
    static func seconds(_ duration: String?) -> Int? {
        guard let duration, duration.last == "s" else { return nil }
        var (total, number) = (0, 0)
        for character in duration {
            switch character {
            case "h": (total, number) = (total + number * 3600, 0)
            case "m": (total, number) = (total + number * 60, 0)
            case "s": (total, number) = (total + number, 0)
            default: number = number * 10 + (character.wholeNumberValue ?? 0)
            }
        }
        return total
    }

    /// A parameter of the member that is this string, in a list as the RateLimit fields have it.
    static func parameter(_ name: String, of member: String, in field: String) -> Int? {
        for item in field.split(separator: ",") {
            let parts = item.split(separator: ";").map { $0.drop { $0 == " " } }
            guard parts.first == "\"\(member)\"" else { continue }
            return parts.first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
        }
        return nil
    }
}
