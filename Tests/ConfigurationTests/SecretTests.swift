import Configuration
import Foundation
import GatewayTypes
import Testing

@Suite struct SecretTests {
    private let hmac = goodConfiguration.replacing(
        only: "[RS256]\n        keys: {jwks_file: keys.json}", by: "[HS256]\n        keys: KEYS")

    private func secret(_ keys: String) throws -> [UInt8]? {
        let issuer = try load(self.hmac.replacing(only: "KEYS", by: keys)).document.tenants[0].issuers[0]
        guard case .hmac(let secret, _)? = issuer.keys.first?.source else { return nil }
        return secret.value.reveal { $0 }
    }

    @Test func theLineBreakAtTheEndOfAFileIsNoPartOfTheSecret() throws {
        let expected = Array("canary-secret-of-thirty-two-bytes".utf8)
        #expect(try self.secret("{hmac_secret: {file: crlf.secret}}") == expected)
        #expect(try self.secret("{hmac_secret: {file: open.secret}}") == expected)
    }

    @Test func aSecretMayBeBase64() throws {
        let keys = "{hmac_secret: {env: GUEST_SECRET}, encoding: base64}"
        #expect(try self.secret(keys) == Array("canary-guest-secret-of-32-bytes!!".utf8))
        let found = problems(self.hmac.replacing(only: "KEYS", by: "{hmac_secret: {env: MAIN_KEY}, encoding: base64}"))
        #expect(found.contains { $0.contains("from environment variable MAIN_KEY") })
    }

    @Test func nothingThatPrintsAConfigurationShowsASecret() throws {
        let text = goodConfiguration.replacing(
            only: "{env: MAIN_KEY}}", by: "{env: MAIN_KEY}, headers: {X-Team-Token: {env: SPARE_KEY}, X-Title: t}}")
        let loaded = try load(text)
        var dumped = ""
        dump(loaded, to: &dumped)
        for shown in ["\(loaded)", "\(loaded.document.providers)", dumped, loaded.document.effectiveText] {
            #expect(!shown.contains("canary"))
        }
        #expect(
            loaded.document.effectiveText.contains(#""X-Team-Token": "redacted, from environment variable SPARE_KEY""#))
        #expect(loaded.document.providers[0].key?.value.reveal { $0 } == Array("sk-canary-main".utf8))
    }

    @Test func filesAreFoundBesideTheConfigurationAndTheirModeIsLookedAt() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "askgate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let secret = folder.appending(path: "hmac.secret").path
        try Data("a-secret-on-the-disk-of-32-bytes-or-more".utf8).write(to: URL(filePath: secret))
        let path = folder.appending(path: "askgate.yaml").path
        let text = self.hmac.replacing(only: "KEYS", by: "{hmac_secret: {file: hmac.secret}}")
        try Data(text.utf8).write(to: URL(filePath: path))

        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret)
        let open = try ConfigurationLoader.load(path: path, environment: testEnvironment)
        #expect(open.warnings.map(\.position) == [SourcePosition(line: 12, column: 36)])
        #expect(open.warnings.first?.severity == .warning)

        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        #expect(try ConfigurationLoader.load(path: path, environment: testEnvironment).warnings.isEmpty)

        try FileManager.default.removeItem(atPath: secret)
        try FileManager.default.createDirectory(atPath: secret, withIntermediateDirectories: false)
        let failure = #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader.load(path: path, environment: testEnvironment)
        }
        #expect(failure?.description.contains("`file` is not a regular file") == true)
    }
}
