import EventLoops
import GatewayTypes
import Glibc
import JOSE
import JSON

/// `askgate token`: issues an access token for development.
enum TokenCommand {
    static func run(_ options: inout Options) throws(UsageFailure) -> Int32 {
        let claims = try self.claims(&options)
        let lifetime = try options.duration("--lifetime") ?? .seconds(3600)
        let now = SystemClock().wallTime()
        if let key = try options.value("--key") {
            Terminal.show(try self.token(key: key, &options, claims: claims, lifetime: lifetime, now: now))
            return 0
        }
        for option in ["--algorithm", "--issuer", "--audience", "--key-id", "--typ"] {
            guard try options.value(option) == nil else { throw UsageFailure("\(option) needs --key FILE beside it") }
        }
        let development = Development(
            state: try options.value("--state") ?? ".askgate", environment: Environment.current)
        try options.finish()
        Terminal.show(try development.token(claims: claims, lifetime: lifetime, now: now))
        return 0
    }

    private static func claims(_ options: inout Options) throws(UsageFailure) -> [(String, String)] {
        var claims = [("sub", try options.value("--subject") ?? "demo-user"), ("client_id", "askgate-cli")]
        if let plan = try options.value("--plan") { claims.append(("plan", plan)) }
        if let scope = try options.value("--scope") { claims.append(("scope", scope)) }
        for claim in try options.values("--claim") {
            guard let sign = claim.firstIndex(of: "=") else { throw UsageFailure("--claim needs NAME=VALUE") }
            claims.append((String(claim[..<sign]), String(claim[claim.index(after: sign)...])))
        }
        return claims
    }

    private static func token(
        key: String, _ options: inout Options, claims: [(String, String)], lifetime: TimeSpan, now: WallTime
    ) throws(UsageFailure) -> String {
        let name = try options.value("--algorithm") ?? "HS256"
        guard let algorithm = Algorithm(rawValue: name) else { throw UsageFailure("there is no algorithm \(name)") }
        guard let issuer = try options.value("--issuer"), let audience = try options.value("--audience") else {
            throw UsageFailure("--key needs --issuer and --audience")
        }
        let keyID = try options.value("--key-id")
        // What the verifier asks for unless the configuration says otherwise.
        let type = try options.value("--typ") ?? "at+jwt"
        try options.finish()
        return try self.issue(
            algorithm, type: type, key: try SecretFile(key).bytes("the key"), keyID: keyID,
            claims: [("iss", issuer), ("aud", audience)] + claims, lifetime: lifetime, now: now)
    }

    /// Signs claims, with the times and the identifier that access tokens need (RFC 9068 §2.2).
    static func issue(
        _ algorithm: Algorithm, type: String = "JWT", key: [UInt8], keyID: String?, claims: [(String, String)],
        lifetime: TimeSpan, now: WallTime
    ) throws(UsageFailure) -> String {
        var json = JSONWriter()
        json.beginObject()
        for (name, value) in claims + [("jti", RequestID.random().description)] {
            var name = name
            name.withUTF8 { json.name(utf8: $0) }
            json.string(value)
        }
        json.name("iat")
        json.integer(Int(now.seconds))
        json.name("exp")
        json.integer(Int((now + lifetime).seconds))
        json.endObject()
        do {
            let issuer = try TokenIssuer(algorithm, key: key, keyID: keyID)
            return String(decoding: try issuer.issue(claims: json.bytes, type: type), as: UTF8.self)
        } catch {
            throw UsageFailure("the token cannot be signed: \(self.words(for: error, algorithm))")
        }
    }

    private static func words(for failure: TokenIssuer.Failure, _ algorithm: Algorithm) -> String {
        switch failure {
        case .unsupportedAlgorithm: "write an --algorithm of HS, RS or ES with 256, 384 or 512"
        case .unsuitableKey:
            switch algorithm {
            case .hs256: "HS256 needs a secret of 32 bytes or more"
            case .hs384: "HS384 needs a secret of 48 bytes or more"
            case .hs512: "HS512 needs a secret of 64 bytes or more"
            case .es256: "ES256 needs an unencrypted PEM private key of the curve P-256"
            case .es384: "ES384 needs an unencrypted PEM private key of the curve P-384"
            case .es512: "ES512 needs an unencrypted PEM private key of the curve P-521"
            default: "\(algorithm.rawValue) needs an unencrypted PEM private key, of RSA with 2048 bits or more"
            }
        case .invalidClaims: "the claims hold a name twice, or more than 6 KiB"
        case .signingFailed: "OpenSSL refuses the key"
        }
    }
}
