import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// A gateway under test with its fake provider and the keys of its issuers.
final class TestGateway: Sendable {
    @TaskLocal static var shared: TestGateway?
    /// The gateway of the running test's suite.
    static var current: TestGateway {
        get throws { try #require(self.shared, "the suite has no gateway; add the trait .gateway()") }
    }

    /// Sent by the gateway to its provider and to nobody else.
    static let providerKey = "sk-provider-key-of-tests"

    let provider: FakeProvider
    let process: GatewayProcess
    let settings: GatewaySettings

    init(_ settings: GatewaySettings = GatewaySettings(), waitsFor: String = "/readyz") throws {
        let provider = try FakeProvider()
        let folder = try TemporaryFolder()
        try folder.write("acme.json", Issuers.jwks)
        try folder.write("borealis.secret", Issuers.secret)
        for (name, secret) in HopSecrets.files { try folder.write(name, secret) }
        self.provider = provider
        self.settings = settings
        self.process = try GatewayProcess(
            in: folder, environment: ["TEST_PROVIDER_KEY": Self.providerKey], waitsFor: waitsFor
        ) {
            settings.yaml(api: $0, admin: $1, provider: provider.baseURL)
        }
    }

    deinit { self.provider.stop() }

    func client(limit: TimeSpan = .seconds(30), receiveBuffer: Int32? = nil) throws -> RawClient {
        try RawClient(port: self.process.port, limit: limit, receiveBuffer: receiveBuffer)
    }

    /// Reloads with other settings and waits until they are in force or refused.
    func reload(_ settings: GatewaySettings) throws {
        try self.reload(
            yaml: settings.yaml(
                api: self.process.port, admin: self.process.adminPort, provider: self.provider.baseURL))
    }

    func reload(yaml: String) throws {
        let before = self.reloads
        try self.process.reload(yaml)
        #expect(Stopwatch.wait(upTo: .seconds(10), every: 10) { self.reloads > before }, "no reload was counted")
    }

    /// Reloads tried so far, whatever came of them.
    var reloads: Double { self.process.metrics.value("askgate_config_reloads_total") }

    /// Whether health still answers.
    var isAlive: Bool {
        guard let client = try? self.client(limit: .seconds(5)) else { return false }
        try? client.request("GET", "/api/health")
        return (try? client.response())?.status == 200
    }
}

/// Somebody who asks: a subject with its token.
struct Caller: Sendable {
    let subject: String
    let token: String

    /// A caller of the tenant `acme` whom no other test knows.
    init(_ plan: String = "open", subject: String = Caller.unique("user")) {
        self.subject = subject
        self.token = Issuers.rsa.token(claims: Caller.claims(subject, ["plan": "\"\(plan)\""]))
    }

    init(subject: String, token: String) {
        self.subject = subject
        self.token = token
    }

    var authorization: (name: String, value: String) { ("Authorization", "Bearer \(self.token)") }

    /// Good claims for `acme`, with some changed; nil takes one out.
    static func claims(_ subject: String, _ changes: [String: String?] = [:]) -> String {
        TokenMint.claims(
            issuer: Issuers.acme, audience: Issuers.acmeAudience, subject: subject,
            now: Int64(Stopwatch.wallSeconds()), changes: changes)
    }

    /// A word that stands nowhere else: names subjects, and marks texts so that the provider finds its script.
    static func unique(_ word: String) -> String {
        "\(word)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
