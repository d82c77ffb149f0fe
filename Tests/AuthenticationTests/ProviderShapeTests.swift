import Authentication
import GatewayTesting
import GatewayTypes
import JOSE
import Testing

private let mint = TokenMint.rsa(keyID: "provider-1")
private let elliptic = TokenMint.ec(keyID: "provider-2")

/// Tokens as the common identity providers mint them, judged by the entries that the documentation shows.
@Suite("Identity providers")
struct ProviderShapeTests {
    private func bench(
        _ issuer: ByteString, audience: ByteString, _ mint: TokenMint = mint,
        _ change: (inout IssuerConfiguration) -> Void
    ) throws -> Bench {
        try Bench {
            $0.issuer = issuer
            $0.audiences = [audience]
            $0.keys = mint.keySet
            $0.requiresAccessTokenClaims = false
            change(&$0)
        }
    }

    private func times(_ more: [String: String?]) -> [String: String?] {
        ["jti": nil, "client_id": nil].merging(more) { $1 }
    }

    private func token(
        _ issuer: String, type: String? = "JWT", by mint: TokenMint = mint, _ changes: [String: String?]
    ) -> String {
        mint.token(
            claims: TokenMint.claims(issuer: issuer, changes: self.times(changes)), header: mint.header(type: type))
    }

    @Test("Auth0: an access token for an API, by RFC 9068 or the older profile, and no ID token")
    func auth0() throws {
        let issuer = "https://example.eu.auth0.com/"
        let bench = try self.bench(ByteString(issuer), audience: "https://askgate.example.com") {
            $0.types = [.accessToken, .jwt]
            $0.planMapping = PlanMapping(
                path: ClaimPath(["https://example.com/plan"]), entries: [.init(value: "gold", plan: "pro")])
        }
        let claims: [String: String?] = [
            "sub": #""auth0|64f0""#, "azp": #""app""#, "scope": #""openid ask""#,
            "aud": #"["https://askgate.example.com","https://example.eu.auth0.com/userinfo"]"#,
            "https://example.com/plan": #""gold""#,
        ]
        let principal = try bench.principal(self.token(issuer, claims))
        #expect(principal.plan == "pro")
        #expect(principal.scopes == ["openid", "ask"])
        #expect(bench.failure(self.token(issuer, type: "at+jwt", claims)) == nil)
        #expect(bench.failure(self.token(issuer, ["aud": #""app""#, "nonce": #""n""#])) == .wrongAudience)
        #expect(bench.failure(self.token("https://example.eu.auth0.com", claims)) == .unknownIssuer)
    }

    @Test("Firebase: the ID token of a project, anonymous users on their own plan")
    func firebase() throws {
        let issuer = "https://securetoken.google.com/my-project"
        let bench = try self.bench(ByteString(issuer), audience: "my-project") {
            $0.types = [.jwt]
            $0.planMapping = PlanMapping(
                path: ClaimPath(["firebase", "sign_in_provider"]), entries: [.init(value: "anonymous", plan: "guest")])
        }
        func claims(_ provider: String) -> [String: String?] {
            [
                "aud": #""my-project""#, "sub": #""uid-1""#, "user_id": #""uid-1""#, "auth_time": "1750000000",
                "firebase": #"{"identities":{},"sign_in_provider":"\#(provider)"}"#,
            ]
        }
        #expect(try bench.principal(self.token(issuer, claims("password"))).plan == "basic")
        #expect(try bench.principal(self.token(issuer, claims("anonymous"))).plan == "guest")
        #expect(bench.failure(self.token("https://securetoken.google.com/other", claims("password"))) == .unknownIssuer)
        #expect(bench.failure(self.token(issuer, claims("x").merging(["aud": #""other""#]) { $1 })) == .wrongAudience)
    }

    @Test("Supabase: a signed-in user, and neither the public key of the app nor the service's own")
    func supabase() throws {
        let issuer = "https://abcd.supabase.co/auth/v1"
        let bench = try self.bench(ByteString(issuer), audience: "authenticated", elliptic) {
            $0.algorithms = [.es256]
            $0.types = [.jwt]
            $0.condition = ClaimCondition(path: ClaimPath(["role"]), values: ["authenticated"])
            $0.planMapping = PlanMapping(
                path: ClaimPath(["is_anonymous"]), entries: [.init(value: "true", plan: "guest")])
        }
        func claims(_ role: String, anonymous: Bool = false) -> [String: String?] {
            [
                "aud": #""authenticated""#, "role": "\"\(role)\"", "session_id": #""s""#,
                "app_metadata": #"{"provider":"email"}"#, "is_anonymous": "\(anonymous)",
            ]
        }
        func failure(_ claims: [String: String?]) -> AuthenticationFailure? {
            bench.failure(self.token(issuer, by: elliptic, claims))
        }
        #expect(failure(claims("authenticated")) == nil)
        #expect(failure(claims("anon")) == .wrongAudience)
        #expect(failure(claims("service_role")) == .wrongAudience)
        #expect(failure(claims("authenticated").merging(["aud": nil]) { $1 }) == .missingClaim)
        let guest = self.token(issuer, by: elliptic, claims("authenticated", anonymous: true))
        #expect(try bench.principal(guest).plan == "guest")
    }

