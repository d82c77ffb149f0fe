import JOSE
import JSON
import Testing

@Suite("Tokens that we issue")
struct TokenIssuerTests {
    private static func verify(_ token: [UInt8], _ key: VerificationKey) throws -> (
        header: JWSHeader, claims: JSONValue
    )? {
        let parsed = try CompactJWS(parsing: token.span)
        let header = try JWSHeader(parsing: parsed.header.span)
        let verifier = try KeySet([key]).verifier(keyID: header.keyID, algorithm: header.algorithm)
        guard verifier.verify(token.span.extracting(0..<parsed.signedByteCount), signature: parsed.signature.span)
        else {
            return nil
        }
        return (header, try JSONDocument(parsing: parsed.payload).root)
    }

    private let claims = Array(
        #"{"iss":"https://gw.test","sub":"gäst \"1\"","n":{"a":[1,2.5,true,null]},"exp":1750000300}"#.utf8)

    @Test("What libjwt signs, we verify", arguments: [Algorithm.es256, .es384, .es512, .rs256, .rs384, .rs512])
    func signed(algorithm: Algorithm) throws {
        let made = algorithm.family == .ecdsa ? PrivateKey.generateEC(for: algorithm) : PrivateKey.generateRSA()
        let pair = try #require(made)
        let pem = Array(try #require(pair.privatePEM).utf8)
        let issuer = try TokenIssuer(algorithm, key: pem, keyID: "own-1")
        let publicPEM = Array(try #require(pair.publicPEM).utf8)
        let key = try VerificationKey(pem: publicPEM.span, keyID: Array("own-1".utf8))
        // Numbers with leading zeros in a signature are rare: enough tokens to meet some.
        for _ in 0..<(algorithm == .es256 ? 300 : 20) {
            let read = try #require(try Self.verify(issuer.issue(claims: self.claims), key))
            #expect(read.header.algorithm == algorithm)
            #expect(read.header.type == Array("JWT".utf8))
            #expect(read.claims["sub"]?.string == "gäst \"1\"")
            #expect(read.claims["exp"]?.int == 1_750_000_300)
            #expect(read.claims["n"]?["a"]?[1]?.number == 2.5)
        }
    }

    @Test(
        "A token may have another typ than libjwt's",
        arguments: [Algorithm.rs256, .rs384, .rs512, .es256, .es384, .es512, .hs256, .hs384, .hs512])
    func otherTypes(algorithm: Algorithm) throws {
        let secret = (0..<64).map { UInt8($0) }
        let pair = algorithm.family == .ecdsa ? PrivateKey.generateEC(for: algorithm) : PrivateKey.generateRSA()
        let pem = Array(try #require(pair?.privatePEM).utf8)
        let publicPEM = Array(try #require(pair?.publicPEM).utf8)
        let isSecret = algorithm.family == .hmac
        let keyID = Array("k\"1".utf8)
        let issuer = try TokenIssuer(algorithm, key: isSecret ? secret : pem, keyID: "k\"1")
        let key =
            isSecret
            ? try VerificationKey(secret: secret, keyID: keyID) : try VerificationKey(pem: publicPEM.span, keyID: keyID)
        let read = try #require(try Self.verify(issuer.issue(claims: self.claims, type: "at+jwt"), key))
        #expect(read.header.type == Array("at+jwt".utf8) && read.header.algorithm == algorithm)
        #expect(read.claims["sub"]?.string == "gäst \"1\"")
        #expect(throws: TokenIssuer.Failure.invalidClaims) { try issuer.issue(claims: [], type: "at+jwt") }
    }

    @Test("Shared secrets sign, too", arguments: [Algorithm.hs256, .hs384, .hs512])
    func secrets(algorithm: Algorithm) throws {
        let secret = (0..<64).map { UInt8($0) }
        let issuer = try TokenIssuer(algorithm, key: secret)
        let read = try Self.verify(issuer.issue(claims: self.claims), VerificationKey(secret: secret))
        #expect(try #require(read).header.type == Array("JWT".utf8))
        #expect(try #require(read).header.keyID == nil)
    }

    @Test("Keys that do not fit are refused when the issuer is made")
    func unsuitable() throws {
        let p384 = Array(try #require(PrivateKey.generateEC(for: .es384)?.privatePEM).utf8)
        #expect(throws: TokenIssuer.Failure.unsuitableKey) { try TokenIssuer(.es256, key: p384) }
        #expect(throws: TokenIssuer.Failure.unsuitableKey) { try TokenIssuer(.rs256, key: p384) }
        #expect(throws: TokenIssuer.Failure.unsuitableKey) { try TokenIssuer(.rs256, key: [1, 2, 3]) }
        #expect(throws: TokenIssuer.Failure.unsuitableKey) {
            try TokenIssuer(.hs256, key: [UInt8](repeating: 1, count: 31))
        }
        #expect(throws: TokenIssuer.Failure.unsupportedAlgorithm) { try TokenIssuer(.ps256, key: p384) }
        #expect(throws: TokenIssuer.Failure.unsupportedAlgorithm) { try TokenIssuer(.edDSA, key: p384) }
    }

    @Test(
        "Claims that are no strict object are not signed",
        arguments: [
            "", "[]", "1", #"{"a":1,"a":2}"#, "{\"a\":1}\0", #"{"a":1} x"#,
            #"{"a":""# + String(repeating: "x", count: 6144) + "\"}",
        ])
    func invalidClaims(claims: String) throws {
        let issuer = try TokenIssuer(.hs256, key: [UInt8](repeating: 1, count: 32))
        #expect(throws: TokenIssuer.Failure.invalidClaims) { try issuer.issue(claims: Array(claims.utf8)) }
    }

    @Test("A key comes back from its PEM")
    func pem() throws {
        for made in [PrivateKey.generateEC(), .generateEd25519(), .generateRSA()] {
            let pair = try #require(made)
            let pem = try #require(pair.privatePEM)
            #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----"))
            let read = PrivateKey(pem: Array(pem.utf8).span)
            let again = try #require(read)
            #expect(again.publicPEM == pair.publicPEM)
            #expect(again.publicJWK(keyID: "k") == pair.publicJWK(keyID: "k"))
        }
        let none = PrivateKey(pem: Array("-----BEGIN PRIVATE KEY-----".utf8).span)
        #expect(none == nil)
        #expect(PrivateKey.generateEC(for: .rs256) == nil)
    }
}
