import GatewayTesting
import GatewayTypes
import JSON
import Testing

private let old = TokenMint.rsa(keyID: "old")
private let new = TokenMint.ec(keyID: "new")

/// A gateway with two tenants of one issuer, whose keys it fetches.
private final class KeyGateway {
    let issuer: MiniIssuer
    let process: GatewayProcess

    init(
        _ issuer: MiniIssuer, in folder: TemporaryFolder, required: Bool = true, waitsFor: String = "/readyz"
    ) throws {
        self.issuer = issuer
        self.process = try GatewayProcess(in: folder, waitsFor: waitsFor) { api, admin in
            func tenant(_ name: String) -> String {
                """
                  \(name):
                    default_plan: small
                    issuers:
                      - issuer: \(issuer.url)
                        audience: app-\(name)
                        algorithms: [RS256, ES256]
                        keys: {discovery: true, cooldown: 1s, timeout: 1s, required: \(required)}
                    plans:
                      small: {limits: [{name: requests_per_minute, limit: 2}]}
                    tasks:
                      summarize: {text: {min_characters: 1}, routes: [{provider: demo, model: small}]}
                      scoped: {builtin: summarize, required_scope: special, routes: [{provider: demo, model: small}]}

                """
            }
            return """
                listeners: {api: {address: 127.0.0.1, port: \(api)}, admin: {address: 127.0.0.1, port: \(admin)}}
                loops: 2
                identity: {state_directory: state}
                providers: {demo: {dialect: demo}}
                tenants:

                """ + tenant("one") + tenant("two")
        }
    }

    func token(
        _ mint: TokenMint = old, tenant: String = "one", subject: String, _ changes: [String: String?] = [:]
    ) -> String {
        mint.token(
            claims: TokenMint.claims(
                issuer: self.issuer.url, audience: "app-\(tenant)", subject: subject,
                now: Int64(Stopwatch.wallSeconds()), changes: changes))
    }

    func call(_ method: String, _ path: String, _ token: String, body: String? = nil) throws -> HTTPResponse {
        let client = try RawClient(port: self.process.port, limit: .seconds(20))
        let type = body == nil ? [] : [("Content-Type", "application/json")]
        try client.request(
            method, path, headers: [("Authorization", "Bearer \(token)"), ("Connection", "close")] + type,
            body: Array((body ?? "").utf8))
        return try #require(try client.response())
    }

    func ask(_ token: String, task: String = "summarize") throws -> HTTPResponse {
        try self.call("POST", "/api/process", token, body: #"{"task":"\#(task)","text":"Some text to work on."}"#)
    }

    /// What a subject has left, as the gateway tells it.
    func remaining(_ token: String) throws -> String { try self.call("GET", "/v1/quota", token).text }
}

@Suite("Keys fetched from issuers", .oneOfFewThreads)
struct KeySetTests {
    @Test("The first token of a new key is answered, an unpublished key no longer")
    func rotation() throws {
        let gateway = try KeyGateway(MiniIssuer([old]), in: TemporaryFolder())
        #expect(try gateway.ask(gateway.token(subject: "a")).status == 200)
        Stopwatch.sleep(milliseconds: 1100)
        gateway.issuer.publish([new])
        #expect(try gateway.ask(gateway.token(new, subject: "b")).status == 200)
        #expect(try gateway.ask(gateway.token(subject: "a")).status == 401)
    }

    @Test("Random key ids are refused, cost a fetch a cooldown at most, and disturb nobody")
    func flood() throws {
        let gateway = try KeyGateway(MiniIssuer([old]), in: TemporaryFolder())
        let watch = Stopwatch()
        for index in 0..<200 {
            let token = gateway.token(old.with(keyID: "random-\(index)"), subject: "a")
            let response = try gateway.ask(token)
            #expect(response.status == 401)
        }
        #expect(gateway.issuer.fetches() <= 2 + watch.milliseconds / 1000)
        #expect(try gateway.ask(gateway.token(subject: "a")).status == 200)
    }

    @Test("Tokens are neither good nor bad while keys were never seen, and good once they are")
    func downAtStart() throws {
        let issuer = try MiniIssuer([old])
        let port = issuer.port
        issuer.stop()
        let gateway = try KeyGateway(issuer, in: TemporaryFolder(), required: false)
        let response = try gateway.ask(gateway.token(subject: "a"))
        #expect(response.status == 503, "\(response.text)")
        #expect(response.text.contains("identity_unavailable"))
        #expect(response.header("retry-after") != nil)
        let back = try MiniIssuer([old], on: port)
        #expect(try gateway.ask(gateway.token(subject: "a")).status == 200)
        back.stop()
    }

