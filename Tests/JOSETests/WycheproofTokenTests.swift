import Foundation
import JOSE
import JSON
import Testing

/// Whether a token is good under a key or key set given as JSON, with everything this target checks.
private func verifies(_ token: [UInt8], keys: [UInt8], isSet: Bool, allowsSecrets: Bool) -> Bool {
    guard let parsed = try? CompactJWS(parsing: token.span),
        let header = try? JWSHeader(parsing: parsed.header.span)
    else { return false }
    let set: KeySet?
    if isSet {
        set = try? KeySet(jwks: keys.span, allowsSecrets: allowsSecrets)
    } else {
        set = (try? VerificationKey(jwk: keys.span, allowsSecret: allowsSecrets)).map { KeySet([$0]) }
    }
    guard let verifier = try? set?.verifier(keyID: header.keyID, algorithm: header.algorithm) else { return false }
    return verifier.verify(token.span.extracting(0..<parsed.signedByteCount), signature: parsed.signature.span)
}

@Suite("Wycheproof tokens", .enabled(if: Vectors.areExpected, "no vectors here; set ASKGATE_VECTORS"))
struct WycheproofTokenTests {
    /// Valid to Wycheproof, refused here.
    private static let deviations: [String: [Int: String]] = [
        "json_web_signature_test.json": [
            346: "the key says PS256 and the token PS384: one key, one algorithm",
            347: "the key says ES521, which is no algorithm",
            350: "the key says PS256 and the token PS384: one key, one algorithm",
            351: "the key says ES521, which is no algorithm",
            372: "a character outside the alphabet in the header",
            373: "a character outside the alphabet in the payload",
        ]
    ]

    /// Called invalid by Wycheproof, but byte for byte the same token and key as its valid case 357.
    private static let twins: [String: Set<Int>] = ["json_web_signature_test.json": [367, 370]]

    @Test(
        "Every verdict is right",
        arguments: ["json_web_signature_test.json", "json_web_key_test.json", "json_web_crypto_test.json"])
    func verdicts(file: String) throws {
        let bytes = try Vectors.read("wycheproof/\(file)")
        let root = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        var checked = 0
        for group in try #require(root["testGroups"] as? [[String: Any]]) {
            let key = try #require((group["public"] ?? group["private"]) as? [String: Any])
            let text = Array(try JSONSerialization.data(withJSONObject: key))
            let isSet = key["keys"] != nil
            for test in try #require(group["tests"] as? [[String: Any]]) {
                let number = try #require(test["tcId"] as? Int)
                checked += 1
                // Encrypted tokens are none of ours, whatever is in them; JSON serialisations are no text.
                let isEncrypted = test["jwe"] != nil
                let token = Array(((test["jws"] ?? test["jwe"]) as? String ?? "{}").utf8)
                let deviates = Self.deviations[file]?[number] != nil
                let isGood = test["result"] as? String == "valid" || Self.twins[file]?.contains(number) ?? false
                let expected = isGood && !isEncrypted && !deviates
                let verdict = verifies(token, keys: text, isSet: isSet, allowsSecrets: true)
                #expect(verdict == expected, "\(file) \(number): \(test["comment"] ?? "")")
                if deviates { #expect(test["result"] as? String == "valid", "\(file) \(number) deviates no more") }
            }
        }
        #expect(checked == root["numberOfTests"] as? Int)
    }
}

@Suite("The JOSE cookbook", .enabled(if: Vectors.areExpected, "no vectors here; set ASKGATE_VECTORS"))
struct CookbookTests {
    private func verdict(_ path: String) throws -> Bool {
        let root = try JSONDocument(parsing: try Vectors.read("jose-cookbook/\(path)")).root
        let compact = try #require(root["output"]?["compact"]?.bytes)
        var key: [String: String] = [:]
        try #require(root["input"]?["key"]).forEachMember { name, value in
            let name = String(decoding: name, as: UTF8.self)
            // The examples hold private keys; a verifier is given the public part.
            if !["d", "p", "q", "dp", "dq", "qi"].contains(name) { key[name] = value.string }
        }
        if path.contains("ecdsa") { key["alg"] = nil }
        let text = Array(try JSONSerialization.data(withJSONObject: key))
        return verifies(compact, keys: text, isSet: false, allowsSecrets: true)
    }

    @Test(
        "Signed examples verify",
        arguments: [
            "jws/4_1.rsa_v15_signature.json", "jws/4_2.rsa-pss_signature.json", "jws/4_3.ecdsa_signature.json",
            "jws/4_4.hmac-sha2_integrity_protection.json", "curve25519/jws.json",
        ])
    func signed(path: String) throws { #expect(try self.verdict(path)) }

    @Test("An unencoded payload is refused: its extension is not understood")
    func unencodedPayload() throws { #expect(try !self.verdict("rfc7797/hmac-sha2_b64_false.json")) }

    @Test("Public keys are read, private ones are refused")
    func keys() throws {
        func failure(_ path: String) throws -> KeyFailure? {
            let text = try Vectors.read("jose-cookbook/jwk/\(path)")
            do throws(KeyFailure) {
                _ = try VerificationKey(jwk: text.span)
                return nil
            } catch { return error }
        }
        #expect(try failure("3_1.ec_public_key.json") == nil)
        #expect(try failure("3_2.ec_private_key.json") == .privateMembers)
        #expect(try failure("3_3.rsa_public_key.json") == nil)
        #expect(try failure("3_4.rsa_private_key.json") == .privateMembers)
        #expect(try failure("3_5.symmetric_key_mac_computation.json") == .symmetricKey)
        #expect(try failure("3_6.symmetric_key_encryption.json") == .symmetricKey)
    }
}
