import Configuration
import GatewayTypes
import Glibc
import JOSE

/// The embedded defaults of `serve --development`, the secret that signs its tokens and the token of its operator.
struct Development {
    static let issuer = "https://id.demo.localhost"
    static let audience = "askgate"
    static let secretVariable = "ASKGATE_DEVELOPMENT_SECRET"
    /// The name of the operator, who may do everything.
    static let operatorName = "developer"
    /// Where secret and token are kept, readable by their owner alone.
    private let directory: String
    /// Of the api listener, the admin listener has the next one; nil takes what the embedded configuration says.
    private let port: UInt16?
    private let environment: [String: String]

    init(state directory: String, port: UInt16? = nil, environment: [String: String]) {
        self.directory = directory
        self.port = port
        self.environment = environment
    }

    /// The file with the operator's token.
    var operatorTokenPath: String { "\(self.directory)/operator.token" }

    /// The signing secret: what the environment says, else one that was made on first use and never leaves this machine.
    func secret() throws(UsageFailure) -> [UInt8] {
        if let given = self.environment[Self.secretVariable], !given.isEmpty {
            guard given.utf8.count >= 32 else {
                throw UsageFailure("the secret in \(Self.secretVariable) has fewer than 32 bytes")
            }
            return Array(given.utf8)
        }
        return try self.kept("\(self.directory)/development.secret", "the secret that signs development tokens") {
            var generator = SystemRandomNumberGenerator()
            let digits = (0..<64).map { _ in UInt8.random(in: 0..<16, using: &generator) }
            return digits.map { $0 < 10 ? 48 + $0 : 87 + $0 }
        }
    }

    /// What a file holds; made there on first use, which is said, since it may have happened in the wrong folder.
    private func kept(_ path: String, _ what: String, _ make: () -> [UInt8]) throws(UsageFailure) -> [UInt8] {
        if let known = try SecretFile(path).bytesIfThere(what) { return known }
        mkdir(self.directory, 0o700)
        let secret = make()
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw UsageFailure("\(what) cannot be written to \(path)") }
        defer { close(descriptor) }
        guard write(descriptor, secret, secret.count) == secret.count else {
            unlink(path)
            throw UsageFailure("\(what) cannot be written to \(path)")
        }
        Terminal.complain("askgate: made \(what): \(Self.absolute(path))")
        return secret
    }

    private static func absolute(_ path: String) -> String {
        guard let full = realpath(path, nil) else { return path }
        defer { free(full) }
        return String(cString: full)
    }

    /// The embedded configuration with secret, operator and ports in place.
    func load() throws(UsageFailure) -> LoadedConfiguration {
        let secret = String(decoding: try self.secret(), as: UTF8.self)
        let token = try self.kept(self.operatorTokenPath, "the token of the operator `\(Self.operatorName)`") {
            Array(OperatorTokenCommand.token().utf8)
        }
        var loaded: LoadedConfiguration
        do {
            loaded = try ConfigurationLoader.load(
                text: PackageResources.development_yaml, name: "development.yaml",
                sources: .machine(environment: [Self.secretVariable: secret]))
        } catch {
            throw UsageFailure("the embedded configuration does not load: \(error)")
        }
        loaded.document.operators.append(
            OperatorSettings(
                name: Self.operatorName, role: .operator, digest: SHA256Digest(of: token.span).bytes, tenants: nil))
        if let port = self.port {
            loaded.document.listeners.api?.port = port
            loaded.document.listeners.admin?.port = port + 1
        }
        return loaded
    }

    /// A token of the demo tenant.
    func token(claims: [(String, String)], lifetime: TimeSpan, now: WallTime) throws(UsageFailure) -> String {
        try TokenCommand.issue(
            .hs256, key: try self.secret(), keyID: nil,
            claims: [("iss", Self.issuer), ("aud", Self.audience)] + claims, lifetime: lifetime, now: now)
    }
}
