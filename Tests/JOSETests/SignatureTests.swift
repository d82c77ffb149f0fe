import GatewayTesting
import JOSE
import Testing

private func verdict(_ mint: TokenMint, _ token: String, keys: KeySet? = nil) -> TokenFailure? {
    let bytes = Array(token.utf8)
    do {
        let parsed = try CompactJWS(parsing: bytes.span)
        let header = try JWSHeader(parsing: parsed.header.span)
        let verifier = try (keys ?? mint.keySet).verifier(keyID: header.keyID, algorithm: header.algorithm)
        let signed = bytes.span.extracting(0..<parsed.signedByteCount)
        return verifier.verify(signed, signature: parsed.signature.span) ? nil : .badSignature
    } catch { return error }
}

private let mints: [TokenMint] = [
    .rsa(), .rsa(algorithm: .rs384), .rsa(algorithm: .rs512), .rsa(algorithm: .ps256), .rsa(algorithm: .ps384),
    .rsa(algorithm: .ps512), .ec(), .ec(algorithm: .es384), .ec(algorithm: .es512), .ed25519(),
    .ed25519(algorithm: .ed25519), .hmac([UInt8](repeating: 3, count: 64)),
    .hmac([UInt8](repeating: 3, count: 64), algorithm: .hs384),
    .hmac([UInt8](repeating: 3, count: 64), algorithm: .hs512),
]

@Suite("Signatures")
struct SignatureTests {
    @Test("A right signature is accepted, over and over", arguments: mints)
    func right(mint: TokenMint) {
        for number in 0..<20 { #expect(verdict(mint, mint.token(claims: "{\"n\":\(number)}")) == nil) }
    }

    @Test("Every other signature is refused", arguments: mints)
    func wrong(mint: TokenMint) {
        let signatures: [TokenMint.Signature] = [
            .zeros(1), .zeros(32), .zeros(64), .zeros(96), .zeros(132), .zeros(256), .flipped, .truncated, .extended,
            .bytes([UInt8](repeating: 0xFF, count: 64)), .bytes([UInt8](repeating: 0xFF, count: 256)),
        ]
        for signature in signatures {
            #expect(verdict(mint, mint.token(claims: "{}", signature: signature)) == .badSignature)
        }
        #expect(verdict(mint, mint.token(claims: "{}", signature: .empty)) == .malformed)
    }

    @Test("A changed header or payload is refused", arguments: mints)
    func changed(mint: TokenMint) {
        let parts = mint.token(claims: #"{"sub":"a"}"#).split(separator: ".")
        let other = mint.token(claims: #"{"sub":"b"}"#, header: mint.header(more: #""x":1"#)).split(separator: ".")
        #expect(verdict(mint, "\(parts[0]).\(other[1]).\(parts[2])") == .badSignature)
        #expect(verdict(mint, "\(other[0]).\(parts[1]).\(parts[2])") == .badSignature)
    }

    @Test("Another key of the same type is refused")
    func otherKey() {
        for (mint, other) in [
            (TokenMint.rsa(), TokenMint.rsa(keyID: "rsa-2")), (.ec(), .ec(keyID: "ec-2")),
            (.ed25519(), .ed25519(keyID: "ed-2")),
        ] {
            let forged = other.with(keyID: mint.keyID).token(claims: "{}")
            #expect(verdict(mint, forged) == .badSignature)
        }
    }

    @Test("DER instead of R‖S, and the DER of two zeros", arguments: [Algorithm.es256, .es384, .es512])
    func derForm(algorithm: Algorithm) {
        let mint = TokenMint.ec(algorithm: algorithm)
        #expect(verdict(mint, mint.token(claims: "{}", signature: .der)) == .badSignature)
        let zeros = TokenMint.Signature.bytes([0x30, 6, 2, 1, 0, 2, 1, 0])
        #expect(verdict(mint, mint.token(claims: "{}", signature: zeros)) == .badSignature)
    }

    @Test("Zero, the group's order, and one beside them")
    func edges() {
        let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let zero = [UInt8](repeating: 0, count: 32)
        let one = Array(zero.dropLast()) + [1]
        let mint = TokenMint.ec()
        for r in [zero, one, order] {
            for s in [zero, one, order] {
                #expect(verdict(mint, mint.token(claims: "{}", signature: .bytes(r + s))) == .badSignature)
            }
        }
    }

    @Test("An HMAC made with the public key's text is no signature")
    func confusion() throws {
        let rsa = TokenMint.rsa()
        let pem = rsa.publicPEM
        let texts = [pem, String(pem.dropLast()), rsa.jwk, rsa.jwks]
        for text in texts {
            for algorithm in [Algorithm.hs256, .rs256] {
                let token = rsa.token(
                    claims: "{}", header: rsa.with(algorithm: algorithm).header(),
                    signature: .hmac(secret: Array(text.utf8), .sha256))
                #expect(verdict(rsa, token) == (algorithm == .hs256 ? .keyMismatch : .badSignature))
            }
        }
    }

    @Test("PSS under the name of PKCS #1 and the other way about")
    func paddingSwap() throws {
        let n = TokenMint.rsa().jwk.replacing(#""alg":"RS256","#, with: "")
        let open = KeySet([try VerificationKey(jwk: Array(n.utf8).span)])
        for (named, used) in [(Algorithm.rs256, Algorithm.ps256), (.ps256, .rs256), (.rs256, .rs512), (.ps256, .ps384)]
        {
            let mint = TokenMint.rsa(algorithm: named)
            #expect(verdict(mint, mint.token(claims: "{}", signature: .with(used)), keys: open) == .badSignature)
            #expect(verdict(mint, mint.token(claims: "{}"), keys: open) == nil)
        }
    }

    @Test("A signature by a key on another curve than the algorithm's")
    func curveSwap() {
        let p384 = TokenMint.ec(keyID: "k", algorithm: .es384)
        let token = p384.token(claims: "{}", header: #"{"alg":"ES256","kid":"k"}"#)
        #expect(verdict(p384, token) == .keyMismatch)
    }

    @Test("Verifiers serve many threads at once")
    func threads() async {
        for mint in [TokenMint.rsa(), .ec(), .ed25519(), .hmac([UInt8](repeating: 1, count: 32))] {
            let keys = mint.keySet
            let good = mint.token(claims: "{}")
            let bad = mint.token(claims: "{}", signature: .flipped)
            let verdicts = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        (0..<50).allSatisfy { _ in
                            verdict(mint, good, keys: keys) == nil && verdict(mint, bad, keys: keys) == .badSignature
                        }
                    }
                }
                return await group.reduce(into: true) { $0 = $0 && $1 }
            }
            #expect(verdicts)
        }
    }
}
