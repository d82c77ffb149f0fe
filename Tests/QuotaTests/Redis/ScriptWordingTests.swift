import GatewayTesting
import GatewayTypes
import RedisClient
import Testing

@testable import Quota

/// What goes between a store and its scripts, byte by byte where others rely on it.
@Suite struct ScriptWordingTests {
    private static let noAddress: ByteString = ""

    private static func packed(_ numbers: [Double]) -> [UInt8] {
        numbers.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
    }

    @Test(
        arguments: [
            ([], []), ([2, 0, -3, 9_007_199_254_740_992], [2, 0, -3, 9_007_199_254_740_992]),
            ([1.5], nil), ([.nan], nil), ([2, .infinity], nil), ([1e300], nil),
        ] as [([Double], [Int]?)])
    func packedAnswersAreWholeNumbers(numbers: [Double], expected: [Int]?) {
        #expect(ScriptValue.list(packed: Self.packed(numbers)) == expected.map { $0.map { .integer($0) } })
    }

    @Test func aCutAnswerIsNone() {
        let whole = Self.packed([2, 0])
        for length in 1..<16 where length != 8 { #expect(ScriptValue.list(packed: Array(whole[..<length])) == nil) }
    }

    @Test func timesAreWrittenToTheMicrosecond() async throws {
        let it = try RedisBench()
        let connection = try it.server.connect(database: it.database)
        let limits = [Limit.running(5), .minute(5)]
        // Instants whose digits a shorter notation would lose.
        for (turn, microseconds) in [1_796_083_200_000_001, 1_796_083_209_999_999, 1_900_000_000_123_457].enumerated() {
            it.clock.set(wall: WallTime(microseconds: Int64(microseconds)))
            let ask = it.bench.ask(SubjectID("u\(turn)"), limits)
            try await it.bench.pass(ask)
            let keys = CallerKeys(ask.caller, limits: limits, tenant: it.store.tag(of: StoreBench.tenant))
                .keys(recordOf: ask.request, .leases, .minute).words
            let member = Array("\(ask.request)\(microseconds / 1_000_000)".utf8)
            for span in [0, 10_000_007] {
                it.clock.advance(by: .microseconds(Int64(span)))
                if span > 0 { _ = try await it.store.renew([Lease(caller: ask.caller, request: ask.request)]) }
                let score = Array("\(microseconds + span + 30_000_000)".utf8)
                #expect(try connection.call([Array("ZSCORE".utf8), keys[1], member]) == .bytes(score))
            }
            let log = try connection.call([Array("GET".utf8), keys[4]])
            #expect(log == .bytes(Self.packed([Double(microseconds)])))
        }
    }

    /// Whether the caller has an address, and whether its plan limits one; what admission and settlement then name.
    @Test(
        arguments: [
            ("", false, 9, 5), ("", true, 13, 7), ("192.0.2.1", false, 13, 7), ("192.0.2.1", true, 13, 7),
        ] as [(ByteString, Bool, Int, Int)])
    func keysOfAnAddressAreNamedWhereOneCounts(
        address: ByteString, isLimited: Bool, admission: Int, settlement: Int
    ) async throws {
        let it = try RedisBench()
        let limits = [Limit.minute(5), .running(5)] + (isLimited ? [.day(1000, .address), .running(5, .address)] : [])
        let ask = it.bench.ask(address: address, limits)
        let grant = try await it.bench.pass(ask)
        #expect(grant.states.map(\.used) == [1, 1] + (isLimited ? [110, 1] : []))
        #expect(it.runner.keys[.admit] == admission)
        #expect(try await it.store.renew([Lease(caller: ask.caller, request: ask.request)]).isEmpty)
        try await it.bench.settle(ask, grant, tokens: 30)
        #expect(it.runner.keys[.settle] == settlement)
        #expect(try await it.bench.look(ask).states.map(\.used) == [1, 0] + (isLimited ? [30, 0] : []))
        #expect(it.runner.keys[.look] == admission)
    }

    @Test func whatOperatorsSetForAnAddressIsSettledThere() async throws {
        let it = try RedisBench()
        let ask = it.bench.ask(address: "192.0.2.1", [Limit.minute(5)])
        let key = CounterKey.address("192.0.2.1", of: StoreBench.tenant)
        let override = LimitOverride(quantity: 1000, expiresAt: nil)
        try await it.store.apply(.override(.tokensPerDay, override), to: key)
        let grant = try await it.bench.pass(ask)
        #expect(grant.states.map(\.used) == [1, 110])
        try await it.bench.settle(ask, grant, tokens: 30)
        #expect(try await it.bench.look(ask).states.map(\.used) == [1, 30])
    }

    /// The counters and the record are a contract with instances of other releases.
    @Test func countersAndRecordsOfOtherInstancesAreUnderstood() async throws {
        let it = try RedisBench()
        let connection = try it.server.connect(database: it.database)
        it.clock.set(wall: WallTime(microseconds: 1_796_083_210_000_000))
        let now = 1_796_083_210_000_000.0
        let limits = [Limit.minute(9), .day(1000), .running(5)]
        let ask = it.bench.ask(address: Self.noAddress, limits)
        let day = ask.calendar.day(at: it.clock.wallTime())
        let keys = CallerKeys(ask.caller, limits: limits, tenant: it.store.tag(of: StoreBench.tenant))
            .keys(recordOf: ask.request, .counters, .minute, .leases).words
        let (number, end) = (Double(day.number), Double(day.endsAt))
        let counters = [
            now - 5, 77, number, 150, 110, end, 0, 0, 0, 0, 1, 0, now - 5, now - 5, now + 6e8, now + 3e7, 1, now + 1e12,
        ]
        let record = [
            0, 100, 110, number, Double(day.startsAt), end, now - 5, now + 29_999_995, 9, 77, 0, 0,
        ]
        _ = try connection.call([Array("SET".utf8), keys[0], Self.packed(record)])
        _ = try connection.call([Array("SET".utf8), keys[1], Self.packed(counters)])
        _ = try connection.call([Array("SET".utf8), keys[3], Self.packed([now - 5])])
        let member = Array("\(ask.request)1796083209".utf8)
        let score = Array("1796083239999995".utf8)
        _ = try connection.call([Array("ZADD".utf8), keys[5], score, member])

        #expect(try await it.bench.look(ask).states.map(\.used) == [1, 150, 1])
        let grant = try await it.bench.pass(ask)
        #expect(grant.outputTokens == 100 && grant.reservedTokens == 110 && grant.day == day)
        let another = try await it.bench.pass(it.bench.ask(address: Self.noAddress, limits))
        #expect(another.states.map(\.used) == [2, 260, 2])
        try await it.bench.settle(ask, grant, tokens: 30)
        #expect(try await it.bench.look(ask).states.map(\.used) == [2, 180, 1])

        let expected = [
            now, 77, number, 180, 110, end, 0, 0, 0, 0, 2, 0, now - 5, now, now + 6e8, now + 3e7, 1, now + 1e12,
        ]
        #expect(try connection.call([Array("GET".utf8), keys[1]]) == .bytes(Self.packed(expected)))
        let closed = try connection.call([Array("GET".utf8), keys[0]])
        #expect(closed == .bytes(Self.packed([1] + record.dropFirst())))
    }

    /// Entries of the trail outlive the release that wrote them: without an object, and without what stood before.
    @Test func entriesOfEarlierReleasesAreUnderstood() async throws {
        let it = try RedisBench()
        it.clock.set(wall: WallTime(microseconds: 1_796_083_210_000_000))
        var keys = RedisWords()
        it.store.tag(of: StoreBench.tenant).appendTrail(to: &keys)
        let trail = String(decoding: try #require(keys.words.first), as: UTF8.self)
        let connection = try it.server.connect(database: it.database)
        let whose = ["actor", "mina", "reason", "leak", "scope", "subject", "id", "u1"]
        for (number, action, more) in [
            ("1796083209000000 0 1 -1 -1 -1 -1 -1 -1", "block", []),
            ("1796083209000001 0 2 -1 -1 -1 -1 -1 -1", "unblock", []),
            ("1796083209000002 0 1796083209000002 -1 -1 -1 -1 -1 -1", "give_plan", ["object", "pro"]),
        ] as [(String, String, [String])] {
            let words = ["XADD", trail, "*", "n", number, "action", action] + whose + more
            _ = try connection.call(words.map { Array($0.utf8) })
        }
        let entries = try await it.store.audit(AuditQuestion(.tenant(StoreBench.tenant))).entries
        #expect(entries.map(\.action) == [.givePlan, .unblock, .block])
        #expect(entries.map(\.stateBefore) == [.untold, .untold, .untold])
        #expect(entries.map(\.stateAfter) == [.plan("pro"), .block(.none), .block(.untilLifted)])
        #expect(entries.map(\.object) == ["pro", "", ""])
    }
}