    @Test("Trouble with keys is told once with issuer and address, and so is its end")
    func trouble() throws {
        let issuer = try MiniIssuer([old])
        let (port, url) = (issuer.port, issuer.url)
        issuer.stop()
        let gateway = try KeyGateway(issuer, in: TemporaryFolder(), waitsFor: "/livez")
        func lines(_ message: String) -> [Substring] {
            gateway.process.child.standardError.split(separator: "\n").filter { $0.contains(message) }
        }
        let message = "keys of an issuer cannot be fetched"
        #expect(Stopwatch.wait(upTo: .seconds(15), every: 20) { !lines(message).isEmpty })
        for part in [
            #""issuer":"\#(url)""#, #""address":"\#(url)/.well-known/openid-configuration""#,
            #""outcome":"unreachable","document":"metadata""#,
        ] {
            #expect(lines(message).allSatisfy { $0.contains(part) }, "\(lines(message))")
        }
        let readiness = try #require(gateway.process.admin("/readyz"))
        #expect(readiness.status == 503 && readiness.json?["issuers"]?[0]?.string == url)
        let failures = { gateway.process.metrics.value("askgate_key_set_fetches_total", ["outcome": "unreachable"]) }
        #expect(
            Stopwatch.wait(upTo: .seconds(20), every: 100) {
                _ = try? gateway.ask(gateway.token(subject: "a"))
                return failures() >= 2
            })
        #expect(lines(message).count == 1)
        let back = try MiniIssuer([old], on: port)
        #expect(
            Stopwatch.wait(upTo: .seconds(20), every: 100) {
                (try? gateway.ask(gateway.token(subject: "a")).status) == 200
            })
        #expect(Stopwatch.wait(upTo: .seconds(15), every: 20) { lines("can be fetched again").count == 1 })
        #expect(gateway.process.isReady)
        back.stop()
    }

    @Test("A restart while the issuer is down is ready with the keys of before")
    func restart() throws {
        let folder = try TemporaryFolder()
        let issuer = try MiniIssuer([old])
        let first = try KeyGateway(issuer, in: folder)
        #expect(try first.ask(first.token(subject: "a")).status == 200)
        Stopwatch.sleep(milliseconds: 300)
        #expect(first.process.stop() == 0)
        issuer.stop()
        let second = try KeyGateway(issuer, in: folder)
        #expect(try second.ask(second.token(subject: "a")).status == 200)
    }

    @Test("One name in two tenants is two people, and no token serves both")
    func tenants() throws {
        let gateway = try KeyGateway(MiniIssuer([old]), in: TemporaryFolder())
        let (one, two) = (gateway.token(subject: "same"), gateway.token(tenant: "two", subject: "same"))
        let untouched = try gateway.remaining(two)
        for _ in 0..<2 { #expect(try gateway.ask(one).status == 200) }
        #expect(try gateway.ask(one).status == 429)
        #expect(try gateway.remaining(two) == untouched)
        let crossed: [[String: String?]] = [
            ["aud": #"["app-one","app-two"]"#], ["aud": #""app-three""#], ["aud": nil], ["iss": #""https://id.two""#],
        ]
        for changes in crossed {
            let response = try gateway.ask(gateway.token(tenant: "two", subject: "same", changes))
            #expect(response.status == 401)
        }
        let foreign = try gateway.ask(gateway.token(new.with(keyID: "old"), tenant: "two", subject: "same"))
        #expect(foreign.status == 401)
        #expect(try gateway.remaining(two) == untouched)
        #expect(try gateway.ask(two).status == 200)
    }

    @Test("A task's scope is asked for in either claim, and named in the challenge")
    func scopes() throws {
        let gateway = try KeyGateway(MiniIssuer([old]), in: TemporaryFolder())
        let without = try gateway.ask(gateway.token(subject: "a", ["scope": #""other""#]), task: "scoped")
        #expect(without.status == 403)
        #expect(
            without.header("www-authenticate")?.contains(#"error="insufficient_scope", scope="special""#) == true)
        for (index, claims) in [["scope": #""x special""#], ["scp": #"["special"]"#]].enumerated() {
            let token = gateway.token(subject: "b\(index)", claims.mapValues { $0 })
            #expect(try gateway.ask(token, task: "scoped").status == 200)
        }
    }
}
