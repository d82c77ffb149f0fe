import GatewayTesting
import GatewayTypes
import Testing

@testable import Asking

@Suite("Where an ask goes next")
struct FailoverTests {
    static let start = MonotonicTime(nanoseconds: 1_000_000_000)
    static let twice = Provider.Retry(retries: 2, backoff: .milliseconds(100), longestPause: .seconds(3))

    private static func failover(routes: Int, deadline: TimeSpan = .seconds(60), seed: UInt64 = 7) -> Failover {
        var failover = Failover(routeCount: routes, seed: seed)
        failover.deadline = Self.start + deadline
        failover.called()
        return failover
    }

    private static func step(
        _ failover: inout Failover, _ failure: ProviderFailure, hasText: Bool = false, spareKeys: Int = 0,
        retry: Provider.Retry = Provider.Retry(), at now: MonotonicTime = start
    ) -> Failover.Step {
        failover.failed(failure, hasText: hasText, spareKeys: spareKeys, retry: retry, at: now)
    }

    static let elsewhere: [ProviderFailure] = [
        .unreachable, .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout, .tls, .incomplete,
        .credentialsRefused, .rateLimited(retryAfterSeconds: 30), .overloaded(retryAfterSeconds: nil), .serverError,
        .contextTooLong, .notOffered, .unusableAnswer, .errorInStream, .emptyAnswer, .tooManyCalls,
    ]

    @Test(arguments: elsewhere)
    func `A failure before any text sends the ask to the next route, and ends it behind the last`(
        _ failure: ProviderFailure
    ) {
        var failover = Self.failover(routes: 2)
        #expect(Self.step(&failover, failure) == .call)
        #expect(failover.route == 1)
        failover.called()
        #expect(Self.step(&failover, failure) == .end(failure))
    }

    @Test func `What the caller wrote is put to nobody else`() {
        var failover = Self.failover(routes: 3)
        #expect(Self.step(&failover, .requestRefused, retry: Self.twice) == .end(.requestRefused))
    }

    @Test(arguments: elsewhere)
    func `Nothing follows once text has gone out`(_ failure: ProviderFailure) {
        var failover = Self.failover(routes: 3)
        #expect(Self.step(&failover, failure, hasText: true, spareKeys: 2, retry: Self.twice) == .end(failure))
    }

    @Test func `Nothing follows behind the deadline`() {
        var failover = Self.failover(routes: 3, deadline: .seconds(5))
        let late = Self.start + .seconds(5)
        #expect(Self.step(&failover, .serverError, retry: Self.twice, at: late) == .end(.serverError))
        #expect(failover.passedOver(.queueFull, at: late) == .end(.serverError))
    }

    @Test func `Retries come first, then the next route with retries of its own`() {
        var failover = Self.failover(routes: 2)
        for route in 0...1 {
            for _ in 0..<2 {
                guard case .pause = Self.step(&failover, .serverError, retry: Self.twice) else {
                    Issue.record("no retry")
                    return
                }
                #expect(failover.route == route)
                failover.called()
            }
            let last = Self.step(&failover, .serverError, retry: Self.twice)
            #expect(last == (route == 0 ? .call : .end(.serverError)))
            if route == 0 { failover.called() }
        }
        #expect(failover.calls == 6)
    }

    @Test func `Pauses are spread over a bound that doubles and never passes the longest`() {
        var longest = [Int64](repeating: 0, count: 6)
        var shortest = [Int64](repeating: .max, count: 6)
        let retry = Provider.Retry(retries: 6, backoff: .milliseconds(100), longestPause: .milliseconds(1000))
        for seed in 0..<400 {
            var failover = Self.failover(routes: 1, seed: UInt64(seed))
            for place in 0..<6 {
                guard case .pause(let span) = Self.step(&failover, .serverError, retry: retry) else { continue }
                longest[place] = max(longest[place], span.inMilliseconds)
                shortest[place] = min(shortest[place], span.inMilliseconds)
            }
        }
        for (place, bound) in [100, 200, 400, 800, 1000, 1000].enumerated() {
            #expect(longest[place] <= Int64(bound) && longest[place] > Int64(bound) * 8 / 10)
            #expect(shortest[place] < Int64(bound) / 5)
        }
    }

