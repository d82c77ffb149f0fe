import Authentication
import GatewayTesting
import GatewayTypes
import JOSE
import Testing

@Suite("Algorithm, type and key of a token")
struct KeyChoiceTests {
    private let claims = TokenMint.claims()

    @Test("Each allowed algorithm with its key", arguments: Bench.mints + [TokenMint.ed25519(algorithm: .ed25519)])
    func good(mint: TokenMint) throws { #expect(try Bench().failure(mint.token(claims: self.claims)) == nil) }

    @Test("No signature by any name", arguments: ["none", "None", "NONE", "nOnE"])
    func none(name: String) throws {
        for signature in [TokenMint.Signature.empty, .right, .zeros(256)] {
            let token = Bench.mint.token(
                claims: self.claims, header: #"{"alg":"\#(name)","kid":"rsa-1","typ":"at+jwt"}"#, signature: signature)
            let failure = try Bench().failure(token)
            #expect(failure == .token(.algorithmNotAllowed) || failure == .token(.malformed))
        }
    }

    @Test("An algorithm that the issuer may not use, though the key fits")
    func notAllowed() throws {
        let open = Bench.mint.jwk.replacing("\"alg\":\"RS256\",", with: "")
        let keys = KeySet([try VerificationKey(jwk: Array(open.utf8).span)])
        let bench = try Bench { $0.keys = keys }
        #expect(bench.failure(Bench.mint.with(algorithm: .ps256).token(claims: self.claims)) == nil)
        #expect(
            bench.failure(Bench.mint.with(algorithm: .rs512).token(claims: self.claims)) == .token(.algorithmNotAllowed)
        )
        #expect(
            try Bench { $0.algorithms = [.es256] }.failure(Bench.mint.token(claims: self.claims))
                == .token(.algorithmNotAllowed))
    }

    @Test("The public key's text as a shared secret")
    func confusion() throws {
        let pem = Bench.mint.publicPEM
        for text in [pem, String(pem.dropLast()), Bench.mint.jwk, TokenMint.jwks(Bench.mints)] {
            for algorithm in [Algorithm.hs256, .hs384, .hs512] {
                let forged = Bench.mint.token(
                    claims: self.claims, header: Bench.mint.with(algorithm: algorithm).header(),
                    signature: .hmac(secret: Array(text.utf8), .sha256))
                #expect(try Bench().failure(forged) == .token(.algorithmNotAllowed))
            }
        }
    }

    @Test(
        "Types, with and without the prefix and in any case",
        arguments: [
            ("at+jwt", [], true), ("AT+JWT", [], true), ("application/at+jwt", [], true),
            ("Application/At+Jwt", [], true),
            ("JWT", [], false), (nil, [], false), ("at+jwt ", [], false), ("application/application/at+jwt", [], false),
            ("", [], false),
            ("application/", [], false), ("dpop+jwt", [], false), ("JWT", [.jwt], true), ("jwt", [.jwt], true),
            ("application/jwt", [.jwt], true), (nil, [.jwt], false), (nil, [.absent], true),
            ("id+jwt", [.jwt, .absent], false),
        ] as [(String?, AcceptedTypes, Bool)])
    func types(type: String?, more: AcceptedTypes, accepted: Bool) throws {
        let bench = try Bench { $0.types.formUnion(more) }
        let token = Bench.mint.token(claims: self.claims, header: Bench.mint.header(type: type))
        #expect(bench.failure(token) == (accepted ? nil : .wrongType))
    }

    @Test("Keys and addresses inside the token decide nothing")
    func embedded() throws {
        let attacker = TokenMint.rsa(keyID: "attacker")
        for more in [
            "\"jwk\":\(attacker.jwk)", #""jku":"https://attacker.test/jwks""#, #""x5u":"https://attacker.test/c""#,
            #""x5c":["AAAA"]"#,
        ] {
            let named = attacker.token(claims: self.claims, header: attacker.header(more: more))
            #expect(try Bench().failure(named) == .unknownKey(issuer: 0))
            let disguised = attacker.token(
                claims: self.claims, header: attacker.with(keyID: "rsa-1").header(more: more))
            #expect(try Bench().failure(disguised) == .token(.badSignature))
            let good = Bench.mint.token(claims: self.claims, header: Bench.mint.header(more: more))
            #expect(try Bench().failure(good) == nil)
        }
    }

