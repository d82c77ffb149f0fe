import Authentication
import GatewayTesting
import GatewayTypes
import Testing

@Suite("Times in a token")
struct TimeTests {
    private let start: Int64 = 1_750_000_000

    @Test(
        "A token ends at its exp plus the leeway, to the fraction",
        arguments: [
            (359.9, nil), (360, .expired), (400, .expired), (100_000_000, .expired),
        ] as [(Double, AuthenticationFailure?)])
    func expiry(seconds: Double, expected: AuthenticationFailure?) throws {
        #expect(try Bench().failure(changing: [:], at: after(seconds)) == expected)
    }

    @Test("A fraction of a second counts")
    func fraction() throws {
        let token = Bench.mint.token(claims: TokenMint.claims(changes: ["exp": "1750000300.5", "iat": "1.75e9"]))
        #expect(try Bench().failure(token, at: after(360.4)) == nil)
        #expect(try Bench().failure(token, at: after(360.5)) == .expired)
    }

    @Test(
        "An exp that is no number of seconds is no exp",
        arguments: [
            (nil, .missingClaim), ("null", .invalidClaim), ("\"9999999999\"", .invalidClaim), ("true", .invalidClaim),
            ("[9999999999]", .invalidClaim), ("{}", .invalidClaim), ("-1", .invalidClaim), ("0", .expired),
            ("99999999999999999999999", .invalidClaim), ("1e300", .invalidClaim), ("9007199254740994", .invalidClaim),
            ("1e400", .invalidClaims), ("NaN", .invalidClaims), ("9007199254740992", nil),
            ("9223372036854775807", .invalidClaim),
        ] as [(String?, AuthenticationFailure?)])
    func expiryKinds(json: String?, expected: AuthenticationFailure?) throws {
        #expect(try Bench().failure(changing: ["exp": json]) == expected)
    }

    @Test(
        "Clocks may differ by the leeway",
        arguments: [
            ("iat", 4, nil), ("iat", 60, nil), ("iat", 61, .issuedInFuture), ("iat", 90, .issuedInFuture),
            ("nbf", 4, nil), ("nbf", 60, nil), ("nbf", 61, .notYetValid), ("nbf", -1000, nil),
        ] as [(String, Int64, AuthenticationFailure?)])
    func leeway(claim: String, offset: Int64, expected: AuthenticationFailure?) throws {
        #expect(try Bench().failure(changing: [claim: "\(self.start + offset)"]) == expected)
    }

    @Test("A leeway of more than a minute is a minute, of less than nothing is nothing")
    func clamping() throws {
        let day = try Bench { $0.leewaySeconds = 86400 }
        #expect(day.failure(changing: [:], at: after(359)) == nil)
        #expect(day.failure(changing: [:], at: after(361)) == .expired)
        let none = try Bench { $0.leewaySeconds = -5 }
        #expect(none.failure(changing: [:], at: after(299)) == nil)
        #expect(none.failure(changing: [:], at: after(300)) == .expired)
    }

    @Test("Other times of the wrong kind", arguments: ["nbf", "iat"], ["null", "\"1\"", "true", "-5", "[1]", "1e17"])
    func otherKinds(claim: String, json: String) throws {
        #expect(try Bench().failure(changing: [claim: json]) == .invalidClaim)
    }

    @Test("A greatest age needs iat and ends a token before its exp")
    func age() throws {
        let bench = try Bench {
            $0.maximumAgeSeconds = 100
            $0.requiresAccessTokenClaims = false
        }
        #expect(bench.failure(changing: [:], at: after(159)) == nil)
        #expect(bench.failure(changing: [:], at: after(160)) == .tooOld)
        #expect(bench.failure(changing: ["iat": nil]) == .missingClaim)
    }
}

