import Authentication
import GatewayTesting
import GatewayTypes
import JOSE
import Testing

/// One issuer with three keys, asked at a fixed time; a change of its entry makes each rule testable alone.
struct Bench {
    static let now = WallTime(seconds: 1_750_000_000)
    static let mint = TokenMint.rsa()
    static let mints = [Bench.mint, TokenMint.ec(), TokenMint.ed25519()]

    let authenticator: Authenticator
    let cache = TokenCache(capacity: 100)

    static func issuer(_ change: (inout IssuerConfiguration) -> Void = { _ in }) -> IssuerConfiguration {
        var issuer = IssuerConfiguration(
            issuer: "https://id.test", audiences: ["gateway"], tenant: "acme", keys: TokenMint.keySet(Bench.mints),
            defaultPlan: "basic")
        change(&issuer)
        return issuer
    }

    init(_ change: (inout IssuerConfiguration) -> Void = { _ in }) throws {
        try self.init(issuers: [Bench.issuer(change)])
    }

    init(issuers: [IssuerConfiguration], revocations: (any RevocationChecking)? = nil) throws {
        self.authenticator = try Authenticator(
            AuthenticationConfiguration(issuers: issuers), revocations: revocations)
    }

    func ask(
        _ authorization: String, fields: Int = 1, query: Bool = false, at now: WallTime = Bench.now
    ) -> Result<Principal, AuthenticationFailure> {
        let bytes = Array(authorization.utf8)
        do throws(AuthenticationFailure) {
            return .success(
                try self.authenticator.authenticate(
                    authorization: bytes.span, fieldCount: fields, queryHasToken: query, cache: self.cache, now: now))
        } catch { return .failure(error) }
    }

    func principal(_ token: String, at now: WallTime = Bench.now) throws -> Principal {
        try self.ask("Bearer " + token, at: now).get()
    }

    /// Nil when the token is accepted.
    func failure(_ token: String, at now: WallTime = Bench.now) -> AuthenticationFailure? {
        switch self.ask("Bearer " + token, at: now) {
        case .success: nil
        case .failure(let failure): failure
        }
    }

    /// What becomes of a token with these claims changed; nil when it is accepted.
    func failure(changing claims: [String: String?], at now: WallTime = Bench.now) -> AuthenticationFailure? {
        self.failure(Bench.mint.token(claims: TokenMint.claims(changes: claims)), at: now)
    }
}

func after(_ seconds: Double) -> WallTime {
    Bench.now + TimeSpan(nanoseconds: Int64(seconds * 1e9))
}
