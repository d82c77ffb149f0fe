import Configuration
import GatewayTypes
import Glibc
import JOSE

/// The embedded defaults of `serve --development` and the secret that signs its tokens.
struct Development {
    static let issuer = "https://id.demo.localhost"
    static let audience = "askgate"
    private static let secretVariable = "ASKGATE_DEVELOPMENT_SECRET"
    /// Where the secret is kept, readable by its owner alone.
    let path: String

    init(state directory: String) { self.path = "\(directory)/development.secret" }

    /// The secret, made on first use. It never leaves this machine.
    func secret() throws(UsageFailure) -> [UInt8] {
        if let known = self.read() { return known }
        let slash = self.path.utf8.lastIndex(of: 0x2F) ?? self.path.startIndex
        mkdir(String(self.path[..<slash]), 0o700)
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<64).map { _ in UInt8.random(in: 0..<16, using: &generator) }
        let secret = digits.map { $0 < 10 ? 48 + $0 : 87 + $0 }
        let descriptor = open(self.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0, write(descriptor, secret, secret.count) == secret.count else {
            throw UsageFailure("the development secret cannot be written to \(self.path)")
        }
        close(descriptor)
        return secret
    }

    private func read() -> [UInt8]? {
        let descriptor = open(self.path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 64 else { return nil }
        return Array(bytes[..<64])
    }

    /// The embedded configuration with the secret in place.
    func load() throws(UsageFailure) -> LoadedConfiguration {
        let secret = String(decoding: try self.secret(), as: UTF8.self)
        do {
            return try ConfigurationLoader.load(
                text: PackageResources.development_yaml, name: "development.yaml",
                sources: .machine(environment: [Self.secretVariable: secret]))
        } catch {
            throw UsageFailure("the embedded configuration does not load: \(error)")
        }
    }

    /// A token of the demo tenant.
    func token(claims: [(String, String)], lifetime: TimeSpan, now: WallTime) throws(UsageFailure) -> String {
        try TokenCommand.issue(
            .hs256, key: try self.secret(), keyID: nil,
            claims: [("iss", Self.issuer), ("aud", Self.audience)] + claims, lifetime: lifetime, now: now)
    }
}
