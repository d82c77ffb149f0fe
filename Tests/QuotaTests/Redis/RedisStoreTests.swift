import EventLoops
import GatewayTesting
import GatewayTypes
import Quota
import Testing

@Suite struct RedisStoreTests {
    private static let usage = TokenUsage(input: 10, output: 5, source: .provider)
    private static let limits = [Limit.minute(50), .day(1000), .running(3), .running(9, .tenant)]

    @Test(arguments: StoreContract.checks)
    func holdsTheContract(check: ContractCheck) async throws { try await check.run(RedisBench().bench) }

    @Test func everyKeyEndsByItselfButWhatOperatorsSet() async throws {
        let it = try RedisBench()
        let limits = Self.limits + [.minute(9, .address), .day(10_000, .tenant)]
        let ask = it.bench.ask(limits)
        try await it.bench.settle(ask, it.bench.pass(ask), tokens: 5)
        let running = it.bench.ask(limits)
        try await it.bench.pass(running)
        _ = try await it.store.renew([Lease(caller: running.caller, request: running.request)])
        var unrecorded = Settlement(
            of: it.bench.ask("u7", limits), grant: try await it.bench.pass(it.bench.ask("u8", limits)))
        unrecorded.chargesUnrecorded = true
        _ = try await it.store.settle(unrecorded)
        try await it.store.apply(.reset(nil), to: .subject("u1", of: StoreBench.tenant))
        try await it.store.apply(.unblock, to: .subject("u1", of: StoreBench.tenant))
        try await it.bench.pass(it.bench.ask(limits))
        let connection = try it.server.connect(database: it.database)
        guard case .array(let keys) = try connection.call("KEYS", "*") else { throw ContractBroken() }
        #expect(keys.count > 12)
        for case .bytes(let key) in keys {
            guard case .integer(let life) = try connection.call([Array("PTTL".utf8), key]) else { continue }
            #expect(life > 0, "\(String(decoding: key, as: UTF8.self))")
        }
        try await it.store.apply(.block(until: nil), to: .subject("u1", of: StoreBench.tenant))
        let steering = try connection.call("KEYS", "*}:os:*")
        guard case .array(let items) = steering, case .bytes(let key)? = items.first else { throw ContractBroken() }
        #expect(try connection.call([Array("PTTL".utf8), key]) == .integer(-1))
    }

    @Test func aStoreRestartedEmptyCutsNothingAndChargesTheDayOnce() async throws {
        let it = try RedisBench()
        let gate = QuotaGate(store: it.store, local: MemoryStore(clock: it.clock), clock: it.clock)
        let ask = it.bench.ask(Self.limits)
        guard case .admitted(let reservation) = await gate.admit(ask) else { throw ContractBroken() }
        _ = try it.server.connect(database: it.database).call("FLUSHDB")
        it.clock.advance(by: .seconds(15))
        await gate.renewLeases()
        #expect(gate.counts.lostLeases == 1)
        reservation.settle(usage: Self.usage)
        #expect(try await it.bench.look(ask).states.map(\.used) == [0, 15, 0, 0])
        let day = ask.calendar.day(at: it.clock.wallTime())
        let grant = Grant(states: [], outputTokens: 1, reservedTokens: 1, day: day)
        var again = Settlement(of: ask, grant: grant, charge: .tokens(15))
        again.chargesUnrecorded = true
        #expect(try await it.store.settle(again) == .repeated)
    }

    @Test func settlementsWaitForTheStoreAndAreChargedOnceWhenItIsBack() async throws {
        let it = try RedisBench()
        let ask = it.bench.ask(Self.limits)
        let grant = try await it.bench.pass(ask)
        try await it.onLoop { it.runner.failure = (.timedOut, actsFirst: true) }
        it.store.submit(Settlement(of: ask, grant: grant, charge: .tokens(40)))
        try await it.until { it.store.health.waitingSettlements == 1 }
        try await it.onLoop { it.runner.failure = nil }
        try await it.until { it.store.health.waitingSettlements == 0 }
        #expect(try await it.bench.look(ask).states.map(\.used) == [1, 40, 0, 0])
        #expect(it.store.health.droppedSettlements == 0)
        #expect(it.store.health.failures[.timedOut] ?? 0 >= 1)
    }

    @Test func theQueueOfSettlementsIsBounded() async throws {
        let it = try RedisBench(queueCapacity: 5)
        let grant = try await it.bench.pass(it.bench.ask(Self.limits))
        try await it.onLoop { it.runner.failure = (.disconnected, actsFirst: false) }
        for _ in 0..<20 { it.store.submit(Settlement(of: it.bench.ask(Self.limits), grant: grant)) }
        try await it.until { it.store.health.droppedSettlements >= 15 }
        #expect(it.store.health.waitingSettlements <= 5)
    }

