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
        let development = Development(state: try options.value("--state") ?? ".askgate")
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
        try options.finish()
        guard let bytes = self.read(key) else { throw UsageFailure("the key file \(key) cannot be read") }
        return try self.issue(
            algorithm, key: bytes, keyID: keyID, claims: [("iss", issuer), ("aud", audience)] + claims,
            lifetime: lifetime, now: now)
    }

    /// A secret or a key from its file; nil when it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // A secret's file usually ends with a line feed that is no part of it.
        let text = bytes[..<count]
        let end = text.last == 0x0A && !text.starts(with: "-----".utf8) ? count - 1 : count
        return Array(text[..<end])
    }

    /// Signs claims, with the times and the identifier that access tokens need (RFC 9068 §2.2).
    static func issue(
        _ algorithm: Algorithm, key: [UInt8], keyID: String?, claims: [(String, String)], lifetime: TimeSpan,
        now: WallTime
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
            return String(decoding: try issuer.issue(claims: json.bytes), as: UTF8.self)
        } catch {
            throw UsageFailure("the token cannot be signed: \(error.metricLabel)")
        }
    }
}
