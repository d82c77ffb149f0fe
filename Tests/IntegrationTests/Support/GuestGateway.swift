import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// A gateway with guests, an embedded provider, and tests before it as trusted proxies.
final class GuestGateway: Sendable {
    /// What the configuration says.
    struct Settings: Sendable {
        var store = "{kind: memory}"
        var proxies = "[127.0.0.1]"
        var failures = 3000
        var loops = 2
        /// Keys of guests' tokens, newest first.
        var keys = ["new", "old"]
        var sessionsPerMinute = 100
        /// Another provider than the embedded one.
        var provider: String?
        var guestLimits =
            "{name: requests_per_minute, limit: 100}, {name: tokens_per_day, limit: 100000}, "
            + "{name: requests_per_minute, scope: address, limit: 1000}"

        func yaml(api: UInt16, admin: UInt16) -> String {
            """
            listeners: {api: {address: 127.0.0.1, port: \(api)}, admin: {address: 127.0.0.1, port: \(admin)}}
            loops: \(self.loops)
            store: \(self.store)
            operators: \(Operators.yaml)
            http:
              failed_authentications: \(self.failures)
            \(self.proxies == "none" ? "" : "  trusted_proxies: \(self.proxies)")
            providers: {demo: {dialect: demo}\(self.provider.map { ", other: \($0)" } ?? "")}
            tenants:

            """ + self.tenant("acme") + self.tenant("borealis")
        }

        private var route: String {
            self.provider == nil ? "{provider: demo}" : "{provider: other, model: m-other}"
        }

        private func tenant(_ name: String) -> String {
            let keys = self.keys.map { "{hmac_secret: {file: \($0).secret}, kid: \($0)}" }.joined(separator: ", ")
            return """
                  \(name):
                    default_plan: member
                    guest_plan: guest
                    issuers:
                      - issuer: https://id.\(name).test
                        audience: \(name)-app
                        algorithms: [HS256]
                        accept_typ: [at+jwt, JWT]
                        profile: plain
                        keys: {hmac_secret: {file: accounts.secret}, kid: accounts}
                      - issuer: https://guests.\(name).test
                        audience: \(name)-app
                        algorithms: [HS256]
                        keys: [\(keys)]
                        guest: true
                        name_secret: {file: names.secret}
                        token_lifetime: 1h
                        sessions_per_minute: \(self.sessionsPerMinute)
                    plans:
                      member: {limits: [{name: requests_per_minute, limit: 1000}, {name: tokens_per_day, limit: 100000}]}
                      single: {limits: [{name: requests_per_minute, limit: 1}, {name: tokens_per_day, limit: 100000}]}
                      guest: {limits: [\(self.guestLimits)]}
                    tasks:
                      summarize: {text: {min_characters: 1}, routes: [\(self.route)]}

                """
        }
    }

    private static let accountsSecret = Array("accounts-secret-of-more-than-32-bytes".utf8)
    static let accounts = TokenMint.hmac(accountsSecret, keyID: "accounts")

    let process: GatewayProcess

    init(_ settings: Settings = Settings()) throws {
        let folder = try TemporaryFolder()
        try folder.write("accounts.secret", Self.accountsSecret)
        for name in ["new", "old", "names"] {
            try folder.write("\(name).secret", Array("\(name)-secret-that-has-more-than-32-bytes".utf8))
        }
        self.process = try GatewayProcess(in: folder) { settings.yaml(api: $0, admin: $1) }
    }

    /// Two instances beside one Redis.
    static func pair(_ redis: RedisServer, _ change: (inout Settings) -> Void = { _ in }) throws -> [GuestGateway] {
        var settings = Settings()
        settings.store = "{kind: redis, address: '127.0.0.1:\(redis.port)', timeout: 2s, instances: 2}"
        change(&settings)
        return try (0..<2).map { _ in try GuestGateway(settings) }
    }

    // MARK: Calls

