import GatewayTesting
import JOSE
import Testing

private func failure(jwk: String, allowsSecret: Bool = false) -> KeyFailure? {
    do {
        _ = try VerificationKey(jwk: Array(jwk.utf8).span, allowsSecret: allowsSecret)
        return nil
    } catch { return error }
}

private func failure(pem: String, algorithm: Algorithm? = nil) -> KeyFailure? {
    do {
        _ = try VerificationKey(pem: Array(pem.utf8).span, algorithm: algorithm)
        return nil
    } catch { return error }
}

private func rsa(modulus: [UInt8], exponent: [UInt8] = [1, 0, 1]) -> String {
    #"{"kty":"RSA","n":"\#(encode(modulus))","e":"\#(encode(exponent))"}"#
}

func encode(_ bytes: [UInt8]) -> String { String(decoding: Base64URL.encode(bytes.span), as: UTF8.self) }

/// Bytes of a member of a JWK's text.
private func member(_ name: String, of jwk: String) throws -> [UInt8] {
    let rest = try #require(jwk.split(separator: "\"\(name)\":\"").last)
    let bytes = Base64URL.decode(Array(rest.prefix { $0 != "\"" }.utf8).span)
    return try #require(bytes)
}

@Suite("RSA keys that OpenSSL would take and we do not")
struct RSAKeyTests {
    private let modulus: [UInt8]

    init() throws { self.modulus = try member("n", of: TokenMint.rsa().jwk) }

    @Test("A good key is taken, also with leading zeros before its numbers")
    func good() {
        #expect(failure(jwk: rsa(modulus: self.modulus)) == nil)
        #expect(failure(jwk: rsa(modulus: [0] + self.modulus, exponent: [0, 1, 0, 1])) == nil)
        #expect(failure(jwk: rsa(modulus: self.modulus, exponent: [3])) == nil)
    }

    @Test("Moduli that are too short, too long, even or empty", arguments: [512, 1024, 2040, 8200, 16384])
    func sizes(bits: Int) {
        let wrong = [UInt8](repeating: 0xB7, count: bits / 8)
        #expect(failure(jwk: rsa(modulus: wrong)) == .rsaModulus)
        #expect(failure(jwk: rsa(modulus: [0x7F] + self.modulus.dropFirst())) == .rsaModulus)
        #expect(failure(jwk: rsa(modulus: self.modulus.dropLast() + [0x10])) == .rsaModulus)
        #expect(failure(jwk: rsa(modulus: [])) == .rsaModulus)
        #expect(failure(jwk: rsa(modulus: [0, 0, 0])) == .rsaModulus)
    }

    @Test(
        "Exponents that make signatures free or slow",
        arguments: [[], [0], [1], [2], [1, 0, 0], [1, 0, 0, 0, 1], [UInt8](repeating: 0xFF, count: 256)] as [[UInt8]])
    func exponents(exponent: [UInt8]) {
        #expect(failure(jwk: rsa(modulus: self.modulus, exponent: exponent)) == .rsaExponent)
    }

    @Test("A modulus with the fingerprint of the faulty generator")
    func fingerprint() {
        // A number that is 1 modulo every prime below 168 is a power of 65537 modulo each: add multiples of the
        // product to 1 until it has 2048 bits.
        var product: [UInt8] = [1]
        for prime in (2..<168).filter({ candidate in (2..<candidate).allSatisfy { candidate % $0 != 0 } }) {
            product = multiply(product, prime)
        }
        while product.count < 256 { product = multiply(product, 251 * 2) }
        while product.count > 256 || product[0] < 0x80 { product = multiply(product, 2) }
        var modulus = product
        modulus[modulus.count - 1] |= 1
        #expect(modulus.count == 256)
        #expect(failure(jwk: rsa(modulus: modulus)) == .rocaFingerprint)
    }

    /// A big-endian number times a small one.
    private func multiply(_ number: [UInt8], _ factor: Int) -> [UInt8] {
        var carry = 0
        var output: [UInt8] = []
        for digit in number.reversed() {
            carry += Int(digit) * factor
            output.append(UInt8(carry & 0xFF))
            carry >>= 8
        }
        while carry > 0 {
            output.append(UInt8(carry & 0xFF))
            carry >>= 8
        }
        return output.reversed()
    }

    @Test("The same checks hold for PEM")
    func pem() throws {
        let weak = try #require(PrivateKey.generateRSA(bits: 1024)?.publicPEM)
        #expect(failure(pem: weak) == .rsaModulus)
        #expect(failure(pem: TokenMint.rsa().publicPEM) == nil)
    }
}

