import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// One way to present a token, and what must come of it.
struct TokenCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Values of the Authorization fields, for a subject.
    let fields: @Sendable (String) -> [String]

    init(_ name: String, fields: @escaping @Sendable (String) -> [String]) {
        self.testDescription = name
        self.fields = fields
    }

    /// A bearer token.
    init(_ name: String, token: @escaping @Sendable (String) -> String) {
        self.init(name) { ["Bearer " + token($0)] }
    }

    /// A token of the trusted RSA key with some claims changed.
    static func claims(_ name: String, _ changes: [String: String?]) -> Self {
        Self(name, token: { Issuers.rsa.token(claims: Caller.claims($0, changes)) })
    }

    /// A token with a header of its own.
    static func header(
        _ name: String, _ header: String, signature: TokenMint.Signature = .right, by mint: TokenMint = Issuers.rsa
    ) -> Self {
        Self(name, token: { mint.token(claims: Caller.claims($0), header: header, signature: signature) })
    }

    static func signature(_ name: String, _ signature: TokenMint.Signature, by mint: TokenMint) -> Self {
        Self(name, token: { mint.token(claims: Caller.claims($0), signature: signature) })
    }

    /// Seconds from now, as JSON.
    static func now(_ seconds: Int) -> String { String(Stopwatch.wallSeconds() + seconds) }
}

@Suite("Access tokens", .oneOfFewThreads, .gateway())
struct AccessTokenTests {
    /// Presents the token with a good ask; what came, how often the provider was called, and what moved for the
    /// subject that the token names.
    private func present(_ token: TokenCase) throws -> (response: HTTPResponse, calls: Int, moved: Bool) {
        let gateway = try TestGateway.current
        let caller = Caller()
        let marker = Caller.unique("token")
        let script = gateway.provider.script(marker)
        let before = try gateway.counters(caller)
        let response = try gateway.post(
            Ask(marker).json, as: nil, headers: token.fields(caller.subject).map { ("Authorization", $0) })
        return (response, script.calls.count, try gateway.counters(caller) != before)
    }

    private func expectRefused(_ token: TokenCase, with statuses: Set<Int> = [401]) throws {
        let (response, calls, moved) = try self.present(token)
        #expect(statuses.contains(response.status), "\(response.status) \(response.text)")
        if response.status == 401 {
            #expect(response.header("www-authenticate")?.hasPrefix("Bearer") == true)
            #expect(response.json?["code"]?.string == "unauthenticated")
        }
        #expect(calls == 0)
        #expect(!moved)
        #expect(try TestGateway.current.isAlive)
    }

    private func expectAccepted(_ token: TokenCase) throws {
        let (response, calls, moved) = try self.present(token)
        #expect(response.status == 200, "\(response.text)")
        #expect(calls == 1)
        #expect(moved)
    }

