import Authentication
import GatewayTesting
import GatewayTypes
import Glibc
import JOSE
import Testing

/// PyJWT and a few lines around it, which do what it leaves to its callers: `typ`, the binding of key and algorithm,
/// and required claims.
private let judge = #"""
    from sys import argv; import json, datetime, jwt, jwt.api_jwt
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    class Fixed(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.datetime.fromtimestamp(1750000000, tz)

    jwt.api_jwt.datetime = Fixed
    keys = {}
    for key in json.load(open(argv[1])):
        keys[key["kid"]] = (key["alg"], load_pem_public_key(key["pem"].encode()))

    def accepts(token):
        header = jwt.get_unverified_header(token)
        typ = header.get("typ")
        if not isinstance(typ, str) or typ.lower() not in ("at+jwt", "application/at+jwt"):
            return False
        fitting = [key for key in keys.values() if key[0] == header["alg"]]
        if "kid" in header:
            found = keys[header["kid"]]
        elif len(fitting) == 1:
            found = fitting[0]
        else:
            return False
        jwt.decode(
            token, found[1], algorithms=[found[0]], audience="gateway", issuer="https://id.test", leeway=60,
            options={"require": ["exp", "iat", "iss", "aud", "sub", "jti", "client_id"]})
        return True

    for line in open(argv[2]):
        try:
            print(1 if accepts(line.rstrip("\n")) else 0)
        except Exception:
            print(0)
    """#

@Suite("A second opinion on tokens", .timeLimit(.minutes(5)))
struct SecondOpinionTests {
    /// Kinds that PyJWT accepts and we refuse, each on purpose.
    private static let stricter: [String: String] = [
        "cnf": "bound to a key that we do not check",
        "header crit": "no extension is understood; RFC 7515 §4.1.11 then asks for refusal",
        "header zip": "only encrypted tokens are compressed",
        "header enc": "an encrypted token is none of ours", "header twice": "RFC 7515 §5.2: members are unique",
        "payload twice": "RFC 7519 §4: claims are unique", "payload not a number": "NaN is no JSON",
        "payload bom": "RFC 8259 §8.1: no byte order mark",
        "blank sub": "names nobody", "long sub": "longer than 255 characters", "control in sub": "control characters",
        "sub \"\"": "names nobody", "jti \"\"": "names nothing", "client_id \"\"": "names nothing",
        "deep claim": "deeper than 8", "large claim": "payload above 6 KiB", "header large": "header above 2 KiB",
        "damage foreign sign": "PyJWT's base64 skips signs of no alphabet in the signature",
        "damage unread bits": "RFC 4648 §3.5: another spelling of the same signature",
        "damage padding": "RFC 7515 §2: no padding",
    ]
    /// Claims that PyJWT reads by `int()`, which also takes texts, booleans and any size.
    private static let numbers = ["exp", "iat", "nbf"]
    /// `client_id` is nobody's but RFC 9068's, and PyJWT looks only whether it is there.
    private static let unread = ["client_id"]
    /// Kinds that PyJWT refuses and we accept, each on purpose.
    private static let newer: [String: String] = [
        "header newer name": "RFC 9864's name of EdDSA, which PyJWT 2.10 does not know"
    ]

    private static let python: String? = {
        for path in [".build/venv/bin/python"] where access(path, X_OK) == 0 { return path }
        return nil
    }()

    private static func isPurpose(_ kind: String) -> Bool {
        if self.stricter[kind] != nil { return true }
        let words = kind.split(separator: " ").map(String.init)
        guard let name = words.first, words.count > 1 else { return false }
        if self.numbers.contains(name) { return words[1] == "number" || words[1] == "true" || words[1] == "false" }
        return self.unread.contains(name)
    }

    private func verdicts(_ tokens: [GeneratedToken], _ python: String) throws -> [Bool] {
        let folder = try TemporaryFolder()
        let keys = TokenGenerator.mints.map { mint in
            let pem = mint.publicPEM.replacing("\n", with: "\\n")
            return #"{"kid":"\#(mint.keyID)","alg":"\#(mint.algorithm.rawValue)","pem":"\#(pem)"}"#
        }
        let keyFile = try folder.write("keys.json", "[\(keys.joined(separator: ","))]")
        let tokenFile = try folder.write("tokens", tokens.map(\.token).joined(separator: "\n") + "\n")
        let script = try folder.write("judge.py", judge)
        let result = try ChildProcess.run(python, ["-W", "ignore", script, keyFile, tokenFile], within: .seconds(120))
        try #require(result.code == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map { $0 == "1" }
    }

    @Test("Ten thousand tokens, judged as PyJWT judges them")
    func agreement() throws {
        guard let python = Self.python else {
            if getenv("CI") != nil { Issue.record("no Python with PyJWT in .build/venv") }
            print("skipped: no Python with PyJWT in .build/venv")
            return
        }
        var generator = TokenGenerator(seed: 4)
        let tokens = (0..<10_500).map { _ in generator.token() }
        let verdicts = try self.verdicts(tokens, python)
        try #require(verdicts.count == tokens.count)
        let bench = try Bench {
            $0.keys = TokenMint.keySet(TokenGenerator.mints)
            $0.algorithms = [.rs256, .ps256, .es256, .es384, .es512, .edDSA, .ed25519]
        }
        var accepted = 0
        var faults: [String: Int] = [:]
        var used: Set<String> = []
        for (token, theirs) in zip(tokens, verdicts) {
            let failure = bench.failure(token.token)
            if failure == nil { accepted += 1 }
            if theirs == (failure == nil) { continue }
            if failure == nil {
                if Self.newer[token.kind] == nil { faults["accepted: \(token.kind)", default: 0] += 1 }
            } else if Self.isPurpose(token.kind) {
                used.insert(token.kind)
            } else {
                faults["refused: \(token.kind): \(failure?.metricLabel ?? "")", default: 0] += 1
            }
        }
        #expect(faults.isEmpty, "\(faults.sorted { $0.key < $1.key })")
        let idle = Self.stricter.keys.filter { !used.contains($0) }.sorted()
        #expect(idle.isEmpty, "differences that are listed and do not exist: \(idle)")
        // Enough of both, so that agreement says something.
        #expect((2000...8000).contains(accepted), "\(accepted) accepted")
    }
}
