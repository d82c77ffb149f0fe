import GatewayTesting
import GatewayTypes
import JOSE
import Testing

@testable import Authentication

private let old = TokenMint.rsa(keyID: "old")
private let new = TokenMint.ec(keyID: "new")

/// An answer that must leave the keys in use as they are.
struct BadDay: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: MiniIssuer.Answer
    let outcome: FetchOutcome

    static let all: [BadDay] = [
        day("an error", .status(500), .badStatus), day("unavailable", .status(503), .badStatus),
        day("nothing there", .status(404), .badStatus), day("no content", .status(204), .badStatus),
        day("silence", .hang, .timeout), day("a page", .document("<html>Down for maintenance</html>"), .notJSON),
        day("an empty body", .document(""), .notJSON), day("an empty set", .document(#"{"keys":[]}"#), .noUsableKey),
        day("no set", .document("{}"), .notAKeySet), day("a list", .document("[]"), .notAKeySet),
        day("ten megabytes", .bulk(10_000_000), .tooLarge),
        day("half an answer", .truncated(#"{"keys":["#), .broken),
        day("half a set", .document(String(TokenMint.jwks([new]).dropLast(20))), .notJSON),
        day(
            "a private key alone", .document(new.jwks.replacing("\"kty\"", with: "\"d\":\"AAAA\",\"kty\"")),
            .noUsableKey),
        day(
            "a secret alone",
            .document(#"{"keys":[{"kty":"oct","kid":"new","k":"\#(String(repeating: "A", count: 64))"}]}"#),
            .noUsableKey),
        day("too many keys", .keys((0...100).map { new.with(keyID: "k\($0)") }), .tooManyKeys),
        day("a key for other algorithms", .keys([TokenMint.ec(keyID: "p521", algorithm: .es512)]), .noUsableKey),
        day("not modified, unasked", .status(304), .badStatus),
        day("a name twice", .document(#"{"keys":[],"keys":[\#(new.jwk)]}"#), .notJSON),
    ]

    private static func day(_ name: String, _ answer: MiniIssuer.Answer, _ outcome: FetchOutcome) -> BadDay {
        BadDay(testDescription: name, answer: answer, outcome: outcome)
    }
}

@Suite("Keys that an issuer publishes", .timeLimit(.minutes(2)))
struct KeyFetchingTests {
    @Test("The first set makes the gateway ready")
    func firstSet() async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(FetchBench.source(issuer)) { bench in
            try await bench.becomeReady()
            #expect(bench.look(bench.token(old)) == nil)
            #expect(issuer.fetches() == 1)
            #expect(try bench.report.keys == 1)
            #expect(try #require(bench.report.age).inSeconds < 20)
            let request = try #require(issuer.requests().first)
            #expect(request.value("accept") == "application/json")
            #expect(request.body.isEmpty && request.value("content-length") == nil)
        }
    }

    @Test("A new key works with its first token, an old one no longer than it is published")
    func rotation() async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(FetchBench.source(issuer)) { bench in
            try await bench.becomeReady()
            let cache = TokenCache()
            let held = bench.token(old)
            #expect(bench.look(held, cache: cache) == nil)
            try await Task.sleep(nanoseconds: 60_000_000)
            issuer.publish([old, new])
            #expect(await bench.ask(bench.token(new)) == nil)
            #expect(bench.look(held, cache: cache) == nil)
            try await Task.sleep(nanoseconds: 60_000_000)
            issuer.publish([new])
            #expect(await bench.ask(bench.token(new.with(keyID: "other"))) == .unknownKey(issuer: 0))
            #expect(bench.look(held, cache: cache) == .unknownKey(issuer: 0))
            #expect(bench.look(bench.token(new)) == nil)
        }
    }

    @Test("A bad answer replaces nothing", arguments: BadDay.all)
    func badAnswers(day: BadDay) async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(FetchBench.source(issuer)) { bench in
            try await bench.becomeReady()
            try await Task.sleep(nanoseconds: 60_000_000)
            issuer.answer("/keys", day.answer)
            #expect(await bench.ask(bench.token(new)) == .unknownKey(issuer: 0))
            #expect(await eventually { (try? bench.count(day.outcome)) ?? 0 > 0 }, "\(bench.fetcher.reports)")
            #expect(bench.look(bench.token(old)) == nil)
            #expect(try bench.report.keys == 1)
            // The next good day is found without anybody's doing.
            issuer.publish([new])
            #expect(await eventually { bench.look(bench.token(new)) == nil })
        }
    }

    @Test("A bad answer is no first set either", arguments: BadDay.all)
    func badStart(day: BadDay) async throws {
        let issuer = try MiniIssuer()
        issuer.answer("/keys", day.answer)
        try await FetchBench.run(FetchBench.source(issuer)) { bench in
            try await bench.hasTried()
            #expect(await bench.ask(bench.token(old)) == .keysUnavailable(issuer: 0))
            #expect(!bench.authenticator.isReady)
            issuer.publish([old])
            // One round is the failing one that may still be on its way.
            _ = await bench.ask(bench.token(old))
            #expect(await eventually { bench.look(bench.token(old)) == nil })
            #expect(bench.authenticator.isReady)
        }
    }

    @Test("No redirect is followed")
    func redirects() async throws {
        let elsewhere = try MiniIssuer([new])
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(FetchBench.source(issuer)) { bench in
            try await bench.becomeReady()
            try await Task.sleep(nanoseconds: 60_000_000)
            issuer.answer("/keys", .status(302, fields: ["Location: \(elsewhere.keysURL)"]))
            #expect(await bench.ask(bench.token(new)) == .unknownKey(issuer: 0))
            #expect(try bench.count(.badStatus) == 1)
            #expect(elsewhere.requestCount == 0)
        }
    }

    @Test("A flood of unknown key ids costs one fetch a cooldown, and holds up nobody")
    func flood() async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(FetchBench.source(issuer, cooldown: .seconds(600))) { bench in
            try await bench.becomeReady()
            let good = bench.token(old)
            for index in 0..<1000 {
                let failure = await bench.ask(bench.token(old.with(keyID: "random-\(index)")))
                #expect(failure == .unknownKey(issuer: 0))
                if index % 50 == 0 { #expect(bench.look(good) == nil) }
            }
            #expect(issuer.fetches() == 1)
        }
    }

    @Test("Many who wait share one fetch")
    func singleFlight() async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(FetchBench.source(issuer)) { bench in
            try await bench.becomeReady()
            try await Task.sleep(nanoseconds: 60_000_000)
            issuer.answer("/keys", .hang)
            await withTaskGroup(of: Void.self) { tasks in
                for index in 0..<100 {
                    tasks.addTask {
                        let failure = await bench.ask(bench.token(old.with(keyID: "random-\(index)")))
                        #expect(failure == .unknownKey(issuer: 0))
                    }
                }
                #expect(await eventually { issuer.fetches() == 2 })
                // Known keys need no fetch to end.
                #expect(bench.look(bench.token(old)) == nil)
            }
            #expect(issuer.fetches() <= 3)
        }
    }

    @Test("A wait for keys ends before a fetch that hangs")
    func patience() async throws {
        let issuer = try MiniIssuer([old])
        var source = FetchBench.source(issuer)
        source.timeout = .seconds(60)
        source.patience = .milliseconds(100)
        try await FetchBench.run(source) { bench in
            try await bench.becomeReady()
            try await Task.sleep(nanoseconds: 60_000_000)
            issuer.answer("/keys", .hang)
            #expect(await bench.ask(bench.token(new)) == .unknownKey(issuer: 0))
            #expect(try bench.report.failuresInARow == 0, "the fetch still runs")
        }
    }

    @Test("Without anybody to fetch nobody waits")
    func nobodyFetches() async throws {
        let issuer = try MiniIssuer([old])
        let group = try EventLoopsForTests()
        let bench = try FetchBench(group.loop, FetchBench.source(issuer))
        #expect(await bench.ask(bench.token(old)) == .keysUnavailable(issuer: 0))
        #expect(issuer.requestCount == 0)
        group.end()
    }

    @Test("One bad key costs the others nothing")
    func mixedSet() async throws {
        let issuer = try MiniIssuer()
        let odd = [
            #"{"kty":"AKP","kid":"future","alg":"ML-DSA-44","pub":"AAAA"}"#, #"{"kty":"RSA","kid":"broken","n":"!"}"#,
            old.with(keyID: "enc").jwk.replacing("\"use\":\"sig\"", with: "\"use\":\"enc\""),
            new.with(keyID: "leaked").jwk.replacing("\"kty\"", with: "\"d\":\"AAAA\",\"kty\""),
            #"{"kty":"oct","kid":"shared","k":"\#(String(repeating: "A", count: 64))"}"#, "17",
        ]
        issuer.answer("/keys", .document(#"{"keys":[\#((odd + [old.jwk, new.jwk]).joined(separator: ","))]}"#))
        try await FetchBench.run(FetchBench.source(issuer, cooldown: .seconds(600))) { bench in
            try await bench.becomeReady()
            #expect(bench.look(bench.token(old)) == nil)
            #expect(bench.look(bench.token(new)) == nil)
            #expect(bench.look(bench.token(old.with(keyID: "enc"))) == .unknownKey(issuer: 0))
            #expect(bench.look(bench.token(new.with(keyID: "leaked"))) == .unknownKey(issuer: 0))
            let report = try bench.report
            #expect(report.keys == 2)
            #expect(
                report.skipped == [
                    .unsupportedType: 1, .malformed: 2, .wrongUse: 1, .privateMembers: 1, .symmetricKey: 1,
                ], "\(report.skipped)")
        }
    }

    @Test("A set that has not changed is not sent again")
    func entityTags() async throws {
        let issuer = try MiniIssuer()
        issuer.answer(
            "/keys",
            .decided { request in
                request.value("if-none-match") == "\"v1\""
                    ? .status(304, fields: ["ETag: \"v1\""]) : .keys([old], fields: ["ETag: \"v1\""])
            })
        try await FetchBench.run(FetchBench.source(issuer)) { bench in
            try await bench.becomeReady()
            try await Task.sleep(nanoseconds: 60_000_000)
            #expect(await bench.ask(bench.token(new)) == .unknownKey(issuer: 0))
            #expect(try bench.count(.notModified) == 1)
            #expect(bench.look(bench.token(old)) == nil)
        }
    }

    @Test("An issuer that says nothing has changed, of a set that was dropped meanwhile, is asked for all of it")
    func unchangedAndGone() throws {
        let clock = TestClock()
        var source = RemoteKeySource(issuer: "https://i.test", location: .jwks(url: "https://i.test/keys"))
        source.staleFor = .seconds(100)
        let set = RemoteKeySet(source, clock: clock) {}
        set.setFetched(by: true)
        var memory = try #require(set.beginIfDue())
        memory.entityTag = "\"v1\""
        let keys = KeySet([try VerificationKey(secret: Array(repeating: 7, count: 32), keyID: Array("k".utf8))])
        _ = set.landed(.init(outcome: .fetched, fetched: (keys, []), memory: memory))
        #expect(set.slot.current != nil)
        clock.advance(by: .seconds(99))
        let sent = try #require(set.beginIfDue())
        #expect(sent.entityTag == "\"v1\"")
        clock.advance(by: .seconds(2))
        _ = set.tick()
        #expect(set.slot.current == nil)
        _ = set.landed(.init(outcome: .notModified, memory: sent))
        clock.advance(by: .seconds(2))
        #expect(try #require(set.beginIfDue()).entityTag == nil)
    }

    @Test("Keys that nobody confirms are dropped in the end, and tokens are then neither good nor bad")
    func staleness() async throws {
        let issuer = try MiniIssuer([old])
        var source = FetchBench.source(issuer)
        source.staleFor = .milliseconds(800)
        source.leastLifetime = .milliseconds(100)
        issuer.publish([old], fields: ["Cache-Control: max-age=0"])
        try await FetchBench.run(source) { bench in
            try await bench.becomeReady()
            // Refreshed by itself for longer than a set lives.
            #expect(await eventually { issuer.fetches() > 15 }, "\(bench.fetcher.reports) \(issuer.fetches())")
            #expect(bench.authenticator.isReady)
            let cache = TokenCache()
            let held = bench.token(old)
            #expect(bench.look(held, cache: cache) == nil)
            issuer.stop()
            #expect(await eventually { !bench.authenticator.isReady })
            #expect(bench.look(held, cache: cache) == .keysUnavailable(issuer: 0))
        }
    }

    @Test("An issuer that is down at the start is asked again, and found when it is back")
    func downAtStart() async throws {
        let first = try MiniIssuer([old])
        let source = FetchBench.source(first)
        first.stop()
        try await FetchBench.run(source) { bench in
            try await bench.hasTried()
            #expect(await bench.ask(bench.token(old)) == .keysUnavailable(issuer: 0))
            let back = try MiniIssuer([old], on: first.port)
            #expect(await bench.ask(bench.token(old)) == nil)
            #expect(back.fetches() == 1)
        }
    }

    @Test("An issuer that nobody needs at the start delays nothing")
    func notRequired() async throws {
        let issuer = try MiniIssuer()
        issuer.answer("/keys", .status(500))
        try await FetchBench.run(FetchBench.source(issuer), { $0.requiresKeys = false }) { bench in
            #expect(bench.authenticator.isReady)
            #expect(await bench.ask(bench.token(old)) == .keysUnavailable(issuer: 0))
        }
    }

    @Test("A reload keeps the set and the fetcher's peace")
    func reload() async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(FetchBench.source(issuer)) { bench in
            try await bench.becomeReady()
            let entry = Bench.issuer {
                $0.issuer = bench.source.issuer
                $0.keys = nil
                $0.remoteKeys = bench.source
                $0.tenant = "other"
            }
            let next = try Authenticator(AuthenticationConfiguration(issuers: [entry]), fetcher: bench.fetcher)
            #expect(next.isReady)
            #expect(issuer.fetches() == 1)
            #expect(bench.fetcher.reports.count == 1)
        }
    }
}

@Suite("Metadata that names the keys", .timeLimit(.minutes(2)))
struct DiscoveryTests {
    private func source(_ issuer: MiniIssuer) -> RemoteKeySource {
        var source = FetchBench.source(issuer)
        source.location = .discovery(url: RemoteKeySource.discoveryURL(of: source.issuer))
        return source
    }

    @Test("Keys are where the metadata says")
    func found() async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(self.source(issuer)) { bench in
            try await bench.becomeReady()
            #expect(bench.look(bench.token(old)) == nil)
            try await Task.sleep(nanoseconds: 60_000_000)
            issuer.publish([new])
            #expect(await bench.ask(bench.token(new)) == nil)
            #expect(issuer.fetches(of: MiniIssuer.metadataPath) == 1, "remembered")
        }
    }

    @Test("Keys that have moved are found")
    func moved() async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(self.source(issuer)) { bench in
            try await bench.becomeReady()
            issuer.answer("/keys", .status(404))
            issuer.answer("/moved", .keys([new]))
            issuer.answer(
                MiniIssuer.metadataPath, .document(issuer.metadata(keysURL: issuer.url + "/moved")))
            try await Task.sleep(nanoseconds: 60_000_000)
            _ = await bench.ask(bench.token(new))
            #expect(await eventually { bench.look(bench.token(new)) == nil })
        }
    }

    @Test(
        "Metadata that is not this issuer's, or leads astray",
        arguments: [
            ("an issuer with a slash", FetchOutcome.issuerMismatch), ("another case", .issuerMismatch),
            ("no issuer", .badMetadata), ("a page", .badMetadata), ("no address", .badMetadata),
            ("plain http elsewhere", .notAllowed), ("a file", .notAllowed), ("user information", .notAllowed),
            ("an error", .badStatus), ("a flood", .tooLarge),
        ])
    func astray(kind: String, outcome: FetchOutcome) async throws {
        let issuer = try MiniIssuer([old])
        let answer: MiniIssuer.Answer =
            switch kind {
            case "an issuer with a slash": .document(issuer.metadata(issuer: issuer.url + "/"))
            case "another case": .document(issuer.metadata(issuer: issuer.url.uppercased()))
            case "no issuer": .document(#"{"jwks_uri":"\#(issuer.keysURL)"}"#)
            case "a page": .document("<html></html>")
            case "no address": .document(#"{"issuer":"\#(issuer.url)","jwks_uri":17}"#)
            case "plain http elsewhere": .document(issuer.metadata(keysURL: "http://keys.example.test/keys"))
            case "a file": .document(issuer.metadata(keysURL: "file:///etc/passwd"))
            case "user information": .document(issuer.metadata(keysURL: "https://a:b@keys.example.test/"))
            case "an error": .status(500)
            default: .bulk(100_000)
            }
        issuer.answer(MiniIssuer.metadataPath, answer)
        try await FetchBench.run(self.source(issuer)) { bench in
            #expect(await eventually { (try? bench.count(outcome)) ?? 0 > 0 }, "\(bench.fetcher.reports)")
            #expect(issuer.fetches() == 0)
            #expect(!bench.authenticator.isReady)
        }
    }
}
