import Authentication
import GatewayTesting
import GatewayTypes
import JOSE
import Testing

@Suite("Where the token stands in a request")
struct CredentialsTests {
    private let bench: Bench
    private let token = Bench.mint.token(claims: TokenMint.claims())

    init() throws { self.bench = try Bench() }

    private func challenge(_ result: Result<Principal, AuthenticationFailure>) -> Challenge? {
        guard case .failure(let failure) = result else { return nil }
        return failure.challenge
    }

    @Test("The scheme in any case", arguments: ["Bearer", "bearer", "BEARER", "bEaReR"])
    func scheme(scheme: String) throws {
        #expect(try self.bench.ask("\(scheme) \(self.token)").get().subject == "user-1")
    }

    @Test(
        "No credentials, or of another scheme",
        arguments: ["Basic dXNlcjpwYXNz", "Bearerx abc", "Token x", "xBearer y"])
    func others(value: String) {
        #expect(self.challenge(self.bench.ask(value)) == Challenge.none)
        #expect(self.challenge(self.bench.ask("", fields: 0)) == Challenge.none)
        #expect(self.challenge(self.bench.ask("")) == Challenge.none)
    }

    @Test("A token in the query is never one, and one besides is too many")
    func query() {
        #expect(self.challenge(self.bench.ask("", fields: 0, query: true)) == Challenge.none)
        #expect(self.challenge(self.bench.ask("Bearer \(self.token)", query: true)) == .invalidRequest)
    }

    @Test("Two credentials, in two fields or in one")
    func several() {
        #expect(self.challenge(self.bench.ask("Bearer \(self.token)", fields: 2)) == .invalidRequest)
        #expect(self.challenge(self.bench.ask("Bearer \(self.token), Bearer \(self.token)")) == .invalidRequest)
        #expect(self.challenge(self.bench.ask("Bearer \(self.token),Basic x")) == .invalidRequest)
    }

    @Test("Anything but one space and the token")
    func malformed() {
        for value in [
            "Bearer", "Bearer  \(self.token)", "Bearer\t\(self.token)", "Bearer x \(self.token)",
            "Bearer \(self.token) x",
            "Bearer \(self.token)\u{7F}", "Bearer \(self.token)é", "Bearer \"\(self.token)\"", "Bearer \(self.token)==",
            "Bearer =\(self.token)", "Bearer token=\(self.token)",
        ] {
            #expect(self.challenge(self.bench.ask(value)) == .invalidToken)
        }
    }

    @Test("Tokens that are too long or have too many dots")
    func size() {
        #expect(self.bench.failure(String(repeating: ".", count: 60_000)) == .token(.tooLong))
        #expect(self.bench.failure(String(repeating: ".", count: 8000)) == .token(.malformed))
        let long = Bench.mint.token(
            claims: TokenMint.claims(changes: ["pad": "\"\(String(repeating: "x", count: 7000))\""]))
        #expect(self.bench.failure(long) == .token(.tooLong))
        #expect(self.bench.failure("a.b.c.d.e") == .token(.malformed))
        #expect(
            self.bench.failure("eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwiemlwIjoiREVGIn0..AAAA.AAAA.AAAA")
                == .token(.malformed))
    }
}

@Suite("What a refused caller is told")
struct ChallengeTests {
    @Test("Status and header of each challenge")
    func rendering() {
        #expect(Challenge.none.status == 401)
        #expect(Challenge.none.headerValue(realm: "gw") == #"Bearer realm="gw""#)
        #expect(Challenge.invalidToken.status == 401)
        #expect(
            Challenge.invalidToken.headerValue()?.hasPrefix(#"Bearer realm="askgate", error="invalid_token""#) == true)
        #expect(Challenge.invalidRequest.status == 400)
        #expect(Challenge.invalidRequest.headerValue()?.contains(#"error="invalid_request""#) == true)
        #expect(Challenge.insufficientScope("llm.chat").status == 403)
        #expect(
            Challenge.insufficientScope("llm.chat").headerValue()
                == #"Bearer realm="askgate", error="insufficient_scope", scope="llm.chat""#)
        #expect(Challenge.unavailable.status == 503)
        #expect(Challenge.unavailable.headerValue() == nil)
    }

    @Test("Every cause of a bad token looks the same to the caller")
    func sameAnswer() throws {
        let bench = try Bench()
        let failures = [
            bench.failure(changing: ["exp": "1"]), bench.failure(changing: ["aud": "\"other\""]),
            bench.failure(changing: ["sub": nil]), bench.failure("garbage"),
            bench.failure(Bench.mint.token(claims: TokenMint.claims(), signature: .flipped)),
            bench.failure(Bench.mint.with(keyID: "gone").token(claims: TokenMint.claims())),
        ]
        #expect(Set(failures.map { $0?.challenge.headerValue() }).count == 1)
        #expect(Set(failures.map { $0?.errorCode }) == [.unauthenticated])
        #expect(Set(failures.map { $0?.metricLabel }).count == failures.count)
    }
}
