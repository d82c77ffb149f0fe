import GatewayTypes
import TLS
import Testing

@testable import RedisClient

@Suite("What errors of a server lead to")
struct ReplyPolicyTests {
    static let own = RedisAddress(host: "own", port: 1)
    static let there = RedisAddress(host: "there", port: 2)

    static func error(_ text: String) -> RedisServerError { RedisServerError(Array(text.utf8)) }

    static let table: [(String, ReplyAction)] = [
        ("MOVED 5 there:2", .move(slot: 5, there)), ("ASK 5 there:2", .ask(there)),
        ("MOVED 5", .fail(.malformedReply)), ("TRYAGAIN Multiple keys", .retry(.notServing, refreshes: false)),
        ("CLUSTERDOWN Hash slot not served", .retry(.notServing, refreshes: true)),
        ("CROSSSLOT Keys", .fail(.server(error("CROSSSLOT Keys")))),
        ("READONLY You can't write against a read only replica.", .rediscover(.notServing)),
        ("LOADING Redis is loading", .retry(.notServing, refreshes: false)),
        ("MASTERDOWN Link with MASTER is down", .rediscover(.notServing)),
        ("BUSY Redis is busy", .retry(.notServing, refreshes: false)),
        ("NOREPLICAS Not enough good replicas", .fail(.refusesWrites)),
        ("OOM command not allowed", .fail(.refusesWrites)), ("MISCONF Redis is", .fail(.refusesWrites)),
        ("NOSCRIPT No matching script", .sendText), ("NOAUTH Authentication", .failConnection(.notPermitted)),
        ("WRONGPASS invalid", .failConnection(.notPermitted)), ("NOPERM this user", .fail(.notPermitted)),
        ("ERR unknown command", .fail(.server(error("ERR unknown command")))),
    ]

    @Test func everyErrorHasItsAction() {
        for (text, action) in Self.table {
            let error = Self.error(text)
            #expect(ReplyPolicy.action(for: error, from: Self.own, hops: 0) == action, "\(text)")
        }
        #expect(Set(Self.table.map { Self.error($0.0).kind }) == Set(RedisServerError.Kind.allCases))
    }

    @Test func redirectionsEndAfterSome() {
        for text in ["MOVED 5 there:2", "ASK 5 there:2"] {
            let last = ReplyPolicy.mostHops
            #expect(ReplyPolicy.action(for: Self.error(text), from: Self.own, hops: last - 1) != .fail(.notServing))
            #expect(ReplyPolicy.action(for: Self.error(text), from: Self.own, hops: last) == .fail(.notServing))
        }
    }

    @Test func waitsGrowToABound() {
        #expect((0..<8).map { ReplyPolicy.backOff($0).inMilliseconds } == [10, 20, 40, 80, 160, 200, 200, 200])
        #expect(ReplyPolicy.backOff(.max).inMilliseconds == 200)
        let most = [0, 1, 2, 3, 4, 5, 6, 100, .max].map { ReplyPolicy.reconnect($0) { $0.upperBound }.inMilliseconds }
        #expect(most == [50, 100, 200, 400, 800, 1000, 1000, 1000, 1000])
        let least = [0, 6].map { ReplyPolicy.reconnect($0) { $0.lowerBound }.inMilliseconds }
        #expect(least == [25, 500])
    }

    @Test func whoNeverSentNeverActed() {
        let failures: [RedisFailure] = [
            .unreachable, .timedOut, .connectionLost, .overloaded, .notPermitted, .tls(.broken), .notServing,
            .refusesWrites, .malformedReply, .unknownMaster, .noSentinel, .server(Self.error("ERR x")), .stopped,
        ]
        for failure in failures {
            #expect(!failure.ofUnsent.mayHaveActed)
            #expect(failure.ofSent.mayHaveActed)
        }
        let labels = Set(failures.map(\.metricLabel))
        #expect(labels.count == failures.count)
        for label in labels { #expect(label.utf8.allSatisfy { $0 == 95 || (97...122).contains($0) }) }
    }

    @Test func credentialsPrintAsNothing() {
        let credentials = RedisCredentials(user: "someone", password: "canary-word")
        var text = "\(credentials)"
        dump(credentials, to: &text)
        let settings = RedisSettings(topology: .single(Self.own), credentials: credentials)
        dump(settings, to: &text)
        dump(RedisTopology.sentinel(master: "m", sentinels: [], credentials: credentials), to: &text)
        #expect(!text.contains("canary"))
    }
}
