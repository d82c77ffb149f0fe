import JOSE
import Testing

@Suite("Hashes")
struct HashingTests {
    @Test(
        "SHA-256 of known texts",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ])
    func sha256(text: String, digest: String) {
        let bytes = Array(text.utf8)
        #expect(SHA256Digest(of: bytes.span).bytes == hex(digest))
        let hasher = SHA256Hasher()
        #expect(hasher.digest(of: bytes.span) == hasher.digest(of: bytes.span))
        #expect(hasher.digest(of: bytes.span) != hasher.digest(of: [1].span))
    }

    @Test(
        "HMAC of RFC 4231, case 2",
        arguments: [
            (Hash.sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (
                .sha384,
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649"
            ),
            (
                .sha512,
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd"
                    + "caeab1a34d4a6b4b636e070a38bce737"
            ),
        ])
    func hmac(hash: Hash, code: String) throws {
        let made = MessageAuthenticator(hash, secret: Array("Jefe".utf8).span)
        let authenticator = try #require(made)
        let message = Array("what do ya want for nothing?".utf8)
        func verifies(_ code: [UInt8]) -> Bool { authenticator.verify(code.span, for: message.span) }
        let computed = authenticator.code(for: message.span)
        #expect(computed == hex(code))
        #expect(verifies(hex(code)))
        #expect(!verifies(hex(code).dropLast()))
        #expect(!verifies([UInt8](repeating: 0, count: hash.byteCount)))
        #expect(!verifies([]))
    }

    @Test("An empty secret is none")
    func emptySecret() {
        let secret: [UInt8] = []
        let made = MessageAuthenticator(.sha256, secret: secret.span)
        #expect(made == nil)
    }
}
