import EventLoops
import GatewayTesting
import GatewayTypes
import RedisClient
import Synchronization
import Testing

@testable import Quota

/// Answers renewals, but for the tenant of one tag.
private final class HalfRunner: ScriptRunner {
    private let failing: ByteString

    init(failing: ByteString) { self.failing = failing }

    func run(
        _ script: QuotaScript, keys: RedisWords, tag: ByteString, arguments: RedisWords,
        then: @escaping (Result<[ScriptValue], QuotaFailure>) -> Void
    ) {
        then(tag == self.failing ? .failure(.timedOut) : .success([.integer(QuotaScript.version), .integer(1)]))
    }
}

/// Never gets through, and says why once it is told to.
private final class SilentRunner: ScriptRunner {
    let known = Mutex<StoreHealth.Trouble?>(nil)
    var trouble: StoreHealth.Trouble? { self.known.withLock { $0 } }

    func run(
        _ script: QuotaScript, keys: RedisWords, tag: ByteString, arguments: RedisWords,
        then: @escaping (Result<[ScriptValue], QuotaFailure>) -> Void
    ) {
        then(.failure(.unreachable))
    }
}

/// What is believed of a store that answers some things, or nothing for long.
@Suite struct StoreDoubtTests {
    private static let limits = [Limit.minute(50), .day(1000)]

