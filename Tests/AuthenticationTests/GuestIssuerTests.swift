import Authentication
import GatewayTesting
import GatewayTypes
import JOSE
import Testing

/// Tokens of guests: made here, and accepted by the same rules as any other.
@Suite("Guests") struct GuestIssuerTests {
    private static let newer = [UInt8](repeating: 7, count: 32)
    private static let older = [UInt8](repeating: 5, count: 32)

    private static func issuer(
        _ key: [UInt8] = newer, _ keyID: String = "new", tenant: TenantID = "acme", names: [UInt8] = older
    ) throws -> GuestIssuer {
        try #require(
            GuestIssuer(
                tenant: tenant, issuer: "https://guests.test", audience: "gateway",
                signer: try TokenIssuer(.hs256, key: key, keyID: keyID), nameSecret: names, lifetime: .seconds(3600),
                sessionsPerMinute: 10))
    }

    private static func entry(_ keys: [VerificationKey], guests: Bool = true) -> IssuerConfiguration {
        var entry = IssuerConfiguration(
            issuer: "https://guests.test", audiences: ["gateway"], tenant: "acme", keys: KeySet(keys),
            defaultPlan: "guest")
        entry.algorithms = [.hs256]
        entry.types = [.jwt]
        entry.isGuest = true
        entry.reservesGuestNames = guests
        return entry
    }

    private static func keys() throws -> [VerificationKey] {
        [
            try VerificationKey(secret: self.newer, keyID: Array("new".utf8)),
            try VerificationKey(secret: self.older, keyID: Array("old".utf8)),
        ]
    }

    private static func token(
        _ issuer: GuestIssuer, _ installation: String, earliest: WallTime? = nil
    ) throws -> String {
        let guest = issuer.subject(of: Array(installation.utf8).span)
        let made = try issuer.issue(to: guest, tokenID: .random(), now: Bench.now, earliest: earliest)
        return String(decoding: made.token, as: UTF8.self)
    }

    @Test func anIssuedTokenIsAGuests() throws {
        let bench = try Bench(issuers: [Self.entry(try Self.keys())])
        let principal = try bench.principal(Self.token(Self.issuer(), "installation-0001"))
        #expect(principal.isGuest && principal.plan == "guest" && principal.tenant == "acme")
        #expect(principal.subject.string.hasPrefix("guest:"))
        #expect(principal.expiresAt == Bench.now + .seconds(3600) && principal.issuedAt == Bench.now)
        #expect(principal.tokenID != nil)
    }

    @Test func keysRotateWithOverlapAndGuestsStayWhoTheyAre() throws {
        let bench = try Bench(issuers: [Self.entry(try Self.keys())])
        let before = try bench.principal(Self.token(Self.issuer(Self.older, "old"), "installation-0001"))
        let after = try bench.principal(Self.token(Self.issuer(), "installation-0001"))
        #expect(before.subject == after.subject && before.tokenID != after.tokenID)
        let rotated = try Bench(issuers: [Self.entry([try Self.keys()[0]])])
        #expect(rotated.failure(try Self.token(Self.issuer(Self.older, "old"), "installation-0001")) != nil)
        #expect(rotated.failure(try Self.token(Self.issuer(), "installation-0001")) == nil)
    }

    @Test func everyInstallationIsSomebodyElseAndSoIsEachTenants() throws {
        let issuer = try Self.issuer()
        func name(_ issuer: GuestIssuer, _ installation: String) -> SubjectID {
            issuer.subject(of: Array(installation.utf8).span)
        }
        let names = [
            name(issuer, "installation-0001"), name(issuer, "installation-0002"), name(issuer, "installation-000"),
            name(try Self.issuer(tenant: "borealis"), "installation-0001"),
            name(try Self.issuer(names: Self.newer), "installation-0001"),
        ]
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { !$0.string.contains("installation") })
    }

    @Test func namesOfGuestsAreGuestsAlone() throws {
        let bench = try Bench {
            $0.reservesGuestNames = true
        }
        #expect(bench.failure(changing: ["sub": "\"guest:abc\""]) == .invalidClaim)
        #expect(bench.failure(changing: ["sub": "\"guestabc\""]) == nil)
        #expect(try Bench().failure(changing: ["sub": "\"guest:abc\""]) == nil)
        let mint = TokenMint.hmac(Self.newer, keyID: "new")
        let guests = try Bench(issuers: [Self.entry(try Self.keys())])
        let claims = TokenMint.claims(issuer: "https://guests.test", changes: ["sub": "\"alice\""])
        #expect(guests.failure(mint.token(claims: claims, header: mint.header(type: "JWT"))) == .invalidClaim)
    }

    @Test func aNewTokenIsNeverAmongTheRevokedOnes() throws {
        let bench = try Bench(issuers: [Self.entry(try Self.keys())])
        let boundary = Bench.now + .milliseconds(400)
        let token = try Self.token(Self.issuer(), "installation-0001", earliest: boundary)
        let issued = try #require(try bench.principal(token).issuedAt)
        #expect(issued >= boundary && issued <= boundary + .seconds(1))
    }

    @Test func aTokenThatNobodyMayLookAtCostsNoSignature() throws {
        let bench = try Bench()
        let token = Array("Bearer \(Bench.mint.token(claims: TokenMint.claims()))".utf8)
        func ask(_ may: Bool) -> AuthenticationFailure? {
            do throws(AuthenticationFailure) {
                _ = try bench.authenticator.authenticate(
                    authorization: token.span, fieldCount: 1, queryHasToken: false, cache: bench.cache, now: Bench.now,
                    mayVerify: { may })
                return nil
            } catch { return error }
        }
        #expect(ask(false) == .tooManyFailures)
        #expect(ask(true) == nil)
        // One that was verified before is known, whoever else sits behind the address.
        #expect(ask(false) == nil)
        #expect(AuthenticationFailure.tooManyFailures.challenge.status == 429)
    }
}
