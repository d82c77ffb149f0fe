import GatewayTypes
import Testing

@testable import Gateway

@Suite("Limit headers")
struct LimitHeadersTests {
    private func headers(_ states: [LimitState]) throws -> [String: String] {
        try fields { LimitHeaders.append(states, to: &$0) }
    }

    @Test("tell request and concurrency limits in the RateLimit fields, tokens in the other family")
    func bothFamilies() throws {
        let told = try self.headers([
            state(.requestsPerMinute, of: 60, remaining: 12, reset: 31),
            state(.tokensPerDay, of: 50_000, remaining: 44_000, reset: 3725),
            state(.concurrentRequests, of: 5, remaining: 4, reset: 30),
        ])
        #expect(
            told == [
                "ratelimit-policy": #""rpm";q=60;w=60, "conc";q=5;qu="concurrent-requests""#,
                "ratelimit": #""rpm";r=12;t=31, "conc";r=4"#,
                "x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "12",
                "x-ratelimit-reset-requests": "31s", "x-ratelimit-limit-tokens": "50000",
                "x-ratelimit-remaining-tokens": "44000", "x-ratelimit-reset-tokens": "1h2m5s",
            ])
    }

    @Test("name the scope of what is shared, and show the tightest to clients that know one limit")
    func scopes() throws {
        let told = try self.headers([
            state(.requestsPerMinute, of: 60, remaining: 30, reset: 10),
            state(.requestsPerMinute, .tenant, of: 600, remaining: 2, reset: 59),
            state(.requestsPerMinute, .address, of: 90, remaining: 2, reset: 5),
            state(.tokensPerDay, .tenant, of: 900, remaining: 1, reset: 60),
            state(.tokensPerDay, of: 100, remaining: 100),
        ])
        #expect(
            told["ratelimit-policy"]
                == #""rpm";q=60;w=60, "rpm-tenant";q=600;w=60, "rpm-address";q=90;w=60"#)
        #expect(told["ratelimit"] == #""rpm";r=30;t=10, "rpm-tenant";r=2;t=59, "rpm-address";r=2;t=5"#)
        #expect(told["x-ratelimit-limit-requests"] == "90")
        #expect(told["x-ratelimit-remaining-requests"] == "2")
        #expect(told["x-ratelimit-reset-requests"] == "5s")
        #expect(told["x-ratelimit-limit-tokens"] == "900")
        #expect(told["x-ratelimit-reset-tokens"] == "1m0s")
    }

    @Test(
        "say nothing of limits that are not there or refuse nothing",
        arguments: [
            [], [state(.requestsPerMinute, of: 5, observe: true), state(.tokensPerDay, of: 5, observe: true)],
        ])
    func nothing(states: [LimitState]) throws { #expect(try self.headers(states).isEmpty) }

    @Test("leave the RateLimit fields out when only tokens are limited")
    func tokensOnly() throws {
        let told = try self.headers([state(.tokensPerDay, of: 9, remaining: 3)])
        #expect(told["ratelimit"] == nil)
        #expect(told["ratelimit-policy"] == nil)
        #expect(told["x-ratelimit-reset-tokens"] == "0s")
    }

    @Test("name no time when nothing is used")
    func unused() throws {
        let told = try self.headers([state(.requestsPerMinute, of: 5, remaining: 5, reset: 0)])
        #expect(told["ratelimit"] == #""rpm";r=5"#)
        #expect(told["x-ratelimit-reset-requests"] == "0s")
    }

    @Test(
        "write durations as Go does",
        arguments: [
            (1, "1s"), (59, "59s"), (60, "1m0s"), (360, "6m0s"), (3599, "59m59s"), (3600, "1h0m0s"),
            (86_399, "23h59m59s"),
            (90_000, "25h0m0s"),
        ])
    func durations(seconds: Int, written: String) throws {
        let told = try self.headers([state(.tokensPerDay, of: 1, reset: seconds)])
        #expect(told["x-ratelimit-reset-tokens"] == written)
    }

    @Test("keep numbers within what the syntax knows")
    func hugeNumbers() throws {
        let told = try self.headers([
            state(.requestsPerMinute, of: .max, remaining: .max, reset: .max),
            state(.concurrentRequests, of: .min, remaining: -1, reset: -1),
        ])
        let digits = "999999999999999"
        #expect(told["ratelimit"] == #""rpm";r=\#(digits);t=\#(digits), "conc";r=0"#)
        #expect(told["ratelimit-policy"] == #""rpm";q=\#(digits);w=60, "conc";q=0;qu="concurrent-requests""#)
        #expect(told["x-ratelimit-remaining-requests"] == digits)
    }

    @Test("have room for every limit at its greatest")
    func room() throws {
        let greatest = [LimitKind.requestsPerMinute, .tokensPerDay, .concurrentRequests].flatMap { kind in
            LimitScope.allCases.map { state(kind, $0, of: .max, remaining: .max, reset: .max) }
        }
        for count in 1...greatest.count {
            let told = try self.headers(Array(greatest.prefix(count)) + greatest)
            let policies = told["ratelimit-policy"]?.split(separator: ",").count
            #expect(policies == min(count, 3) + max(count - 6, 0) + 6)
        }
    }
}
