import GatewayTesting
import JOSE
import Testing

private func read(_ keys: [String], allowsSecrets: Bool = false) throws -> KeySet {
    try KeySet(jwks: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8).span, allowsSecrets: allowsSecrets)
}

private func lookup(_ set: KeySet, _ keyID: String?, _ algorithm: Algorithm) -> TokenFailure? {
    do {
        _ = try set.verifier(keyID: keyID.map { Array($0.utf8) }, algorithm: algorithm)
        return nil
    } catch { return error }
}

@Suite("Sets of keys")
struct KeySetTests {
    private let rsa = TokenMint.rsa()
    private let ec = TokenMint.ec()
    private let ed = TokenMint.ed25519()

    @Test("Keys that cannot be used are left out, the others stay")
    func skipping() throws {
        let encryption = self.rsa.with(keyID: "enc").jwk.replacing("\"sig\"", with: "\"enc\"")
            .replacing("\"alg\":\"RS256\",", with: "")
        let set = try read([
            #"{"kty":"AKP","kid":"pq"}"#, self.rsa.jwk, encryption, #"{"kid":7}"#, self.ec.jwk, "null", self.ed.jwk,
            #"{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
        ])
        #expect(set.count == 3)
        #expect(set.skipped.map(\.index) == [0, 2, 3, 5, 7])
        #expect(set.skipped.map(\.reason) == [.unsupportedType, .wrongUse, .malformed, .malformed, .symmetricKey])
        #expect(lookup(set, "rsa-1", .rs256) == nil)
        #expect(lookup(set, "ec-1", .es256) == nil)
        #expect(lookup(set, "ed-1", .ed25519) == nil)
        #expect(lookup(set, "enc", .rs256) == .unknownKey)
        #expect(lookup(set, "pq", .rs256) == .unknownKey)
    }

    @Test(
        "A set that cannot be used at all says why",
        arguments: [
            ("", .notJSON), ("<html></html>", .notJSON), (#"{"keys":["#, .notJSON),
            (#"{"keys":[],"keys":[]}"#, .notJSON),
            ("{}", .notAKeySet), ("[]", .notAKeySet), (#"{"keys":{}}"#, .notAKeySet), (#"{"keys":null}"#, .notAKeySet),
            (#"{"keys":[]}"#, .noUsableKey), (#"{"keys":[{}]}"#, .noUsableKey),
            (#"{"keys":[1,"a",null,[]]}"#, .noUsableKey),
            (#"{"keys":["# + String(repeating: " ", count: 256 * 1024) + "]}", .notJSON),
        ] as [(String, KeySet.Failure)])
    func unusable(text: String, expected: KeySet.Failure) {
        #expect(throws: expected) { try KeySet(jwks: Array(text.utf8).span) }
    }

    @Test("Two keys of one id are both left out; the same id for another use does no harm")
    func duplicateIDs() throws {
        let twin = TokenMint.ec(keyID: "ec-2").with(keyID: "ec-1")
        let set = try read([self.ec.jwk, self.rsa.jwk, twin.jwk])
        #expect(set.skipped.map(\.reason) == [.duplicateKeyID, .duplicateKeyID])
        #expect(lookup(set, "ec-1", .es256) == .unknownKey)
        #expect(lookup(set, "rsa-1", .rs256) == nil)
        #expect(throws: KeySet.Failure.noUsableKey) { try read([self.ec.jwk, self.ec.jwk]) }

        let broken = #"{"kty":"EC","crv":"P-256","x":"?","y":"?","kid":"ec-1"}"#
        #expect(throws: KeySet.Failure.noUsableKey) { try read([self.ec.jwk, broken]) }
        let encryption = self.ec.jwk.replacing("\"sig\"", with: "\"enc\"")
        #expect(lookup(try read([self.ec.jwk, encryption]), "ec-1", .es256) == nil)
    }

    @Test("Ids are compared byte by byte and an unknown one is never served by another key")
    func exactIDs() throws {
        let set = try read([self.rsa.jwk])
        for keyID in ["", "RSA-1", "rsa-1 ", "rsa-", "rsa-11", "../../../../dev/null", "x' OR '1'='1"] {
            #expect(lookup(set, keyID, .rs256) == .unknownKey)
        }
        let composed = try read([self.rsa.with(keyID: "caf\u{E9}").jwk])
        #expect(lookup(composed, "caf\u{E9}", .rs256) == nil)
        #expect(lookup(composed, "cafe\u{301}", .rs256) == .unknownKey)
    }

    @Test("A token without an id is served only by the one key that fits")
    func withoutID() throws {
        let set = try read([self.rsa.jwk, self.ec.jwk])
        #expect(lookup(set, nil, .rs256) == nil)
        #expect(lookup(set, nil, .es256) == nil)
        #expect(lookup(set, nil, .edDSA) == .unknownKey)
        let two = try read([self.rsa.jwk, self.rsa.with(keyID: "other").jwk])
        #expect(lookup(two, nil, .rs256) == .unknownKey)
    }

    @Test("A key is never used with an algorithm of another type, curve or name")
    func binding() throws {
        let set = try read([self.rsa.jwk, self.ec.jwk, self.ed.jwk])
        for (keyID, allowed) in [("rsa-1", [Algorithm.rs256]), ("ec-1", [.es256]), ("ed-1", [.edDSA, .ed25519])] {
            for algorithm in Algorithm.allCases {
                #expect(lookup(set, keyID, algorithm) == (allowed.contains(algorithm) ? nil : .keyMismatch))
            }
        }
    }

    @Test("Secrets are read only where they are allowed and stand alone")
    func secrets() throws {
        let secret = TokenMint.hmac([UInt8](repeating: 9, count: 32))
        #expect(throws: KeySet.Failure.noUsableKey) { try read([secret.jwk]) }
        #expect(lookup(try read([secret.jwk], allowsSecrets: true), "hs-1", .hs256) == nil)
        let mixed = try read([secret.jwk, self.ec.jwk], allowsSecrets: true)
        #expect(lookup(mixed, "hs-1", .hs256) == .unknownKey)
        #expect(lookup(mixed, "ec-1", .es256) == nil)
    }

    @Test("At most a hundred keys are read")
    func tooMany() throws {
        let keys = (0..<102).map { self.ec.with(keyID: "k\($0)").jwk }
        let set = try read(keys)
        #expect(set.count == 100)
        #expect(set.skipped == set.skipped.filter { $0.reason == .tooManyKeys })
        #expect(lookup(set, "k99", .es256) == nil)
        #expect(lookup(set, "k100", .es256) == .unknownKey)
    }

    @Test("The same text has the same digest, another text another")
    func digests() throws {
        #expect(try read([self.rsa.jwk]).digest == read([self.rsa.jwk]).digest)
        #expect(try read([self.rsa.jwk]).digest != read([self.ec.jwk]).digest)
    }
}
