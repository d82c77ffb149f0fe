import GatewayTesting
import GatewayTypes
import JOSE

/// A token and what was done to it.
struct GeneratedToken {
    var kind: String
    var token: String
}

/// Makes tokens without end: good ones, and every way of being a little wrong. The same every time.
struct TokenGenerator {
    static let mints = [
        TokenMint.rsa(), TokenMint.rsa(keyID: "ps-1", algorithm: .ps256), TokenMint.ec(),
        TokenMint.ec(keyID: "ec-384", algorithm: .es384), TokenMint.ec(keyID: "ec-512", algorithm: .es512),
        TokenMint.ed25519(),
    ]
    private static let now = 1_750_000_000
    private var random: SeededNumbers

    init(seed: UInt64) { self.random = SeededNumbers(seed: seed) }

    private mutating func next(_ limit: Int) -> Int { Int(self.random.next() % UInt64(max(1, limit))) }

    mutating func token() -> GeneratedToken {
        let mint = Self.mints[self.next(Self.mints.count)]
        switch self.next(8) {
        case 0: return GeneratedToken(kind: "good", token: mint.token(claims: self.claims([:])))
        case 1, 2, 3: return self.withClaims(mint)
        case 4: return self.withHeader(mint)
        case 5: return self.withSignature(mint)
        default: return self.damaged(mint)
        }
    }

    private mutating func claims(_ changes: [String: String?]) -> String {
        TokenMint.claims(
            subject: "user-\(self.next(1000))",
            changes: ["exp": "\(Self.now + 61 + self.next(5000))", "iat": "\(Self.now - self.next(5000))"]
                .merging(changes) { $1 })
    }

    // MARK: Claims