    @Test(
        "Key ids are opaque",
        arguments: [
            "../../../../dev/null", "x' UNION SELECT 'k", "", "rsa-2", "RSA-1", "a\\nlevel=info", "{tag}",
            String(repeating: "k", count: 256),
        ])
    func keyIDs(keyID: String) throws {
        let other = TokenMint.rsa(keyID: "attacker")
        let token = other.token(claims: self.claims, header: other.with(keyID: keyID).header())
        #expect(try Bench().failure(token) == .unknownKey(issuer: 0))
    }

    @Test(
        "A key id that is no text, or too long",
        arguments: ["7", "null", #"["rsa-1"]"#, "{}", "\"" + String(repeating: "k", count: 257) + "\""])
    func keyIDKinds(json: String) throws {
        let token = Bench.mint.token(claims: self.claims, header: #"{"alg":"RS256","typ":"at+jwt","kid":\#(json)}"#)
        #expect(try Bench().failure(token) == .token(.invalidHeader))
    }

    @Test(
        "Extensions of the header",
        arguments: [
            #""crit":["exp"]"#, #""crit":[]"#, #""b64":false,"crit":["b64"]"#, #""zip":"DEF""#, #""enc":"A128GCM""#,
        ])
    func extensions(more: String) throws {
        let token = Bench.mint.token(claims: self.claims, header: Bench.mint.header(more: more))
        #expect(try Bench().failure(token) == .token(.unsupportedHeader))
    }

    @Test(
        "Signatures that are not right",
        arguments: [
            .zeros(64), .zeros(256), .flipped, .truncated, .extended, .der, .bytes([0x30, 6, 2, 1, 0, 2, 1, 0]),
        ] as [TokenMint.Signature])
    func signatures(signature: TokenMint.Signature) throws {
        for mint in Bench.mints {
            #expect(try Bench().failure(mint.token(claims: self.claims, signature: signature)) == .token(.badSignature))
        }
    }

    @Test("JSON serialisation of a token")
    func jsonSerialisation() throws {
        let parts = Bench.mint.token(claims: self.claims).split(separator: ".")
        let json = #"{"protected":"\#(parts[0])","payload":"\#(parts[1])","signature":"\#(parts[2])"}"#
        #expect(try Bench().failure(json) != nil)
        #expect(try Bench().failure(json.replacing(",", with: ".")) != nil)
    }

    @Test("Tokens without a key id where one key fits, and where two do")
    func withoutKeyID() throws {
        let header = #"{"alg":"RS256","typ":"at+jwt"}"#
        let token = Bench.mint.token(claims: self.claims, header: header)
        #expect(try Bench().failure(token) == nil)
        let two = try Bench { $0.keys = TokenMint.keySet([Bench.mint, TokenMint.rsa(keyID: "rsa-2")]) }
        // No fetch of keys could help.
        #expect(two.failure(token) == .token(.unknownKey))
    }

    @Test("Keys that were never loaded are nobody's fault")
    func notLoaded() throws {
        let bench = try Bench { $0.keys = nil }
        let failure = try #require(bench.failure(Bench.mint.token(claims: self.claims)))
        #expect(failure == .keysUnavailable(issuer: 0))
        #expect(failure.challenge.status == 503)
        #expect(failure.errorCode == .identityUnavailable)
        #expect(!bench.authenticator.isReady)
        #expect(bench.authenticator.replaceKeys(ofIssuer: 0, with: TokenMint.keySet(Bench.mints)))
        #expect(bench.authenticator.isReady)
        #expect(bench.failure(Bench.mint.token(claims: self.claims)) == nil)
        #expect(bench.failure(changing: ["iss": "\"x\""]) == .unknownIssuer)
    }

    @Test("Tokens of our own, signed with a secret")
    func ownTokens() throws {
        let mint = TokenMint.hmac([UInt8](repeating: 5, count: 32))
        let bench = try Bench {
            $0.keys = mint.keySet
            $0.algorithms = [.hs256]
            $0.isGuest = true
            $0.defaultPlan = "guest"
            $0.planMapping = PlanMapping(path: ClaimPath(["plan"]), entries: [.init(value: "pro", plan: "pro")])
        }
        let principal = try bench.principal(mint.token(claims: TokenMint.claims(changes: ["plan": "\"pro\""])))
        #expect(principal.isGuest)
        #expect(principal.plan == "guest")
    }
}
