import EventLoops
import GatewayTesting
import GatewayTypes
import JOSE
import Testing

@testable import Authentication

/// Real sockets, a real loop, one authenticator whose one issuer publishes its keys.
final class FetchBench: Sendable {
    static let now = Bench.now
    let fetcher: KeySetFetcher
    let authenticator: Authenticator
    let source: RemoteKeySource

    init(
        _ loop: EventLoop, _ source: RemoteKeySource, stateDirectory: String? = nil,
        _ change: (inout IssuerConfiguration) -> Void = { _ in }
    ) throws {
        self.source = source
        self.fetcher = KeySetFetcher(loop: loop, stateDirectory: stateDirectory)
        let issuer = Bench.issuer {
            $0.issuer = source.issuer
            $0.keys = nil
            $0.remoteKeys = source
            change(&$0)
        }
        self.authenticator = try Authenticator(
            AuthenticationConfiguration(issuers: [issuer]), fetcher: self.fetcher)
    }

    /// A source that is impatient enough for tests.
    static func source(_ issuer: MiniIssuer, cooldown: TimeSpan = .milliseconds(50)) -> RemoteKeySource {
        var source = RemoteKeySource(issuer: ByteString(issuer.url), location: .jwks(url: issuer.keysURL))
        source.cooldown = cooldown
        source.timeout = .milliseconds(700)
        return source
    }

    /// Runs the fetcher for as long as the body takes.
    static func run(
        _ source: RemoteKeySource, stateDirectory: String? = nil,
        _ change: (inout IssuerConfiguration) -> Void = { _ in },
        _ body: @Sendable (FetchBench) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.shutDown() }
        let bench = try FetchBench(group.loops[0], source, stateDirectory: stateDirectory, change)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask(executorPreference: group.loops[0]) { await bench.fetcher.run() }
            do {
                try await body(bench)
            } catch {
                tasks.cancelAll()
                throw error
            }
            tasks.cancelAll()
            try await tasks.waitForAll()
        }
    }

    var report: KeySetReport {
        get throws { try #require(self.fetcher.reports.first) }
    }

    func count(_ outcome: FetchOutcome) throws -> Int { try self.report.outcomes[outcome] ?? 0 }

    func token(_ mint: TokenMint, _ changes: [String: String?] = [:]) -> String {
        mint.token(claims: TokenMint.claims(issuer: self.source.issuer.string, changes: changes))
    }

    /// Nil when the token is accepted with what is known now.
    func look(_ token: String, cache: TokenCache = TokenCache()) -> AuthenticationFailure? {
        let bytes = Array("Bearer \(token)".utf8)
        do throws(AuthenticationFailure) {
            _ = try self.authenticator.authenticate(
                authorization: bytes.span, fieldCount: 1, queryHasToken: false, cache: cache, now: Self.now)
            return nil
        } catch { return error }
    }

    /// The same as a request does it: with a wait for keys where that may help.
    func ask(_ token: String) async -> AuthenticationFailure? {
        guard let failure = self.look(token) else { return nil }
        return await self.authenticator.awaitKeys(after: failure) ? self.look(token) : failure
    }

    /// Waits for the end of the first fetch.
    func hasTried() async throws {
        try #require(await eventually { self.fetcher.reports.first.map { !$0.outcomes.isEmpty } ?? false })
    }

    /// Waits for the first set.
    func becomeReady() async throws {
        try #require(await eventually { self.authenticator.isReady })
    }
}

/// Asks again until the condition holds; false when it never did.
func eventually(within limit: TimeSpan = .seconds(20), _ condition: () throws -> Bool) async rethrows -> Bool {
    let watch = Stopwatch()
    while true {
        if try condition() { return true }
        if watch.elapsed > limit { return false }
        try? await Task.sleep(nanoseconds: 5_000_000)
    }
}

/// One loop that runs nothing but what it is given.
struct EventLoopsForTests {
    private let group: EventLoopGroup
    var loop: EventLoop { self.group.loops[0] }

    init() throws { self.group = try EventLoopGroup(count: 1) }

    func end() { self.group.shutDown() }
}