    @Test func readsOfAStoreThatRefusesWritesHideNothing() async throws {
        let it = try RedisBench()
        let ask = it.bench.ask(Self.limits)
        try await it.onLoop { it.runner.failure = (.notServing, actsFirst: false) }
        for _ in 0..<3 { await #expect(throws: QuotaFailure.notServing) { try await it.store.admit(ask) } }
        try await it.onLoop { it.runner.failure = nil }
        it.clock.advance(by: .milliseconds(100))
        for _ in 0..<5 {
            _ = try await it.bench.look(ask)
            #expect(it.store.health.degraded?.reason == .notServing)
        }
        // The next one that would write finds out, at once.
        try await it.bench.pass(ask)
        #expect(it.store.health.degraded == nil)
    }

    @Test func readsAreBelievedWhereNobodyHasWrittenForLong() async throws {
        let it = try RedisBench()
        let ask = it.bench.ask(Self.limits)
        try await it.onLoop { it.runner.failure = (.notServing, actsFirst: false) }
        for _ in 0..<3 { await #expect(throws: QuotaFailure.notServing) { try await it.store.admit(ask) } }
        try await it.onLoop { it.runner.failure = nil }
        it.clock.advance(by: .seconds(31))
        _ = try await it.bench.look(ask)
        #expect(it.store.health.degraded == nil)
    }

    @Test func aLongSilenceLosesNoSettlementThatWasNeverSent() async throws {
        let it = try RedisBench()
        let limits = Self.limits
        let grant = try await it.bench.pass(it.bench.ask("u1", limits))
        try await it.onLoop { it.runner.failure = (.timedOut, actsFirst: false) }
        let silent = it.bench.ask("u2", limits)
        for _ in 0..<3 { await #expect(throws: QuotaFailure.self) { try await it.store.admit(silent) } }
        // As for an ask that a stance let in: the store knows nothing of it.
        let asks = (0..<3).map { _ in it.bench.ask("u3", limits) }
        for ask in asks {
            var settlement = Settlement(of: ask, grant: grant, charge: .tokens(15))
            settlement.chargesUnrecorded = true
            it.store.submit(settlement)
        }
        // Some ten minutes by the clock, in which the store is tried many times.
        let calls = it.runner.calls
        for _ in 0..<6 {
            it.clock.advance(by: .seconds(100))
            try await Task.sleep(for: .milliseconds(250))
        }
        #expect(it.runner.calls > calls)
        try await it.onLoop { it.runner.failure = nil }
        try await it.until { it.store.health.waitingSettlements == 0 }
        #expect(try await it.bench.look(asks[0]).states.map(\.used) == [0, 45])
    }

    /// An ask that ends while the store is away, for so long that the store has forgotten its record by itself.
    @Test(arguments: [(100, true), (100, false), (400, true), (400, false)])
    func whatTheStoreMayHaveForgottenIsNotChargedAgain(silence: Int64, admitsUnheard: Bool) async throws {
        let it = try RedisBench()
        let gate = QuotaGate(
            store: it.store, local: MemoryStore(clock: it.clock), outage: Outage(expectedInstances: 1), clock: it.clock)
        var day = Limit.day(1000)
        day.stance = .local
        let ask = it.bench.ask([day])
        if admitsUnheard { try await it.onLoop { it.runner.failure = (.timedOut, actsFirst: true) } }
        guard case .admitted(let reservation) = await gate.admit(ask) else { throw ContractBroken() }
        #expect(reservation.isLocal == admitsUnheard)
        try await it.onLoop { it.runner.failure = (.unreachable, actsFirst: false) }
        for _ in 0..<3 { await #expect(throws: QuotaFailure.self) { try await it.store.admit(it.bench.ask([day])) } }
        reservation.settle(usage: TokenUsage(input: 10, output: 5, source: .provider))
        try await it.until { it.store.health.waitingSettlements == 1 }
        let record = try it.connection.call("KEYS", "*\(ask.request)*")
        guard case .array(let keys) = record, keys.count == 1, case .bytes(let key) = keys[0] else {
            throw ContractBroken()
        }
        _ = try it.connection.call([Array("DEL".utf8), key])
        it.clock.advance(by: .seconds(silence))
        try await it.onLoop { it.runner.failure = nil }
        try await it.until { it.store.health.waitingSettlements == 0 }
        // Gone so early it has been lost, with what was reserved: only then is it charged anew.
        #expect(try await it.bench.look(ask).states.map(\.used) == [silence < 300 ? 110 + 15 : 110])
    }

    @Test func whatStandsInTheWayIsToldWhenItShowsItselfAndOnce() async throws {
        let loop = try #require(PlainServer.loops?.loops.first)
        let runner = SilentRunner()
        let clock = TestClock()
        let told = Mutex<[String?]>([])
        let store = RedisStore(loop: loop, runner: runner, feed: ChangeFeed(), clock: clock) { degradation in
            told.withLock { $0.append(degradation?.trouble?.metricLabel) }
        }
        func fail(_ times: Int) async {
            for _ in 0..<times {
                clock.advance(by: .seconds(1))
                let caller = QuotaCaller(tenant: "t", subject: "u", address: "")
                _ = try? await store.renew([Lease(caller: caller, request: RequestID(high: 1, low: 1))])
            }
        }
        await fail(4)
        #expect(told.withLock { $0 } == [nil])
        runner.known.withLock { $0 = .init(address: "a:1", metricLabel: "hung_up") }
        await fail(3)
        #expect(told.withLock { $0 } == [nil, "hung_up"])
        #expect(store.health.degraded?.trouble?.address == "a:1")
    }

    @Test(arguments: [true, false])
    func aNodeOfAClusterThatFailsStopsOnlyItsTenants(isCluster: Bool) async throws {
        let loop = try #require(PlainServer.loops?.loops.first)
        let store = RedisStore(
            loop: loop, runner: HalfRunner(failing: QuotaKey("bad").tag), feed: ChangeFeed(), isCluster: isCluster,
            clock: TestClock())
        func renew(_ tenant: TenantID) async -> QuotaFailure? {
            let caller = QuotaCaller(tenant: tenant, subject: "u", address: "")
            do throws(QuotaFailure) {
                _ = try await store.renew([Lease(caller: caller, request: RequestID(high: 1, low: 1))])
                return nil
            } catch {
                return error
            }
        }
        for _ in 0..<3 { #expect(await renew("bad") == .timedOut) }
        #expect(await renew("bad") == .breakerOpen)
        let expected: QuotaFailure? = isCluster ? nil : .breakerOpen
        #expect(await renew("good") == expected)
        // What the others answer hides nothing.
        #expect(store.health.degraded?.reason == .timedOut)
    }
}