    @Test func failuresOpenTheBreakerWithoutAskingAndAnAnswerEndsIt() async throws {
        let it = try RedisBench()
        try await it.onLoop { it.runner.failure = (.notServing, actsFirst: false) }
        let ask = it.bench.ask(Self.limits)
        for _ in 0..<3 { await #expect(throws: QuotaFailure.notServing) { try await it.store.admit(ask) } }
        let calls = it.runner.calls
        for _ in 0..<50 { await #expect(throws: QuotaFailure.breakerOpen) { try await it.store.admit(ask) } }
        #expect(it.runner.calls == calls)
        #expect(it.store.health.degraded?.reason == .notServing)
        #expect(it.store.health.degraded?.since == it.clock.wallTime())
        try await it.onLoop { it.runner.failure = nil }
        it.clock.advance(by: .milliseconds(100))
        try await it.bench.pass(ask)
        #expect(it.store.health.degraded == nil)
    }

    @Test func anAdmissionThatReachesTheStoreLateMovesNothing() async throws {
        let it = try RedisBench()
        let gate = QuotaGate(store: it.store, local: MemoryStore(clock: it.clock), clock: it.clock)
        let ask = it.bench.ask(Self.limits)
        try await it.onLoop { it.runner.failure = (.timedOut, actsFirst: false) }
        guard case .unavailable(.timedOut, _) = await gate.admit(ask) else { throw ContractBroken() }
        try await it.until { it.store.health.waitingSettlements == 1 }
        try await it.onLoop { it.runner.failure = nil }
        try await it.until { it.store.health.waitingSettlements == 0 }
        // What had been sent before the connection was given up arrives now.
        _ = try await it.store.admit(ask)
        #expect(try await it.bench.look(ask).states.map(\.used) == [0, 0, 0, 0])
    }

    @Test func refusalsAreRememberedOnlyWhileChangesAreHeardOf() async throws {
        let it = try RedisBench()
        let gate = QuotaGate(store: it.store, local: MemoryStore(clock: it.clock), clock: it.clock)
        let limits = [Limit.minute(1)]
        func refuse() async {
            _ = await gate.admit(it.bench.ask(limits))
            _ = await gate.admit(it.bench.ask(limits))
        }
        let caller = it.bench.ask(limits).caller
        await refuse()
        #expect(gate.precheck(caller, limits: limits) == nil)
        it.feed.established()
        await refuse()
        #expect(gate.precheck(caller, limits: limits) != nil)
        it.feed.changed()
        #expect(gate.precheck(caller, limits: limits) == nil)
        await refuse()
        #expect(gate.precheck(caller, limits: limits) != nil)
        it.feed.lost()
        #expect(gate.precheck(caller, limits: limits) == nil)
        await refuse()
        #expect(gate.precheck(caller, limits: limits) == nil)
    }

    @Test func aChangeIsPublishedWithItsWrite() async throws {
        let it = try RedisBench()
        let listener = try it.server.connect(database: 0)
        _ = try listener.call("SUBSCRIBE", ChangeFeed.channel.string)
        try await it.store.apply(.block(until: nil), to: .subject("u1", of: "published"))
        var hasHeard = false
        // Other tests' changes come over the same channel.
        while !hasHeard {
            guard case .array(let message) = try listener.call([]) else { throw ContractBroken() }
            hasHeard = message.last == .bytes(Array("cHVibGlzaGVk".utf8))
        }
    }

    @Test func manyConnectionsAdmitExactlyTheLimit() async throws {
        let server = try #require(PlainServer.shared)
        let loops = try #require(PlainServer.loops).loops
        let database = server.database()
        let limits = [Limit.minute(300), .running(100_000, .tenant), .day(100_000_000)]
        let stores = try (0..<6).map { index in
            RedisStore(
                loop: loops[index % loops.count],
                runner: PlainRunner(try server.connect(database: database), isTold: false), feed: ChangeFeed())
        }
        let clock = TestStoreClock(clock: TestClock())
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for store in stores {
                group.addTask { @concurrent in
                    let bench = StoreBench(store: store, clock: clock)
                    var passed = 0
                    for turn in 0..<200 {
                        let ask = bench.ask(SubjectID("w\(turn % 2)"), limits)
                        guard case .admitted(let grant) = try await store.admit(ask) else { continue }
                        passed += 1
                        try await bench.settle(ask, grant, tokens: 3)
                    }
                    return passed
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(counts == 600)
        let bench = StoreBench(store: stores[0], clock: clock)
        for subject in ["w0", "w1"] as [SubjectID] {
            #expect(try await bench.look(bench.ask(subject, limits)).states.map(\.used) == [300, 0, 900])
        }
    }
}

/// The scripts on three nodes, where a key of another slot, or one that was not declared, is an error.
@Suite(.serialized) struct ClusterStoreTests {
    private static let cluster: PlainCluster? = try? PlainCluster()

    @Test(arguments: StoreContract.checks)
    func holdsTheContract(check: ContractCheck) async throws {
        let cluster = try #require(Self.cluster)
        try cluster.empty()
        let clock = TestClock()
        let store = RedisStore(
            loop: try #require(PlainServer.loops?.loops.last),
            runner: PlainRunner(try PlainCluster.connect(cluster.ports[0]), isTold: true), feed: ChangeFeed(),
            scriptClock: .told(clock), clock: clock)
        try await check.run(StoreBench(store: store, clock: TestStoreClock(clock: clock)))
    }
}
