import GatewayTesting

/// What the configuration of a gateway under test says.
///
/// Plans are named for the one limit that they set low: `rpm-5` admits five asks a minute, `day-1000` a thousand tokens
/// a day, `conc-1` one ask at a time; `open` sets none low. A token's `plan` claim chooses.
struct GatewaySettings: Sendable {
    var requestsPerMinute = [0, 1, 2, 3, 5, 10]
    var tokensPerDay = [0, 100, 1000]
    var concurrentRequests = [1, 2]
    var loops = 2
    var store = "{kind: memory}"
    /// The listener for other instances, as flow YAML; nil for none.
    var hopListener: String?
    /// Bounds of answers that are kept, as flow YAML.
    var questions = "{}"
    /// What every limit does while the store does not answer; nil says nothing of it.
    var outage: String?
    var zone = "UTC"
    var accessLog = "stdout"
    /// Of the tenant acme, as flow YAML.
    var acceptedTypes = "[at+jwt, JWT]"
    /// Who may use the admin API, as flow YAML; see `Operators`.
    var operators = Operators.yaml
    /// What a member of `http` reads besides, as flow YAML.
    var http = "{heartbeat: 15s, drain: {deadline: 20s}}"
    var providerTimeouts = "{connect: 2s, first_byte: 20s, idle: 20s, total: 60s}"
    /// Of the provider `main`; off, since one fake plays the failing and the working providers of many tests.
    var breaker = "off"
    /// Where the provider `main` is; nil for the gateway's own fake one.
    var providerURL: String?
    /// Tasks added to the four that are built in, one line each.
    var tasks = [
        "short: {builtin: summarize, text: {min_characters: 1, max_characters: 25}, tones: [formal, friendly], "
            + "routes: [{provider: main, model: m-short}]}",
        "tiny: {builtin: summarize, text: {min_characters: 1}, max_output_tokens: 40, "
            + "routes: [{provider: main, model: m-tiny}]}",
        "late: {builtin: summarize, text: {min_characters: 1}, on_disconnect: finish, "
            + "routes: [{provider: main, model: m-late}]}",
        "scoped: {builtin: summarize, required_scope: special, routes: [{provider: main, model: m-scoped}]}",
    ]

    func yaml(api: UInt16, admin: UInt16, provider: String) -> String {
        """
        listeners:
          api: {address: 127.0.0.1, port: \(api)}
          admin: {address: 127.0.0.1, port: \(admin)}\(self.hopListener.map { "\n  internal: \($0)" } ?? "")
        loops: \(self.loops)
        store: \(self.store)
        log: {access: \(self.accessLog)}
        http: \(self.http)
        questions: \(self.questions)
        operators: \(self.operators)
        providers:
          main:
            dialect: openai
            base_url: \(self.providerURL ?? provider)
            key: {env: TEST_PROVIDER_KEY}
            breaker: \(self.breaker)
            timeouts: \(self.providerTimeouts)
            max_connections: 256
        tenants:
          acme:
            zone: \(self.zone)
            default_plan: open
            issuers:
              - issuer: \(Issuers.acme)
                audience: \(Issuers.acmeAudience)
                algorithms: [RS256, ES256, EdDSA]
                accept_typ: \(self.acceptedTypes)
                profile: plain
                keys: {jwks_file: acme.json}
                plan_claim: {path: plan, values: {\(self.planNames.map { "\($0): \($0)" }.joined(separator: ", "))}}
            plans:
        \(self.plans)
            tasks:
              summarize: {routes: [{provider: main, model: m-summarize}]}
              rewrite: {routes: [{provider: main, model: m-rewrite}]}
              key-points: {routes: [{provider: main, model: m-key-points}]}
              titles: {routes: [{provider: main, model: m-titles}]}
        \(self.tasks.map { "      \($0)" }.joined(separator: "\n"))
          borealis:
            zone: UTC
            default_plan: open
            issuers:
              - issuer: \(Issuers.borealis)
                audience: \(Issuers.borealisAudience)
                algorithms: [HS256]
                accept_typ: [JWT]
                profile: plain
                keys: {hmac_secret: {file: borealis.secret}, kid: borealis-hs}
            plans:
              open: {limits: [{name: requests_per_minute, limit: 100000}, {name: tokens_per_day, limit: 100000000}]}
            tasks:
              summarize: {routes: [{provider: main, model: m-borealis}]}

        """
    }

    private var planNames: [String] {
        self.requestsPerMinute.map { "rpm-\($0)" } + self.tokensPerDay.map { "day-\($0)" }
            + self.concurrentRequests.map { "conc-\($0)" } + ["open", "narrow"]
    }

    private var plans: String {
        let low =
            self.requestsPerMinute.map { ("rpm-\($0)", self.limits(minute: $0)) }
            + self.tokensPerDay.map { ("day-\($0)", self.limits(day: $0)) }
            + self.concurrentRequests.map { ("conc-\($0)", self.limits(running: $0)) }
        let all = low + [("open", self.limits()), ("narrow", "tasks: [titles], " + self.limits())]
        return all.map { "      \($0): {\($1)}" }.joined(separator: "\n")
    }

    private func limits(minute: Int = 1_000_000, day: Int = 1_000_000_000, running: Int = 10_000) -> String {
        let limits = [("requests_per_minute", minute), ("tokens_per_day", day), ("concurrent_requests", running)]
        let stance = self.outage.map { ", on_outage: \($0)" } ?? ""
        let lines = limits.map { "{name: \($0), limit: \($1)\(stance)}" }
        return "limits: [\(lines.joined(separator: ", "))]"
    }
}

/// The issuers that the gateway under test trusts.
enum Issuers {
    static let acme = "https://id.acme.test"
    static let acmeAudience = "acme-app"
    static let borealis = "https://id.borealis.test"
    static let borealisAudience = "borealis-app"

    static let rsa = TokenMint.rsa(keyID: "acme-rsa")
    static let ec = TokenMint.ec(keyID: "acme-ec")
    static let ed = TokenMint.ed25519(keyID: "acme-ed")
    /// A key of the same kind that nobody trusts.
    static let stranger = TokenMint.rsa(keyID: "stranger")
    static let secret = Array("borealis-secret-of-more-than-32-bytes".utf8)
    static let hmac = TokenMint.hmac(secret, keyID: "borealis-hs")
    static let jwks = TokenMint.jwks([rsa, ec, ed])
}
