import Authentication
import GatewayTesting
import GatewayTypes
import JOSE
import Synchronization
import Testing

/// Counts how often it is asked and says what it is told to.
private final class Revocations: RevocationChecking {
    let revoked = Mutex<Set<ByteString>>([])

    func isRevoked(_ principal: Principal) -> Bool {
        self.revoked.withLock { revoked in principal.tokenID.map { revoked.contains($0) } ?? false }
    }
}

@Suite("Remembered tokens")
struct TokenCacheTests {
    private let token = Bench.mint.token(claims: TokenMint.claims())

    @Test("A token is remembered once and gives the same principal")
    func remembered() throws {
        let bench = try Bench()
        let first = try bench.principal(self.token)
        let second = try bench.principal(self.token)
        #expect(bench.cache.count == 1)
        #expect(first.subject == second.subject)
        #expect(first.expiresAt == second.expiresAt)
    }

    @Test("Only the whole token is the key")
    func wholeToken() throws {
        let bench = try Bench()
        #expect(bench.failure(self.token) == nil)
        let forged = Bench.mint.token(claims: TokenMint.claims(), signature: .flipped)
        #expect(forged.dropLast(4) == self.token.dropLast(4))
        #expect(bench.failure(forged) == .token(.badSignature))
        #expect(bench.failure(String(self.token.dropLast())) != nil)
        #expect(bench.failure(self.token + "A") != nil)
        let other = Bench.mint.token(claims: TokenMint.claims(subject: "user-2"))
        #expect(try bench.principal(other).subject == "user-2")
        #expect(try bench.principal(self.token).subject == "user-1")
        #expect(bench.cache.count == 2)
    }

    @Test("A remembered token ends when it ends")
    func expiry() throws {
        let bench = try Bench()
        #expect(bench.failure(self.token) == nil)
        #expect(bench.failure(self.token, at: after(359.9)) == nil)
        #expect(bench.failure(self.token, at: after(360)) == .expired)
        #expect(bench.cache.count == 0)
        let aged = try Bench { $0.maximumAgeSeconds = 10 }
        #expect(aged.failure(self.token) == nil)
        #expect(aged.failure(self.token, at: after(70)) == .tooOld)
    }

    @Test("Failures are not remembered")
    func failures() throws {
        let bench = try Bench()
        let early = Bench.mint.token(claims: TokenMint.claims(changes: ["nbf": "1750000100"]))
        #expect(bench.failure(early) == .notYetValid)
        #expect(bench.cache.count == 0)
        #expect(bench.failure(early, at: after(50)) == nil)
    }

    @Test("A key that is gone takes its tokens with it; the same keys again change nothing")
    func rotation() throws {
        let bench = try Bench()
        let byEC = TokenMint.ec().token(claims: TokenMint.claims())
        #expect(bench.failure(self.token) == nil)
        #expect(bench.failure(byEC) == nil)
        #expect(!bench.authenticator.replaceKeys(ofIssuer: 0, with: TokenMint.keySet(Bench.mints)))
        #expect(bench.cache.count == 2)
        #expect(bench.authenticator.replaceKeys(ofIssuer: 0, with: TokenMint.ec().keySet))
        #expect(bench.failure(self.token) == .unknownKey(issuer: 0))
        #expect(bench.failure(byEC) == nil)
        #expect(bench.cache.count == 1)
    }

    @Test("A set that serves nothing never replaces a good one")
    func useless() throws {
        let bench = try Bench { $0.algorithms = [.rs256] }
        #expect(!bench.authenticator.replaceKeys(ofIssuer: 0, with: TokenMint.ec().keySet))
        #expect(!bench.authenticator.replaceKeys(ofIssuer: 0, with: KeySet([])))
        #expect(!bench.authenticator.replaceKeys(ofIssuer: 7, with: TokenMint.rsa().keySet))
        #expect(bench.failure(self.token) == nil)
    }

    @Test("Another configuration does not see what an earlier one verified")
    func reload() throws {
        let bench = try Bench()
        #expect(bench.failure(self.token) == nil)
        let other = try Authenticator(AuthenticationConfiguration(issuers: [Bench.issuer { $0.audiences = ["else"] }]))
        let bytes = Array("Bearer \(self.token)".utf8)
        #expect(throws: AuthenticationFailure.wrongAudience) {
            try other.authenticate(
                authorization: bytes.span, fieldCount: 1, queryHasToken: false, cache: bench.cache, now: Bench.now)
        }
    }

    @Test("A revoked token is refused at once, remembered or not")
    func revocation() throws {
        let revocations = Revocations()
        let bench = try Bench(issuers: [Bench.issuer()], revocations: revocations)
        #expect(bench.failure(self.token) == nil)
        revocations.revoked.withLock { _ = $0.insert("token-1") }
        #expect(bench.failure(self.token) == .revoked)
        let fresh = Bench.mint.token(claims: TokenMint.claims(changes: ["x": "1"]))
        #expect(bench.failure(fresh) == .revoked)
        revocations.revoked.withLock { $0.removeAll() }
        #expect(bench.failure(self.token) == nil)
    }

    @Test("The cache holds what it may and drops what was not used for longest")
    func bounded() throws {
        let authenticator = try Authenticator(AuthenticationConfiguration(issuers: [Bench.issuer()]))
        let mint = TokenMint.ed25519()
        let tokens = (0..<40).map { mint.token(claims: TokenMint.claims(subject: "user-\($0)")) }
        for capacity in [0, 1, 2, 7, 39] {
            let cache = TokenCache(capacity: capacity)
            func ask(_ number: Int, at now: WallTime = Bench.now) -> ByteString? {
                let bytes = Array("Bearer \(tokens[number])".utf8)
                return try? authenticator.authenticate(
                    authorization: bytes.span, fieldCount: 1, queryHasToken: false, cache: cache, now: now
                ).subject.bytes
            }
            // Every order of use has to give each token its own subject.
            var random: UInt64 = 1
            for _ in 0..<400 {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let number = Int(random >> 33) % tokens.count
                #expect(ask(number) == ByteString("user-\(number)"))
                #expect(cache.count <= capacity)
            }
            #expect(ask(0, at: after(400)) == nil)
        }
    }
}