    func call(
        _ method: String, _ path: String, _ body: String = "", token: String? = nil, from address: String? = nil
    ) throws -> HTTPResponse {
        let client = try RawClient(port: self.process.port, limit: .seconds(20))
        defer { client.close() }
        var headers = [("Connection", "close")]
        if !body.isEmpty { headers.append(("Content-Type", "application/json")) }
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        if let address { headers.append(("X-Forwarded-For", address)) }
        try client.request(method, path, headers: headers, body: Array(body.utf8))
        return try #require(try client.response())
    }

    /// A new guest token of an installation.
    func guest(
        _ installation: String, tenant: String = "acme", from address: String = "192.0.2.1"
    ) throws -> HTTPResponse {
        try self.call(
            "POST", "/v1/guest-sessions", #"{"tenant":"\#(tenant)","installationId":"\#(installation)"}"#,
            from: address)
    }

    func guestToken(_ installation: String, from address: String = "192.0.2.1") throws -> String {
        let answer = try self.guest(installation, from: address)
        try #require(answer.status == 201, "\(answer.text)")
        return try #require(answer.json?["accessToken"]?.string)
    }

    func ask(_ token: String, from address: String? = nil) throws -> HTTPResponse {
        try self.call(
            "POST", "/api/process", #"{"task":"summarize","text":"The harbour opened at dawn, and boats came in."}"#,
            token: token, from: address)
    }

    /// Begins a streamed ask and reads the head of its answer.
    func stream(as token: String) throws -> (client: RawClient, id: String?) {
        let client = try RawClient(port: self.process.port, limit: .seconds(20))
        try client.request(
            "POST", "/api/process",
            headers: [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")],
            body: Array(
                #"{"task":"summarize","text":"The harbour opened at dawn, and boats came in.","stream":true}"#.utf8))
        let head = try client.head()
        try #require(head.status == 200)
        return (client, head.header("x-request-id"))
    }

    func claim(_ guest: String, as account: String) throws -> HTTPResponse {
        try self.call("POST", "/v1/guest-sessions/claim", #"{"guestToken":"\#(guest)"}"#, token: account)
    }

    /// Tokens used today, as the gateway tells the caller.
    func tokensUsed(_ token: String) throws -> Int {
        let answer = try self.call("GET", "/v1/quota", token: token)
        try #require(answer.status == 200, "\(answer.text)")
        let limits = try #require(answer.json?["limits"]).elements
        return try #require(limits.first { $0["name"]?.string == "tokens_per_day" }?["used"]?.int)
    }

    /// Tokens used today once what was asked is settled, which no answer waits for: when they change no more.
    func tokensSettled(_ token: String) throws -> Int {
        var used = try self.tokensUsed(token)
        var seen = 0
        while seen < 5 {
            Stopwatch.sleep(milliseconds: 20)
            let now = try self.tokensUsed(token)
            seen = now == used ? seen + 1 : 0
            used = now
        }
        return used
    }

    func steer(_ method: String, _ path: String, _ body: String = "", status: Int = 200) throws -> JSONValue {
        let client = try RawClient(port: self.process.adminPort)
        defer { client.close() }
        try client.request(
            method, "/admin/v1" + path,
            headers: [("Authorization", "Bearer \(Operators.boss)"), ("Content-Type", "application/json")],
            body: Array(body.utf8))
        let response = try #require(try client.response())
        #expect(response.status == status, "\(response.text)")
        return try #require(response.json)
    }

    /// A token of an account.
    static func account(
        _ subject: String, tenant: String = "acme", _ changes: [String: String?] = [:]
    ) -> String {
        let header = Self.accounts.header(type: "JWT")
        let claims = TokenMint.claims(
            issuer: "https://id.\(tenant).test", audience: "\(tenant)-app", subject: subject,
            now: Int64(Stopwatch.wallSeconds()), changes: changes)
        return Self.accounts.token(claims: claims, header: header)
    }
}