@Suite("Elliptic keys that cannot be right")
struct EllipticKeyTests {
    private func ec(_ curve: String, x: [UInt8], y: [UInt8]) -> String {
        #"{"kty":"EC","crv":"\#(curve)","x":"\#(encode(x))","y":"\#(encode(y))"}"#
    }

    @Test("Points off the curve, of the wrong size, at infinity, or of another curve")
    func points() throws {
        let x = try member("x", of: TokenMint.ec().jwk)
        let y = try member("y", of: TokenMint.ec().jwk)
        #expect(failure(jwk: self.ec("P-256", x: x, y: y)) == nil)
        #expect(failure(jwk: self.ec("P-256", x: x, y: x)) == .invalidPoint)
        #expect(
            failure(jwk: self.ec("P-256", x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32)))
                == .invalidPoint)
        #expect(failure(jwk: self.ec("P-256", x: [UInt8](repeating: 0xFF, count: 32), y: y)) == .invalidPoint)
        #expect(failure(jwk: self.ec("P-256", x: [0] + x, y: y)) == .malformed)
        #expect(failure(jwk: self.ec("P-256", x: [], y: [])) == .malformed)
        #expect(failure(jwk: self.ec("P-384", x: x, y: y)) == .malformed)
        let padded = [UInt8](repeating: 0, count: 16)
        #expect(failure(jwk: self.ec("P-384", x: padded + x, y: padded + y)) == .invalidPoint)
        #expect(failure(jwk: self.ec("secp256k1", x: x, y: y)) == .unsupportedType)
    }

    @Test(
        "Points of small order and spellings that are not canonical",
        arguments: [
            String(repeating: "00", count: 32), "01" + String(repeating: "00", count: 31),
            "ec" + String(repeating: "ff", count: 30) + "7f", "ed" + String(repeating: "ff", count: 30) + "7f",
            "ee" + String(repeating: "ff", count: 30) + "7f", "01" + String(repeating: "00", count: 30) + "80",
            String(repeating: "00", count: 31) + "80", String(repeating: "ff", count: 32),
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        ])
    func smallOrder(point: String) {
        #expect(failure(jwk: #"{"kty":"OKP","crv":"Ed25519","x":"\#(encode(hex(point)))"}"#) == .invalidPoint)
    }

    @Test("Ed25519 keys of other sizes and other curves of the type")
    func otherOctetKeys() throws {
        let x = try member("x", of: TokenMint.ed25519().jwk)
        #expect(failure(jwk: #"{"kty":"OKP","crv":"Ed25519","x":"\#(encode(x))"}"#) == nil)
        #expect(failure(jwk: #"{"kty":"OKP","crv":"Ed25519","x":"\#(encode(x + [0]))"}"#) == .malformed)
        #expect(failure(jwk: #"{"kty":"OKP","crv":"X25519","x":"\#(encode(x))"}"#) == .unsupportedType)
        #expect(failure(jwk: #"{"kty":"OKP","crv":"Ed448","x":"\#(encode(x))"}"#) == .unsupportedType)
    }
}

@Suite("What a key says about itself")
struct KeyBindingTests {
    private let jwk = TokenMint.ec().with(keyID: "k").jwk

    private func with(_ members: String, from jwk: String = TokenMint.ec().jwk) -> String {
        jwk.replacing("\"use\":\"sig\",\"alg\":\"ES256\",", with: members)
    }

