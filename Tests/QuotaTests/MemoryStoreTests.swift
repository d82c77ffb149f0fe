import GatewayTesting
import GatewayTypes
import Quota
import Testing

/// Turns a `TestClock` for the contract.
struct TestStoreClock: StoreClock {
    let clock: TestClock
    func now() async -> WallTime { self.clock.wallTime() }
    func advance(by span: TimeSpan) async { self.clock.advance(by: span) }
    func set(wall: WallTime) async { self.clock.set(wall: wall) }
}

@Suite struct MemoryStoreTests {
    private static func bench() -> (StoreBench, MemoryStore, TestClock) {
        let clock = TestClock()
        let store = MemoryStore(clock: clock)
        return (StoreBench(store: store, clock: TestStoreClock(clock: clock)), store, clock)
    }

    @Test(arguments: StoreContract.checks)
    func holdsTheContract(check: ContractCheck) async throws { try await check.run(Self.bench().0) }

    @Test func idleSubjectsAreForgottenAsOthersComeAndByTheTimer() throws {
        let (bench, store, clock) = Self.bench()
        func come(_ name: String, _ count: Int) throws {
            for number in 0..<count {
                let ask = bench.ask(SubjectID("\(name)\(number)"), [.minute(5), .running(5)])
                guard case .admitted(let grant) = store.admit(ask) else { throw ContractBroken() }
                store.settle(Settlement(of: ask, grant: grant))
            }
        }
        try come("first", 3000)
        #expect(store.accountCount == 3000)
        clock.advance(by: .seconds(120))
        try come("second", 1500)
        #expect(store.accountCount < 2000)
        clock.advance(by: .seconds(120))
        for _ in 0..<8 { store.sweep() }
        #expect(store.accountCount == 0)
    }

    @Test func refusedStrangersLeaveNothingBehind() throws {
        let (bench, store, _) = Self.bench()
        for stranger in 0..<500 {
            let ask = bench.ask(
                SubjectID("s\(stranger)"), address: ByteString("a\(stranger)"), [.minute(0, .tenant), .minute(9)])
            guard case .refused = store.admit(ask) else { throw ContractBroken() }
        }
        #expect(store.accountCount == 0)
    }

    @Test func usageOfTheDayIsKeptUntilItTurns() throws {
        let (bench, store, clock) = Self.bench()
        clock.set(wall: WallTime(seconds: 1_799_971_200))
        let ask = bench.ask([.day(1000)])
        guard case .admitted(let grant) = store.admit(ask) else { throw ContractBroken() }
        store.settle(Settlement(of: ask, grant: grant, charge: .tokens(400)))
        clock.advance(by: .seconds(80_000))
        store.sweep()
        #expect(
            store.look(QuotaQuestion(caller: ask.caller, limits: ask.limits, calendar: .utc)).states.first?.used == 400)
        clock.advance(by: .seconds(6400 + 3600))
        store.sweep()
        #expect(store.accountCount == 0)
    }

    @Test func unsettledAsksKeepTheirAccountThroughReset() async throws {
        let (bench, store, clock) = Self.bench()
        let ask = bench.ask([.day(1000)])
        let grant = try await bench.pass(ask)
        try await store.apply(.reset(nil), to: .subject("u1", of: StoreBench.tenant))
        clock.advance(by: .seconds(10))
        store.sweep()
        #expect(store.accountCount == 1)
        try await bench.settle(ask, grant, tokens: 9)
        #expect(try await bench.used(ask) == 9)
    }

    @Test func aRepeatedSettlementIsHarmlessAfterItIsForgotten() async throws {
        let (bench, _, clock) = Self.bench()
        let ask = bench.ask([.day(1_000), .running(5)])
        let grant = try await bench.pass(ask)
        try await bench.settle(ask, grant, tokens: 30)
        clock.advance(by: .seconds(301))
        try await bench.pass(bench.ask([.day(1_000), .running(5)]))
        #expect(try await bench.settle(ask, grant, tokens: 0) == .unknown)
        #expect(try await bench.look(ask).states.map(\.used) == [140, 1])
    }

    @Test func manyShortAsksAreForgottenInTheirOrder() async throws {
        let (bench, store, _) = Self.bench()
        let limits = [Limit.running(10), .day(1 << 40)]
        let first = bench.ask(limits)
        let firstGrant = try await bench.pass(first)
        try await bench.settle(first, firstGrant, tokens: 1)
        for _ in 0..<66_000 {
            let ask = bench.ask(limits)
            guard case .admitted(let grant) = store.admit(ask) else { throw ContractBroken() }
            store.settle(Settlement(of: ask, grant: grant, charge: .tokens(1)))
        }
        #expect(try await bench.settle(first, firstGrant, tokens: 1) == .unknown)
        #expect(try await bench.look(first).states.map(\.used) == [0, 66_001])
    }

    @Test func manyAdmissionsLeaveTheMinuteAtOnce() throws {
        let (bench, store, clock) = Self.bench()
        let limits = [Limit.minute(200_000)]
        for index in 0..<200_000 {
            guard case .admitted = store.admit(bench.ask(limits, request: RequestID(high: 1, low: UInt64(index))))
            else {
                throw ContractBroken()
            }
        }
        guard case .refused = store.admit(bench.ask(limits)) else { throw ContractBroken() }
        clock.advance(by: .seconds(60))
        guard case .admitted(let grant) = store.admit(bench.ask(limits)) else { throw ContractBroken() }
        #expect(grant.states.first?.used == 1)
    }

    @Test func manyThreadsAdmitExactlyTheLimit() async throws {
        let (bench, store, _) = Self.bench()
        let limits = [Limit.minute(1000), .running(700, .tenant), .day(1_000_000)]
        let counts = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask { @concurrent in
                    var passed = 0
                    for _ in 0..<400 {
                        let ask = bench.ask(SubjectID("w\(worker % 2)"), limits)
                        guard case .admitted(let grant) = store.admit(ask) else { continue }
                        passed += 1
                        store.settle(Settlement(of: ask, grant: grant, charge: .tokens(3)))
                    }
                    return passed
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.reduce(0, +) == 2000)
        for subject in ["w0", "w1"] as [SubjectID] {
            #expect(try await bench.look(bench.ask(subject, limits)).states.map(\.used) == [1000, 0, 3000])
        }
    }
}