    @Test func `The same seed gives the same pauses`() {
        func pauses(_ seed: UInt64) -> [Failover.Step] {
            var failover = Self.failover(routes: 1, seed: seed)
            return (0..<2).map { _ in Self.step(&failover, .serverError, retry: Self.twice) }
        }
        #expect(pauses(5) == pauses(5))
        #expect(pauses(5) != pauses(6))
    }

    @Test(arguments: [
        (2, 60, Failover.Step.pause(.seconds(2))), (0, 60, .pause(.seconds(0))),
        // longer than the longest pause, and beyond the deadline
        (4, 60, .call), (2, 2, .call), (-1, 60, .pause(.seconds(0))),
    ])
    func `The provider's own wait is kept, or not waited for`(seconds: Int, deadline: Int64, wanted: Failover.Step) {
        for failure in [
            ProviderFailure.overloaded(retryAfterSeconds: seconds), .rateLimited(retryAfterSeconds: seconds),
        ] {
            var failover = Self.failover(routes: 2, deadline: .seconds(deadline))
            #expect(Self.step(&failover, failure, retry: Self.twice) == wanted)
        }
    }

    @Test(arguments: [ProviderFailure.credentialsRefused, .rateLimited(retryAfterSeconds: 9)])
    func `Each other key is tried once before the next route`(_ failure: ProviderFailure) {
        var failover = Self.failover(routes: 2)
        for _ in 0..<2 {
            #expect(Self.step(&failover, failure, spareKeys: 2) == .call)
            #expect(failover.route == 0)
            failover.called()
        }
        #expect(Self.step(&failover, failure, spareKeys: 2) == .call)
        #expect(failover.route == 1)
    }

    @Test func `Calls of one ask are bounded whatever its routes have`() {
        var failover = Self.failover(routes: 1000)
        var calls = 1
        while case .call = Self.step(&failover, .unreachable) {
            failover.called()
            calls += 1
            if calls > 100 { break }
        }
        #expect(calls == Failover.mostCalls)
    }

    @Test func `Routes that cannot be asked are passed over, and the last real failure is told`() {
        var failover = Self.failover(routes: 3)
        #expect(failover.passedOver(.breakerOpen(retryAfterSeconds: 3), at: Self.start) == .call)
        #expect(Self.step(&failover, .serverError) == .call)
        #expect(failover.passedOver(.queueFull, at: Self.start) == .end(.serverError))
        var idle = Failover(routeCount: 1, seed: 0)
        idle.deadline = Self.start + .seconds(1)
        let open = ProviderFailure.breakerOpen(retryAfterSeconds: 3)
        #expect(idle.passedOver(open, at: Self.start) == .end(open))
    }

    @Test(arguments: [
        (#"{"error":{"code":"context_length_exceeded"}}"#, ProviderFailure.contextTooLong),
        ("This model's maximum CONTEXT LENGTH is 8192 tokens", .contextTooLong),
        ("prompt is too long: 210000 tokens > 200000 maximum", .contextTooLong),
        ("", .requestRefused), ("context", .requestRefused),
        (#"{"error":"temperature out of range"}"#, .requestRefused),
        (String(repeating: "x", count: 5000) + "context_length", .requestRefused),
    ])
    func `A refusal is read as far as it may be and no further`(text: String, wanted: ProviderFailure) {
        for size in [1, 7, 100_000] {
            for status in [400, 422] {
                for dialect in TestDialect.allCases {
                    let reading = Reading(
                        Array(text.utf8), of: dialect, streams: true, every: size, status: status)
                    #expect(reading.failure == wanted, "\(dialect) \(status)")
                }
            }
        }
    }

    @Test func `Usage of several attempts adds up`() {
        let one = TokenUsage(input: 10, output: 5, total: 20, source: .provider)
        let both = one.adding(TokenUsage(input: 1, output: 2, source: .estimated))
        #expect(both == TokenUsage(input: 11, output: 7, total: 23, source: .estimated))
        #expect(one.adding(nil) == one && one.adding(one).source == .provider)
    }
}