@Suite("Who a token is for and from")
struct AudienceTests {
    @Test(
        "The audience as a text or in a list of texts",
        arguments: [
            (#""gateway""#, nil), (#"["gateway"]"#, nil), (#"["other","gateway"]"#, nil),
            (#""gatewa""#, .wrongAudience),
            (#""gateway2""#, .wrongAudience), (#""Gateway""#, .wrongAudience), (#""gateway ""#, .wrongAudience),
            (#""other gateway""#, .wrongAudience), (#"["other"]"#, .wrongAudience), (#"[]"#, .wrongAudience),
            (#""""#, .wrongAudience), (#"["gateway",1]"#, .invalidClaim), (#"["gateway",null]"#, .invalidClaim),
            (#"[["gateway"]]"#, .invalidClaim), (#"{"gateway":1}"#, .invalidClaim), ("null", .invalidClaim),
            ("1", .invalidClaim),
            (nil, .missingClaim),
        ] as [(String?, AuthenticationFailure?)])
    func audience(json: String?, expected: AuthenticationFailure?) throws {
        #expect(try Bench().failure(changing: ["aud": json]) == expected)
    }

    @Test(
        "The issuer byte by byte",
        arguments: [
            #""https://id.test/""#, #""https://id.tes""#, #""https://ID.test""#, #""http://id.test""#,
            #""https://id.test.evil""#,
            #"" https://id.test""#, #""""#, "null", "1", #"["https://id.test"]"#, nil,
        ] as [String?])
    func issuer(json: String?) throws { #expect(try Bench().failure(changing: ["iss": json]) == .unknownIssuer) }

    @Test("Forms of one letter that Swift calls equal are not")
    func canonicalEquivalence() throws {
        let bench = try Bench { $0.issuer = "https://caf\u{E9}.test" }
        #expect(bench.failure(changing: ["iss": "\"https://caf\u{E9}.test\""]) == nil)
        #expect(bench.failure(changing: ["iss": "\"https://cafe\u{301}.test\""]) == .unknownIssuer)
    }
}

@Suite("Who the caller is")
struct SubjectTests {
    @Test(
        "A subject is a text that says something",
        arguments: [
            (nil, .missingClaim), ("null", .invalidClaim), (#""""#, .invalidClaim), (#""   ""#, .invalidClaim),
            (#""\u00a0\u2003""#, .invalidClaim), ("42", .invalidClaim), (#"["user-1"]"#, .invalidClaim),
            ("true", .invalidClaim),
            (#""a\u0000b""#, .invalidClaim), (#""a\nb""#, .invalidClaim), (#""a\u007f""#, .invalidClaim),
            (#""a\u0085""#, .invalidClaim), (#"" a ""#, nil), (#""سارا""#, nil), (#""auth0|123:x{y}""#, nil),
            ("\"" + String(repeating: "é", count: 255) + "\"", nil),
            ("\"" + String(repeating: "a", count: 256) + "\"", .invalidClaim),
        ] as [(String?, AuthenticationFailure?)])
    func subject(json: String?, expected: AuthenticationFailure?) throws {
        #expect(try Bench().failure(changing: ["sub": json]) == expected)
    }

    @Test("The access token's own claims are required when asked for", arguments: ["client_id", "jti", "iat"])
    func required(claim: String) throws {
        #expect(try Bench().failure(changing: [claim: nil]) == .missingClaim)
        #expect(try Bench { $0.requiresAccessTokenClaims = false }.failure(changing: [claim: nil]) == nil)
        #expect(try Bench { $0.requiresAccessTokenClaims = false }.failure(changing: ["jti": "7"]) == .invalidClaim)
        #expect(try Bench { $0.requiresAccessTokenClaims = false }.failure(changing: ["sid": "7"]) == .invalidClaim)
        #expect(try Bench().failure(changing: ["client_id": #""""#]) == .invalidClaim)
    }

    @Test("A token bound to its holder's key is not taken for a bearer's", arguments: [#"{"jkt":"x"}"#, "null", "{}"])
    func bound(json: String) throws { #expect(try Bench().failure(changing: ["cnf": json]) == .senderConstrained) }

    @Test("What a token says becomes the principal")
    func principal() throws {
        let claims = TokenMint.claims(subject: "user-7", changes: ["sid": "\"s-1\"", "scope": "\"llm.chat  a b\""])
        let principal = try Bench().principal(Bench.mint.token(claims: claims))
        #expect(principal.tenant == "acme")
        #expect(principal.subject == "user-7")
        #expect(principal.plan == "basic")
        #expect(principal.scopes == ["llm.chat", "a", "b"])
        #expect(!principal.isGuest)
        #expect(principal.tokenID == "token-1")
        #expect(principal.sessionID == "s-1")
        #expect(principal.issuedAt == Bench.now)
        #expect(principal.expiresAt == after(300))
    }

    @Test(
        "Scopes as some issuers send them",
        arguments: [
            (["scp": #"["a","b"]"#], ["a", "b"]), (["scp": #""a b""#], ["a", "b"]), (["scope": #"["a"]"#], ["a"]),
            (["scope": "7"], []),
            (["scope": #""""#], []), ([:], []),
        ] as [([String: String], Set<ByteString>)])
    func scopes(claims: [String: String], expected: Set<ByteString>) throws {
        let token = Bench.mint.token(claims: TokenMint.claims(changes: claims))
        #expect(try Bench().principal(token).scopes == expected)
    }

    @Test("A scope that is required is missing")
    func missingScope() throws {
        let bench = try Bench { $0.requiredScope = "llm.chat" }
        #expect(bench.failure(changing: ["scope": #""llm.chat""#]) == nil)
        #expect(bench.failure(changing: ["scope": #""llm.chats""#]) == .insufficientScope("llm.chat"))
        #expect(bench.failure(changing: ["scope": #""llm.chats""#])?.challenge.status == 403)
    }

    @Test(
        "The payload is a strict object",
        arguments: [
            "", "[]", "null", "1", "{} {}", "{\"iss\":\"https://id.test\",\"iss\":\"https://id.test\"}", "{\"a\":1,}",
            "\u{FEFF}{}", "{}\0", "{\"a\":[[[[[[[[[1]]]]]]]]]}", String(repeating: "[", count: 4000),
        ])
    func payload(text: String) throws {
        #expect(try Bench().failure(Bench.mint.token(claims: text)) == .invalidClaims)
    }

    @Test("A claim named twice is refused whichever would count", arguments: ["sub", "exp", "aud", "iss"])
    func repeated(claim: String) throws {
        let claims = TokenMint.claims().dropLast()
        for value in ["\"user-1\"", "1", "9999999999"] {
            let token = Bench.mint.token(claims: "\(claims),\"\(claim)\":\(value)}")
            #expect(try Bench().failure(token) == .invalidClaims)
        }
    }
}