    @Test(
        "Uses and operations",
        arguments: [
            (#""use":"sig","#, nil), ("", nil), (#""use":"enc","#, .wrongUse), (#""use":"SIG","#, .wrongUse),
            (#""use":["sig"],"#, .wrongUse), (#""use":null,"#, .wrongUse), (#""key_ops":["verify"],"#, nil),
            (#""key_ops":["sign","verify"],"#, nil), (#""key_ops":["sign"],"#, .wrongUse),
            (#""key_ops":[],"#, .wrongUse),
            (#""key_ops":"verify","#, .wrongUse), (#""key_ops":["sign, verify"],"#, .wrongUse),
            (#""use":"sig","key_ops":["encrypt"],"#, .wrongUse),
        ] as [(String, KeyFailure?)])
    func uses(members: String, expected: KeyFailure?) { #expect(failure(jwk: self.with(members)) == expected) }

    @Test(
        "Algorithms",
        arguments: [
            (#""alg":"ES256","#, nil), (#""alg":"ES384","#, .algorithmMismatch),
            (#""alg":"RS256","#, .algorithmMismatch),
            (#""alg":"ES521","#, .algorithmMismatch), (#""alg":"none","#, .algorithmMismatch),
            (#""alg":"HS256","#, .algorithmMismatch), (#""alg":"es256","#, .algorithmMismatch),
            (#""alg":7,"#, .algorithmMismatch), (#""alg":null,"#, .algorithmMismatch),
            (#""alg":"ECDH-ES","#, .algorithmMismatch),
        ] as [(String, KeyFailure?)])
    func algorithms(members: String, expected: KeyFailure?) { #expect(failure(jwk: self.with(members)) == expected) }

    @Test(
        "Ids are texts of bounded size",
        arguments: [
            (#""kid2":1,"#, nil), (#""kid":7,"#, .malformed), (#""kid":null,"#, .malformed),
            (#""kid":"\#(String(repeating: "k", count: 257))","#, .malformed),
        ] as [(String, KeyFailure?)])
    func ids(members: String, expected: KeyFailure?) {
        #expect(failure(jwk: self.with(members).replacing(#","kid":"ec-1""#, with: "")) == expected)
    }

    @Test("A key without an algorithm serves all of its type, one with an algorithm that one only")
    func serves() throws {
        let bare = #"{"kty":"RSA","n":"\#(encode(try member("n", of: TokenMint.rsa().jwk)))","e":"AQAB"}"#
        let key = try VerificationKey(jwk: Array(bare.utf8).span)
        #expect(Set(key.algorithms) == [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
        #expect(try VerificationKey(jwk: Array(TokenMint.rsa().jwk.utf8).span).algorithms == [.rs256])
        #expect(key.verifier(for: .hs256) == nil)
        #expect(key.verifier(for: .es256) == nil)
    }

    @Test("Both names of Ed25519 are one algorithm")
    func twoNames() throws {
        for name in [Algorithm.edDSA, .ed25519] {
            let key = try VerificationKey(jwk: Array(TokenMint.ed25519(algorithm: name).jwk.utf8).span)
            #expect(key.verifier(for: .edDSA) != nil)
            #expect(key.verifier(for: .ed25519) != nil)
        }
    }

    @Test(
        "Private members, secrets and texts that are no key",
        arguments: [
            (#"{"kty":"EC","crv":"P-256","d":"AA"}"#, .privateMembers), (#"{"kty":"RSA","k":"AA"}"#, .privateMembers),
            (#"{"kty":"oct","k":"AA"}"#, .symmetricKey), (#"{"kty":"ec"}"#, .unsupportedType), (#"{}"#, .malformed),
            (#"{"kty":1}"#, .malformed), ("[]", .malformed), ("", .malformed), (#"{"kty":"RSA"}"#, .malformed),
            (#"{"kty":"RSA","n":"A","e":"AQAB"}"#, .malformed), (#"{"kty":"RSA","n":5,"e":"AQAB"}"#, .malformed),
            (#"{"kty":"EC","kty":"RSA"}"#, .malformed), (#"{"kty":"AKP"}"#, .unsupportedType),
        ] as [(String, KeyFailure)])
    func others(jwk: String, expected: KeyFailure) { #expect(failure(jwk: jwk) == expected) }

    @Test("Secrets are at least as long as the hash")
    func secrets() throws {
        func oct(_ count: Int, _ algorithm: String) -> String {
            #"{"kty":"oct","k":"\#(encode([UInt8](repeating: 7, count: count)))","alg":"\#(algorithm)"}"#
        }
        #expect(failure(jwk: oct(32, "HS256"), allowsSecret: true) == nil)
        #expect(failure(jwk: oct(31, "HS256"), allowsSecret: true) == .shortSecret)
        #expect(failure(jwk: oct(47, "HS384"), allowsSecret: true) == .shortSecret)
        #expect(failure(jwk: oct(63, "HS512"), allowsSecret: true) == .shortSecret)
        #expect(failure(jwk: oct(0, "HS256"), allowsSecret: true) == .shortSecret)
        #expect(failure(jwk: oct(32, "A128GCM"), allowsSecret: true) == .algorithmMismatch)
        #expect(try VerificationKey(secret: [UInt8](repeating: 1, count: 48)).algorithms == [.hs256, .hs384])
        #expect(throws: KeyFailure.shortSecret) { try VerificationKey(secret: []) }
    }

    @Test("PEM that is no public key")
    func pem() throws {
        #expect(failure(pem: "") == .malformed)
        #expect(failure(pem: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n") == .malformed)
        #expect(failure(pem: try #require(PrivateKey.generateEC()?.privatePEM)) == .malformed)
        #expect(failure(pem: TokenMint.ec().publicPEM, algorithm: .es384) == .algorithmMismatch)
        #expect(failure(pem: TokenMint.ec().publicPEM, algorithm: .es256) == nil)
        #expect(failure(pem: TokenMint.ed25519().publicPEM) == nil)
    }
}