    private static let claimCases: [(String, [String: String?])] = {
        var cases: [(String, [String: String?])] = []
        for name in ["iss", "aud", "sub", "exp", "iat", "jti", "client_id"] {
            cases.append(("absent \(name)", [name: nil]))
            for value in ["null", "[]", "{}", "true", "false", "\"\"", "[null]", "[[\"gateway\"]]", "{\"a\":1}"] {
                cases.append(("\(name) \(value)", [name: value]))
            }
        }
        for shift in [-1_000_000, -300, -61, -59, -1, 0, 1, 59, 61, 300, 1_000_000] {
            for name in ["exp", "nbf", "iat"] { cases.append(("\(name) shift", [name: "\(Self.now + shift)"])) }
            cases.append(("exp fraction", ["exp": "\(Self.now + shift).25"]))
        }
        for text in ["1e400", "-1", "\"\(Self.now + 100)\"", "1e300", "9007199254740993", "0", "-0", "1.8e9"] {
            for name in ["exp", "nbf", "iat"] { cases.append(("\(name) number \(text)", [name: text])) }
        }
        for audience in [
            #""gateway""#, #"["gateway"]"#, #"["x","gateway"]"#, #"["x","y"]"#, #""Gateway""#, #""gateway ""#,
            #""gateway2""#, #""gate""#, #"["gateway",7]"#, #"[7]"#, #"{"gateway":"gateway"}"#, #"7"#,
            #""gatew\u0061y""#,
        ] { cases.append(("aud forms", ["aud": audience])) }
        for issuer in [
            #""https://id.test/""#, #""https://ID.test""#, #""https://id.test.evil""#, #""http://id.test""#,
            #""https://id.tes""#, #"["https://id.test"]"#, #""https://id.t\u0065st""#, #"" https://id.test""#,
        ] { cases.append(("iss forms", ["iss": issuer])) }
        cases.append(("cnf", ["cnf": #"{"jkt":"x"}"#]))
        cases.append(("blank sub", ["sub": #""  ""#]))
        cases.append(("long sub", ["sub": "\"\(String(repeating: "u", count: 256))\""]))
        cases.append(("control in sub", ["sub": #""a\u0000b""#]))
        cases.append(("sub number", ["sub": "7"]))
        cases.append(("other claims", ["x": #"[1,{"y":null}]"#, "scope": #""a b""#, "name": #""Zoë ✓""#]))
        cases.append(("deep claim", ["x": String(repeating: "[", count: 9) + String(repeating: "]", count: 9)]))
        cases.append(("large claim", ["x": "\"\(String(repeating: "x", count: 6100))\""]))
        return cases
    }()

    private mutating func withClaims(_ mint: TokenMint) -> GeneratedToken {
        if self.next(12) == 0 { return self.withText(mint) }
        let (kind, changes) = Self.claimCases[self.next(Self.claimCases.count)]
        return GeneratedToken(kind: kind, token: mint.token(claims: self.claims(changes)))
    }

    /// Payloads that are no plain JSON object.
    private mutating func withText(_ mint: TokenMint) -> GeneratedToken {
        let good = self.claims([:])
        let rest = good.dropFirst()
        let texts: [(String, String)] = [
            ("no object", "[\(good)]"), ("no object", "null"), ("no object", "\"\(self.next(9))\""), ("no json", ""),
            ("no json", "{"), ("no json", good + "}"), ("no json", "{'sub':1}"), ("no json", String(good.dropLast())),
            ("no json", good.replacing("}", with: ",}")), ("tail nul", good + "\0"), ("bom", "\u{FEFF}" + good),
            ("space", " \n\(good)\t "), ("twice", "{\"sub\":\"first\",\(rest)"),
            ("twice", "{\"exp\":99999999999,\(rest)"), ("not a number", "{\"x\":NaN,\(rest)"),
            ("escaped name", good.replacing("\"aud\"", with: "\"\\u0061ud\"")),
        ]
        let (kind, text) = texts[self.next(texts.count)]
        return GeneratedToken(kind: "payload \(kind)", token: mint.token(claims: text))
    }

    // MARK: Header

    private mutating func withHeader(_ mint: TokenMint) -> GeneratedToken {
        let (alg, kid) = (mint.algorithm.rawValue, mint.keyID)
        func header(_ members: String) -> String { #"{"alg":"\#(alg)","kid":"\#(kid)",\#(members)}"# }
        let headers: [(String, String)] = [
            ("typ", header(#""typ":"at+jwt""#)), ("typ", header(#""typ":"AT+JWT""#)), ("typ", header(#""typ":"JWT""#)),
            ("typ", header(#""typ":"application/at+jwt""#)), ("typ", header(#""typ":"application/jwt""#)),
            ("typ", header(#""typ":"""#)), ("typ", header(#""typ":"dpop+jwt""#)), ("typ", header(#""cty":"x""#)),
            ("typ kind", header(#""typ":7"#)), ("typ kind", header(#""typ":null"#)),
            ("typ kind", header(#""typ":["at+jwt"]"#)),
            ("cty", header(#""typ":"at+jwt","cty":"JWT""#)), ("crit", header(#""typ":"at+jwt","crit":["x"],"x":1"#)),
            ("crit", header(#""typ":"at+jwt","crit":["b64"],"b64":true"#)),
            ("crit", header(#""typ":"at+jwt","crit":[]"#)),
            ("b64", header(#""typ":"at+jwt","b64":false"#)), ("zip", header(#""typ":"at+jwt","zip":"DEF""#)),
            ("enc", header(#""typ":"at+jwt","enc":"A128GCM""#)),
            ("links", header(#""typ":"at+jwt","jku":"https://evil.test/k","x5u":"https://evil.test/c""#)),
            ("links", header(#""typ":"at+jwt","jwk":\#(TokenMint.ec(keyID: "own").jwk)"#)),
            ("twice", header(#""typ":"at+jwt","alg":"\#(alg)""#)),
            ("twice", header(#""typ":"at+jwt","kid":"\#(kid)""#)),
            ("no kid", #"{"alg":"\#(alg)","typ":"at+jwt"}"#),
            ("other kid", #"{"alg":"\#(alg)","kid":"\#(Self.mints[self.next(6)].keyID)","typ":"at+jwt"}"#),
            ("unknown kid", #"{"alg":"\#(alg)","kid":"\#(kid.uppercased())","typ":"at+jwt"}"#),
            ("unknown kid", #"{"alg":"\#(alg)","kid":"../\#(kid)","typ":"at+jwt"}"#),
            ("kid kind", #"{"alg":"\#(alg)","kid":7,"typ":"at+jwt"}"#),
            ("kid null", #"{"alg":"\#(alg)","kid":null,"typ":"at+jwt"}"#),
            ("alg", #"{"alg":"none","kid":"\#(kid)","typ":"at+jwt"}"#), ("alg", #"{"kid":"\#(kid)","typ":"at+jwt"}"#),
            ("alg", #"{"alg":"\#(alg.lowercased())x","kid":"\#(kid)","typ":"at+jwt"}"#),
            ("alg", #"{"alg":["\#(alg)"],"kid":"\#(kid)","typ":"at+jwt"}"#),
            ("alg", #"{"alg":"HS256","kid":"\#(kid)","typ":"at+jwt"}"#),
            ("other alg", #"{"alg":"\#(Self.mints[self.next(6)].algorithm.rawValue)","kid":"\#(kid)","typ":"at+jwt"}"#),
            ("newer name", #"{"alg":"Ed25519","kid":"ed-1","typ":"at+jwt"}"#), ("no json", "{"), ("no json", ""),
            ("no object", "[]"), ("no object", "\"x\""), ("tail", header(#""typ":"at+jwt""#) + "x"),
            ("large", header(#""typ":"at+jwt","x":"\#(String(repeating: "x", count: 2100))""#)),
        ]
        let (kind, text) = headers[self.next(headers.count)]
        let signer = kind == "newer name" ? TokenMint.ed25519() : mint
        return GeneratedToken(kind: "header \(kind)", token: signer.token(claims: self.claims([:]), header: text))
    }

    // MARK: Signature and form

    private mutating func withSignature(_ mint: TokenMint) -> GeneratedToken {
        let isElliptic = mint.algorithm.family == .ecdsa
        let signatures: [(String, TokenMint.Signature)] = [
            ("empty", .empty), ("zeros", .zeros(64)), ("zeros", .zeros(256)), ("flipped", .flipped),
            ("truncated", .truncated), ("extended", .extended),
            ("public key as secret", .hmac(secret: Array(mint.publicPEM.utf8), .sha256)),
            (isElliptic ? "der" : "right", isElliptic ? .der : .right),
        ]
        let (kind, signature) = signatures[self.next(signatures.count)]
        let header = kind == "public key as secret" && self.next(2) == 0 ? mint.with(algorithm: .hs256).header() : nil
        return GeneratedToken(
            kind: "signature \(kind)", token: mint.token(claims: self.claims([:]), header: header, signature: signature)
        )
    }

    private mutating func damaged(_ mint: TokenMint) -> GeneratedToken {
        var parts = mint.token(claims: self.claims([:])).split(separator: ".").map { Array($0.utf8) }
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let part = self.next(3)
        // The last letter may hold bits that nobody reads.
        let place = self.next(parts[part].count - 1)
        let kind: String
        switch self.next(9) {
        case 0, 1:
            kind = "letter"
            let other = letters.filter { $0 != parts[part][place] }
            parts[part][place] = other[self.next(other.count)]
        case 2:
            kind = "cut"
            parts[part] = Array(parts[part].prefix(place))
        case 3:
            kind = "added"
            parts[part].insert(letters[self.next(64)], at: place)
        case 4:
            kind = "foreign sign"
            parts[part].insert(Array("!=+/ ?~".utf8)[self.next(7)], at: place)
        case 5:
            kind = "unread bits"
            let index = letters.firstIndex(of: parts[2][parts[2].count - 1]) ?? 0
            if parts[2].count % 4 != 0 { parts[2][parts[2].count - 1] = letters[index ^ 1] }
        case 6:
            kind = "padding"
            parts[2] += Array("==".utf8)
        case 7:
            kind = "swapped"
            parts.swapAt(part, (part + 1) % 3)
        default:
            kind = "parts"
            if self.next(2) == 0 { parts.removeLast() } else { parts.append(parts[self.next(3)]) }
        }
        let text = parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
        return GeneratedToken(kind: "damage \(kind)", token: text)
    }
}
