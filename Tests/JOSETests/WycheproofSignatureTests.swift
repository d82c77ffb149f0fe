import JOSE
import JSON
import Testing

@Suite("Wycheproof signatures", .enabled(if: Vectors.areExpected, "no vectors here; set ASKGATE_VECTORS"))
struct WycheproofSignatureTests {
    @Test(
        "Every verdict is right, with the key from PEM and from JWK",
        arguments: [
            ("ecdsa_secp256r1_sha256_p1363_test.json", Algorithm.es256),
            ("ecdsa_secp384r1_sha384_p1363_test.json", .es384),
            ("ecdsa_secp521r1_sha512_p1363_test.json", .es512),
            ("ed25519_test.json", .ed25519),
            ("rsa_pss_2048_sha256_mgf1_32_test.json", .ps256),
            ("rsa_signature_2048_sha256_test.json", .rs256),
        ])
    func verdicts(file: String, algorithm: Algorithm) throws {
        let limits = JSONLimits(bytes: 1 << 24)
        let root = try JSONDocument(parsing: try Vectors.read("wycheproof/\(file)"), limits: limits).root
        var checked = 0
        for group in try #require(root["testGroups"]).elements {
            let pem = try #require(group["publicKeyPem"]?.bytes)
            var verifiers = [try #require(try VerificationKey(pem: pem.span).verifier(for: algorithm))]
            if let jwk = group["publicKeyJwk"] ?? group["keyJwk"] {
                let key = try VerificationKey(jwk: Self.text(of: jwk).span)
                verifiers.append(try #require(key.verifier(for: algorithm)))
            }
            for test in try #require(group["tests"]).elements {
                checked += 1
                // "acceptable" is an encoding that no issuer makes; refused here.
                let expected = test["result"]?.string == "valid"
                let message = hex(try #require(test["msg"]?.string))
                let signature = hex(try #require(test["sig"]?.string))
                for verifier in verifiers {
                    #expect(
                        verifier.verify(message.span, signature: signature.span) == expected,
                        "\(file) \(test["tcId"]?.int ?? 0): \(test["comment"]?.string ?? "")")
                }
            }
        }
        #expect(checked == root["numberOfTests"]?.int)
    }

    /// A flat object of texts, written anew.
    private static func text(of object: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        object.forEachMember { name, value in
            writer.name(utf8: name)
            value.withString { writer.string(utf8: $0) }
        }
        writer.endObject()
        return writer.bytes
    }
}