    @Test(arguments: [
        TokenCase("RSA", token: { Issuers.rsa.token(claims: Caller.claims($0)) }),
        TokenCase("EC", token: { Issuers.ec.token(claims: Caller.claims($0)) }),
        TokenCase("Ed25519", token: { Issuers.ed.token(claims: Caller.claims($0)) }),
        .claims("audience in an array", ["aud": #"["elsewhere","\#(Issuers.acmeAudience)"]"#]),
        .claims("audience alone in an array", ["aud": #"["\#(Issuers.acmeAudience)"]"#]),
        .claims("expiry with a fraction", ["exp": TokenCase.now(300) + ".25"]),
        .claims("issued a moment ahead", ["iat": TokenCase.now(5)]),
        .claims("not before a moment ahead", ["nbf": TokenCase.now(5)]),
        // Minted when it is presented: arguments are made long before.
        TokenCase(
            "expired a moment ago",
            fields: { ["Bearer " + Issuers.rsa.token(claims: Caller.claims($0, ["exp": TokenCase.now(-5)]))] }),
        .header("typ JWT", Issuers.rsa.header(type: "JWT")),
        .header("typ at+jwt in capitals", Issuers.rsa.header(type: "AT+JWT")),
        .header("typ with its prefix", Issuers.rsa.header(type: "application/at+jwt")),
        TokenCase("scheme in small letters", fields: { ["bearer " + Issuers.rsa.token(claims: Caller.claims($0))] }),
    ])
    func `A good token is accepted`(token: TokenCase) throws { try self.expectAccepted(token) }

    @Test(
        arguments: [
            .header("none", #"{"alg":"none","typ":"JWT"}"#, signature: .empty),
            .header("None", #"{"alg":"None","typ":"JWT"}"#, signature: .empty),
            .header("NONE", #"{"alg":"NONE","typ":"JWT"}"#, signature: .empty),
            .header("nonE", #"{"alg":"nonE","typ":"JWT"}"#, signature: .empty),
            .header("none over a right signature", #"{"alg":"none","typ":"JWT","kid":"acme-rsa"}"#),
            .header("absent", #"{"typ":"JWT","kid":"acme-rsa"}"#),
            .header("null", #"{"alg":null,"typ":"JWT","kid":"acme-rsa"}"#),
            .header("an array", #"{"alg":["RS256"],"typ":"JWT","kid":"acme-rsa"}"#),
            .header("small letters", #"{"alg":"rs256","typ":"JWT","kid":"acme-rsa"}"#),
            .header("not in the issuer's list", #"{"alg":"RS384","typ":"JWT","kid":"acme-rsa"}"#, signature: .rs384),
            .header("another padding", #"{"alg":"PS256","typ":"JWT","kid":"acme-rsa"}"#, signature: .ps256),
            .header("twice", #"{"alg":"none","alg":"RS256","typ":"JWT","kid":"acme-rsa"}"#),
            .header(
                "twice, one written with an escape", #"{"alg":"RS256","\u0061lg":"none","typ":"JWT","kid":"acme-rsa"}"#),
            .signature("an empty signature", .empty, by: Issuers.rsa),
        ] as [TokenCase])
    func `The algorithm is the issuer's, whatever the token says`(token: TokenCase) throws {
        try self.expectRefused(token)
    }

    @Test(arguments: [
        ("PEM", Array(Issuers.rsa.publicPEM.utf8)),
        ("PEM without its last line end", Array(Issuers.rsa.publicPEM.utf8.dropLast())),
        ("JWK", Array(Issuers.rsa.jwk.utf8)),
        ("the whole key set", Array(Issuers.jwks.utf8)),
        ("PEM of the EC key", Array(Issuers.ec.publicPEM.utf8)),
    ])
    func `A public key is no HMAC secret`(text: (name: String, secret: [UInt8])) throws {
        for keyID in ["acme-rsa", "acme-ec"] {
            let header = #"{"alg":"HS256","typ":"JWT","kid":"\#(keyID)"}"#
            try self.expectRefused(.header(text.name, header, by: .hmac(text.secret)))
        }
    }

    @Test(
        arguments: [
            .claims("absent", ["aud": nil]), .claims("null", ["aud": "null"]), .claims("empty", ["aud": #""""#]),
            .claims("an empty array", ["aud": "[]"]), .claims("others", ["aud": #"["acme","acme-app-admin"]"#]),
            .claims("longer", ["aud": #""acme-app-x""#]), .claims("shorter", ["aud": #""acme-ap""#]),
            .claims("capitals", ["aud": #""ACME-APP""#]), .claims("a number beside", ["aud": #"["acme-app",1]"#]),
            .claims("an object", ["aud": #"{"acme-app":1}"#]), .claims("a list in text", ["aud": #""acme-app other""#]),
            .claims("another tenant's", ["aud": #""\#(Issuers.borealisAudience)""#]),
        ] as [TokenCase])
    func `The audience must be ours`(token: TokenCase) throws { try self.expectRefused(token) }

    @Test(
        arguments: [
            .claims("absent", ["iss": nil]), .claims("shorter", ["iss": #""https://id.acme""#]),
            .claims("longer", ["iss": #""https://id.acme.test.evil.test""#]),
            .claims("with a slash", ["iss": #""https://id.acme.test/""#]),
            .claims("capitals", ["iss": #""HTTPS://ID.ACME.TEST""#]), .claims("one letter", ["iss": #""h""#]),
            .claims("an array", ["iss": #"["https://id.acme.test"]"#]),
            .claims("another tenant's", ["iss": #""\#(Issuers.borealis)""#]),
            .claims("an escaped letter more", ["iss": #""https://id.acme.test\u0000""#]),
        ] as [TokenCase])
    func `The issuer is compared byte for byte`(token: TokenCase) throws { try self.expectRefused(token) }

    @Test(
        arguments: [
            .claims("absent", ["exp": nil]), .claims("null", ["exp": "null"]),
            .claims("text", ["exp": #""99999999999""#]),
            .claims("true", ["exp": "true"]), .claims("an array", ["exp": "[99999999999]"]),
            .claims("zero", ["exp": "0"]),
            .claims("negative", ["exp": "-1"]), .claims("past Int64", ["exp": "99999999999999999999"]),
            .claims("past Double", ["exp": "1e400"]), .claims("huge", ["exp": "1e300"]),
            .claims("not JSON", ["exp": "NaN"]),
            .claims("ten minutes ago", ["exp": TokenCase.now(-600)]),
            .claims("beyond the leeway", ["exp": TokenCase.now(-65)]),
            .claims("not before, later", ["nbf": TokenCase.now(600)]), .claims("not before, text", ["nbf": #""1""#]),
            .claims("issued later", ["iat": TokenCase.now(600)]),
            .claims("twice, first long gone", ["exp": "1,\"exp\":\(TokenCase.now(300))"]),
        ] as [TokenCase])
    func `Times must be numbers, and now`(token: TokenCase) throws { try self.expectRefused(token) }

    @Test(
        arguments: [
            .claims("absent", ["sub": nil]), .claims("null", ["sub": "null"]), .claims("empty", ["sub": #""""#]),
            .claims("spaces", ["sub": #""  ""#]), .claims("a number", ["sub": "17"]),
            .claims("an array", ["sub": #"["a"]"#]),
            .claims("very long", ["sub": "\"" + String(repeating: "k", count: 3000) + "\""]),
            .claims("a line end inside", ["sub": #""a\nb""#]), .claims("a NUL inside", ["sub": #""a\u0000b""#]),
        ] as [TokenCase])
    func `A token names its subject`(token: TokenCase) throws { try self.expectRefused(token) }

    @Test(
        arguments: [
            .signature("zeros", .zeros(64), by: Issuers.ec), .signature("DER", .der, by: Issuers.ec),
            .signature("DER of zeros", .bytes([0x30, 6, 2, 1, 0, 2, 1, 0]), by: Issuers.ec),
            .signature("a byte short", .truncated, by: Issuers.ec),
            .signature("a byte long", .extended, by: Issuers.ec),
            .signature("a bit turned", .flipped, by: Issuers.ec),
            .signature("a bit turned, RSA", .flipped, by: Issuers.rsa),
            .signature("a byte short, RSA", .truncated, by: Issuers.rsa),
            .signature("zeros, RSA", .zeros(256), by: Issuers.rsa),
            .signature("zeros, Ed25519", .zeros(64), by: Issuers.ed),
            .signature("a bit turned, Ed25519", .flipped, by: Issuers.ed),
        ] as [TokenCase])
    func `A signature has one form and must be right`(token: TokenCase) throws { try self.expectRefused(token) }

    @Test func `Keys and addresses in the header are never followed`() throws {
        let (listener, port) = try TestSocket.listen()
        let stranger = Issuers.stranger
        let address = "http://127.0.0.1:\(port)/keys"
        for (name, more) in [
            ("an embedded key", #""jwk":\#(stranger.jwk)"#), ("the address of a set", #""jku":"\#(address)""#),
            ("the address of a certificate", #""x5u":"\#(address)""#), ("a certificate", #""x5c":["MIIB"]"#),
        ] {
            try self.expectRefused(.header(name, stranger.header(more: more), by: stranger))
            try self.expectRefused(.header(name, stranger.with(keyID: "acme-rsa").header(more: more), by: stranger))
            try self.expectAccepted(.header(name + ", good key", Issuers.rsa.header(more: more)))
        }
        #expect(listener.accept(within: .milliseconds(200)) == nil)
    }

    @Test(arguments: [
        #""../../../../dev/null""#, #""x' OR '1'='1""#, "5", #"["acme-rsa"]"#, #"{"$ne":null}"#,
        #""a\n{\"forged\":true}""#, #""""#, "null", "\"" + String(repeating: "k", count: 5000) + "\"",
        #""acme-rsa\u0000""#,
        #""ACME-RSA""#,
    ])
    func `A key id is a name and nothing else`(keyID: String) throws {
        let header = #"{"alg":"RS256","typ":"JWT","kid":\#(keyID)}"#
        try self.expectRefused(.header("kid \(keyID.prefix(20))", header, by: Issuers.stranger), with: [401, 431])
        let log = try TestGateway.current.process.child
        #expect(!(log.standardOutput + log.standardError).contains("{\"forged\":true}"))
        #expect(!log.standardError.contains(String(repeating: "k", count: 65)))
    }

    @Test(
        arguments: [
            .header("crit", Issuers.rsa.header(more: #""crit":["exp"]"#)),
            .header("b64", Issuers.rsa.header(more: #""b64":false,"crit":["b64"]"#)),
            .header("zip", Issuers.rsa.header(more: #""zip":"DEF""#)),
            .header("an ID token's typ", Issuers.rsa.header(type: "id+jwt")),
            .header("no typ", Issuers.rsa.header(type: nil)),
            .header("an array", #"[{"alg":"RS256"}]"#), .header("trailing bytes", Issuers.rsa.header() + "x"),
            .header("a NUL behind it", Issuers.rsa.header() + "\0"),
            .claims("bound to another key", ["cnf": #"{"jkt":"x"}"#]),
        ] as [TokenCase])
    func `What we do not understand is refused`(token: TokenCase) throws { try self.expectRefused(token) }

    @Test(
        arguments: [
            TokenCase("dots") { _ in String(repeating: ".", count: 6000) },
            TokenCase("five parts") { _ in "eyJhbGciOiJkaXIifQ..AAAA.AAAA.AAAA" },
            TokenCase("two parts") { _ in "a.b" },
            TokenCase("one part") { _ in "garbage" }, TokenCase("padding") { Caller("open", subject: $0).token + "==" },
            TokenCase("a space inside", token: { " x" + Caller("open", subject: $0).token }),
            TokenCase("the other alphabet", token: { _ in "ab+/.ab+/.ab+/" }),
            TokenCase("JSON serialisation", token: { _ in #"{"payload":"e30"}"# }),
            TokenCase("basic", fields: { _ in ["Basic dTpw"] }),
            TokenCase("an empty bearer", fields: { _ in ["Bearer "] }),
            TokenCase("no scheme", fields: { [Caller("open", subject: $0).token] }),
            TokenCase(
                "two fields", fields: { Array(repeating: "Bearer " + Caller("open", subject: $0).token, count: 2) }),
            TokenCase("deep claims") { _ in
                Issuers.rsa.token(claims: String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000))
            },
        ] as [TokenCase])
    func `A credential of another shape is refused`(token: TokenCase) throws {
        try self.expectRefused(token, with: [400, 401])
    }

    @Test func `No credential is a 401 that asks for one`() throws {
        let response = try TestGateway.current.post(Ask("nobody").json, as: nil)
        #expect(response.status == 401)
        #expect(response.header("www-authenticate")?.hasPrefix("Bearer") == true)
        #expect(response.header("www-authenticate")?.contains("error=") == false)
    }

    @Test func `A token in the query is never taken`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let response = try gateway.post(Ask("query").json, as: nil, path: "/api/process?access_token=\(caller.token)")
        #expect([400, 401].contains(response.status))
        #expect(try gateway.used("requests_per_minute", by: caller) == 0)
    }

    @Test func `Oversized tokens by the hundred leave no memory behind`() throws {
        let gateway = try TestGateway.current
        let tokens = [
            String(repeating: ".", count: 60_000), String(repeating: "a", count: 60_000),
            Issuers.rsa.token(claims: Caller.claims("u", ["pad": "\"" + String(repeating: "x", count: 40_000) + "\""])),
            "eyJhbGciOiJkaXIiLCJ6aXAiOiJERUYifQ.." + String(repeating: "A", count: 7000) + ".AAAA.AAAA",
        ]
        let before = gateway.process.child.residentMemory
        let statuses = OwnThread.together(8) { _ in
            (0..<25).flatMap { _ in
                tokens.map { token in
                    (try? gateway.post("{}", as: nil, headers: [("Authorization", "Bearer " + token)]))?.status ?? 0
                }
            }
        }
        // Closing without an answer is as good as a 431.
        #expect(Set(statuses.joined()).isSubset(of: [0, 400, 401, 431]))
        #expect(gateway.process.child.residentMemory - before < 10 << 20)
        #expect(gateway.isAlive)
    }

    @Test func `Each token is judged by itself, however much it looks like the last`() throws {
        let gateway = try TestGateway.current
        let (first, second) = (Caller(), Caller())
        let parts = first.token.split(separator: ".").map(String.init)
        let forged = [
            Issuers.rsa.token(claims: Caller.claims(first.subject), signature: .flipped),
            parts[0] + "." + parts[1] + "." + parts[2].dropLast(4),
            parts[0] + "." + second.token.split(separator: ".")[1] + "." + parts[2],
        ]
        #expect(try gateway.ask(Ask("warm"), as: first).status == 200)
        for token in forged {
            #expect(try gateway.ask(Ask("forged"), as: Caller(subject: "", token: token)).status == 401)
        }
        #expect(try gateway.ask(Ask("other"), as: second).status == 200)
        #expect(try gateway.used("requests_per_minute", by: first) == 1)
        #expect(try gateway.used("requests_per_minute", by: second) == 1)
    }

    @Test func `A token that was good is refused once its time is over`() throws {
        let gateway = try TestGateway.current
        let subject = Caller.unique("ends")
        // Past its end by almost all of the leeway: good now, and not in a few seconds.
        let token = Issuers.rsa.token(claims: Caller.claims(subject, ["exp": TokenCase.now(-57)]))
        let caller = Caller(subject: subject, token: token)
        #expect(try gateway.ask(Ask("before"), as: caller).status == 200)
        #expect(
            try Stopwatch.wait(upTo: .seconds(8), every: 100) {
                try gateway.ask(Ask("after"), as: caller).status == 401
            })
    }

    @Test func `Tenants do not share subjects, tasks or issuers`() throws {
        let gateway = try TestGateway.current
        let subject = Caller.unique("both")
        let acme = Caller("open", subject: subject)
        let claims = TokenMint.claims(
            issuer: Issuers.borealis, audience: Issuers.borealisAudience, subject: subject,
            now: Int64(Stopwatch.wallSeconds()))
        let borealis = Caller(
            subject: subject, token: Issuers.hmac.token(claims: claims, header: Issuers.hmac.header(type: "JWT")))
        let marker = Caller.unique("tenant")
        let script = gateway.provider.script(marker)
        #expect(try gateway.ask(Ask(marker), as: borealis).status == 200)
        #expect(script.calls.first?.json?["model"]?.string == "m-borealis")
        #expect(try gateway.used("requests_per_minute", by: acme) == 0)
        #expect(try gateway.ask(Ask(marker, task: "rewrite"), as: borealis).code == "unknown_task")

        let crossed = Issuers.hmac.token(
            claims: Caller.claims(subject), header: Issuers.hmac.header(type: "JWT"))
        #expect(try gateway.ask(Ask(marker), as: Caller(subject: subject, token: crossed)).status == 401)
    }

    @Test func `A scope that a task asks for is needed`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        let refused = try gateway.ask(Ask("scope", task: "scoped"), as: caller)
        #expect(refused.status == 403)
        #expect(refused.code == "insufficient_scope")
        #expect(refused.response.header("www-authenticate")?.contains("special") == true)
        let token = Issuers.rsa.token(claims: Caller.claims(caller.subject, ["scope": #""other special""#]))
        #expect(
            try gateway.ask(Ask("scope", task: "scoped"), as: Caller(subject: caller.subject, token: token)).status
                == 200)
    }

    @Test func `A plan admits its own tasks only`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("narrow")
        let refused = try gateway.ask(Ask("narrow"), as: caller)
        #expect(refused.status == 403)
        #expect(refused.code == "task_not_in_plan")
        #expect(try gateway.ask(Ask("narrow", task: "titles"), as: caller).status == 200)
        #expect(try gateway.used("requests_per_minute", by: caller) == 1)
    }
}
