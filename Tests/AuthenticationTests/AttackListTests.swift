import Authentication
import GatewayTesting
import GatewayTypes
import JOSE
import Testing

/// One forged or odd token, by the name that attacks of its kind go by.
struct Attack: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let token: @Sendable () -> String

    init(_ name: String, _ token: @escaping @Sendable () -> String) {
        self.testDescription = name
        self.token = token
    }

    static func claim(_ name: String, _ changes: [String: String?]) -> Self {
        Self(name) { Bench.mint.token(claims: TokenMint.claims(changes: changes)) }
    }

    static func header(_ name: String, _ header: String, _ signature: TokenMint.Signature = .right) -> Self {
        Self(name) { Bench.mint.token(claims: TokenMint.claims(), header: header, signature: signature) }
    }

    static func signature(
        _ name: String, _ signature: TokenMint.Signature, by mint: TokenMint = TokenMint.ec()
    ) -> Self {
        Self(name) { mint.token(claims: TokenMint.claims(), signature: signature) }
    }

    /// A good token with its text changed.
    static func text(_ name: String, _ change: @escaping @Sendable (String) -> String) -> Self {
        Self(name) { change(Bench.mint.token(claims: TokenMint.claims())) }
    }

    /// HS256 with something public for its secret.
    static func confusion(_ name: String, _ secret: @escaping @Sendable () -> [UInt8]) -> Self {
        Self("HS256 keyed with the public key: " + name) {
            Bench.mint.token(
                claims: TokenMint.claims(), header: Bench.mint.with(algorithm: .hs256).header(),
                signature: .hmac(secret: secret(), .sha256))
        }
    }

    /// The DER inside a PEM.
    private static var publicDER: [UInt8] {
        let lines = Bench.mint.publicPEM.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let text = lines.joined().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return Base64URL.decode(Array(text.utf8).span) ?? []
    }

    private static func kid(_ name: String, _ json: String) -> Self {
        .header("kid: " + name, #"{"alg":"RS256","typ":"at+jwt","kid":\#(json)}"#)
    }

    static let algorithms: [Attack] =
        ["none", "NoNe", "nOnE", "None", "NONE"].map {
            .header("alg \($0)", #"{"alg":"\#($0)","kid":"rsa-1","typ":"at+jwt"}"#, .bytes([0]))
        } + [
            .header("alg none without a signature", #"{"alg":"none","kid":"rsa-1","typ":"at+jwt"}"#, .empty),
            .confusion("PEM") { Array(Bench.mint.publicPEM.utf8) },
            .confusion("PEM without its line end") { Array(Bench.mint.publicPEM.utf8.dropLast()) },
            .confusion("DER") { Self.publicDER }, .confusion("JWK text") { Array(Bench.mint.jwk.utf8) },
            .header("PS256 by a key for RS256", #"{"alg":"PS256","kid":"rsa-1","typ":"at+jwt"}"#, .with(.ps256)),
            .header("RS256 in the header, PSS below", Bench.mint.header(), .with(.ps256)),
            .header("ES256 by an RSA key", #"{"alg":"ES256","kid":"rsa-1","typ":"at+jwt"}"#),
            .signature("ES256 in the header, P-384 below", .with(.es384), by: .ec(keyID: "ec-1", algorithm: .es384)),
        ]

    static let headers: [Attack] = [
        .kid("a path", #""../../../../etc/passwd""#), .kid("SQL", #""rsa-1' OR '1'='1""#),
        .kid("a command of Redis", #""x\r\nFLUSHALL\r\n""#), .kid("empty", #""""#), .kid("a number", "1"),
        .kid("huge", "\"" + String(repeating: "k", count: 1500) + "\""),
        .header("kid twice", #"{"alg":"RS256","typ":"at+jwt","kid":"attacker","kid":"rsa-1"}"#),
        .header("crit", Bench.mint.header(more: #""crit":["exp"]"#)),
        .header("b64", Bench.mint.header(more: #""b64":false,"crit":["b64"]"#)),
        .header("zip", Bench.mint.header(more: #""zip":"DEF""#)),
        .header("typ of an ID token", Bench.mint.header(type: "id+jwt")),
        .header("typ JWT where at+jwt is asked for", Bench.mint.header(type: "JWT")),
        .header("no typ", Bench.mint.header(type: nil)),
        .header("alg twice, good first", #"{"alg":"RS256","alg":"none","kid":"rsa-1","typ":"at+jwt"}"#),
        .header("alg twice, good last", #"{"alg":"none","alg":"RS256","kid":"rsa-1","typ":"at+jwt"}"#),
        .header("alg twice, escaped", #"{"alg":"RS256","\u0061lg":"none","kid":"rsa-1","typ":"at+jwt"}"#),
        .header("a byte order mark", "\u{FEFF}" + Bench.mint.header()),
        .header("a NUL behind the header", Bench.mint.header() + "\0"),
        .header("deep nesting", Bench.mint.header(more: #""x":[[[[[[[[1]]]]]]]]"#)),
    ]

    static let claims: [Attack] = [
        .claim("aud: a prefix", ["aud": #""gatewa""#]), .claim("aud: longer", ["aud": #""gateway.evil""#]),
        .claim("aud: others in a list", ["aud": #"["gatewa","gateway "]"#]),
        .claim("aud: an object", ["aud": #"{"gateway":true}"#]), .claim("aud: empty", ["aud": #""""#]),
        .claim("aud: an empty list", ["aud": "[]"]), .claim("aud: absent", ["aud": nil]),
        .claim("iss: a slash", ["iss": #""https://id.test/""#]),
        .claim("iss: capitals", ["iss": #""https://ID.test""#]),
        .claim("exp: past the leeway", ["exp": "1749999940"]),
        .claim("exp: past it by a fraction", ["exp": "1749999939.999"]), .claim("exp: 1e400", ["exp": "1e400"]),
        .claim("exp: a text", ["exp": #""1750000300""#]), .claim("iat: ahead", ["iat": "1750000061"]),
        .claim("sub twice", ["sub": #""user-1","sub":"admin""#]),
        .claim("sub twice, escaped", ["sub": #""user-1","\u0073ub":"admin""#]),
        .claim("exp twice", ["exp": #"1,"exp":1750000300"#]),
        Attack("a byte order mark before the claims") { Bench.mint.token(claims: "\u{FEFF}" + TokenMint.claims()) },
        Attack("a NUL behind the claims") { Bench.mint.token(claims: TokenMint.claims() + "\0") },
        Attack("claims nested deep") {
            Bench.mint.token(claims: String(repeating: "[", count: 2500) + String(repeating: "]", count: 2500))
        },
        Attack("a token inside a token") {
            Bench.mint.token(
                claims: Bench.mint.token(claims: TokenMint.claims()),
                header: Bench.mint.header(more: #""cty":"JWT""#))
        },
        Attack("a token of more than 8 KiB") {
            Bench.mint.token(
                claims: TokenMint.claims(changes: ["x": "\"" + String(repeating: "x", count: 7000) + "\""]))
        },
    ]

    static let forms: [Attack] = [
        .text("five parts") { $0 + ".AAAA.AAAA" },
        .text("JSON serialisation") { token in
            let parts = token.split(separator: ".")
            return #"{"protected":"\#(parts[0])","payload":"\#(parts[1])","signature":"\#(parts[2])"}"#
        },
        .text("padding") { $0 + "==" },
        // The last character of 256 bytes carries two bits, and four that must be zero.
        .text("unused bits") { token in
            let last = token.last == "A" ? "B" : token.last == "Q" ? "R" : token.last == "g" ? "h" : "x"
            return token.dropLast() + last
        },
        .signature("r = s = 0", .zeros(64)), .signature("DER", .der), .signature("a byte short", .truncated),
        .signature("a byte long", .extended), .signature("a byte short, RSA", .truncated, by: Bench.mint),
        .signature("a byte long, RSA", .extended, by: Bench.mint),
    ]

    static let all = algorithms + headers + claims + forms
}

@Suite("Attacks on tokens that are known by name")
struct AttackListTests {
    @Test(arguments: Attack.all)
    func `Each is refused`(attack: Attack) throws {
        #expect(try Bench().failure(attack.token()) != nil)
    }

    /// What each of them was made from is good, so that none is refused for another reason.
    @Test func `What they are made from is accepted`() throws {
        let bench = try Bench()
        for mint in Bench.mints { #expect(bench.failure(mint.token(claims: TokenMint.claims())) == nil) }
        #expect(bench.failure(changing: ["exp": "1749999941"]) == nil)
        #expect(bench.failure(changing: ["iat": "1750000060"]) == nil)
        #expect(bench.failure(changing: ["aud": #"["other","gateway"]"#]) == nil)
        #expect(bench.failure(changing: ["x": #"{"a":[[1]]}"#]) == nil)
        let header = Bench.mint.header(more: #""x":[[1]]"#)
        #expect(bench.failure(Bench.mint.token(claims: TokenMint.claims(), header: header)) == nil)
    }
}