    @Test("Keycloak: an access token for the client, plan from a realm role, and no ID token")
    func keycloak() throws {
        let issuer = "https://sso.example.com/realms/main"
        let bench = try self.bench(ByteString(issuer), audience: "askgate") {
            $0.types = [.jwt]
            $0.condition = ClaimCondition(path: ClaimPath(["typ"]), values: ["Bearer"])
            $0.planMapping = PlanMapping(
                path: ClaimPath(["realm_access", "roles"]), entries: [.init(value: "premium", plan: "pro")])
        }
        func claims(_ type: String) -> [String: String?] {
            [
                "aud": #"["askgate","account"]"#, "typ": "\"\(type)\"", "azp": #""mobile""#, "sid": #""session-1""#,
                "realm_access": #"{"roles":["offline_access","premium"]}"#, "scope": #""openid email""#,
            ]
        }
        let principal = try bench.principal(self.token(issuer, claims("Bearer")))
        #expect(principal.plan == "pro")
        #expect(principal.sessionID == "session-1")
        #expect(bench.failure(self.token(issuer, claims("ID"))) == .wrongAudience)
        #expect(bench.failure(self.token(issuer, claims("Refresh"))) == .wrongAudience)
    }

    @Test("Cognito: an access token without an audience, by its app client")
    func cognito() throws {
        let issuer = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEf"
        let bench = try self.bench(ByteString(issuer), audience: "app-client") {
            $0.types = [.absent]
            $0.audienceClaim = "client_id"
            $0.condition = ClaimCondition(path: ClaimPath(["token_use"]), values: ["access"])
            $0.planMapping = PlanMapping(
                path: ClaimPath(["cognito:groups"]), entries: [.init(value: "pro-users", plan: "pro")])
        }
        let access: [String: String?] = [
            "aud": nil, "client_id": #""app-client""#, "token_use": #""access""#, "jti": #""j""#,
            "cognito:groups": #"["pro-users"]"#, "scope": #""aws.cognito.signin.user.admin""#,
        ]
        func failure(_ changes: [String: String?]) -> AuthenticationFailure? {
            bench.failure(self.token(issuer, type: nil, access.merging(changes) { $1 }))
        }
        #expect(try bench.principal(self.token(issuer, type: nil, access)).plan == "pro")
        #expect(failure(["client_id": #""other-client""#]) == .wrongAudience)
        #expect(failure(["aud": #""app-client""#, "client_id": nil, "token_use": #""id""#]) == .missingClaim)
        #expect(failure(["token_use": #""id""#]) == .wrongAudience)
        #expect(failure(["aud": #""https://another-api""#]) == .wrongAudience)
        #expect(failure(["aud": #"["app-client"]"#]) == nil)
        #expect(failure(["client_id": #"{"a":"app-client"}"#]) == .invalidClaim)
    }

    @Test("Sign in with Apple: the token of one's own backend, and never Apple's")
    func apple() throws {
        let issuer = "https://api.example.com"
        let bench = try Bench {
            $0.issuer = ByteString(issuer)
            $0.audiences = ["askgate"]
            $0.keys = elliptic.keySet
            $0.algorithms = [.es256]
        }
        let own = elliptic.token(
            claims: TokenMint.claims(issuer: issuer, audience: "askgate", subject: "001234.abcd.0123"))
        #expect(bench.failure(own) == nil)
        let apples = mint.token(
            claims: TokenMint.claims(
                issuer: "https://appleid.apple.com", audience: "com.example.app", subject: "001234.abcd.0123"),
            header: mint.header(type: nil))
        #expect(bench.failure(apples) == .unknownIssuer)
    }

    @Test(
        "Scopes as a text or a list, under either name",
        arguments: [
            (["scope": #""a b""#], ["a", "b"]), (["scp": #"["a","b"]"#], ["a", "b"]), (["scp": #""a""#], ["a"]),
            (["scope": #""a""#, "scp": #"["b"]"#], ["a", "b"]), (["scope": #"["a b"]"#], ["a b"]), (["scope": "7"], []),
        ] as [([String: String?], Set<ByteString>)])
    func scopes(claims: [String: String?], scopes: Set<ByteString>) throws {
        let principal = try Bench().principal(Bench.mint.token(claims: TokenMint.claims(changes: claims)))
        #expect(principal.scopes == scopes)
    }
}
