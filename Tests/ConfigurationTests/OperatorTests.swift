import Configuration
import GatewayTypes
import Testing

/// `operators`: who may use the admin API.
@Suite struct OperatorTests {
    private static let digest = String(repeating: "0a", count: 31) + "fF"

    private func configured(_ operators: String) -> String { goodConfiguration + "operators: \(operators)\n" }

    private func operators(_ text: String) throws -> [OperatorSettings] {
        try load(self.configured(text)).document.operators
    }

    @Test func withoutThemThereAreNone() throws {
        #expect(try load(goodConfiguration).document.operators.isEmpty)
    }

    @Test func roleHashAndTenantsAreRead() throws {
        let read = try self.operators(
            "{boss: {role: operator, token_sha256: \(Self.digest)}, "
                + "eye: {role: viewer, token_sha256: \"\(String(repeating: "1", count: 64))\", tenants: [acme]}}")
        #expect(read.map(\.name) == ["boss", "eye"])
        #expect(read.map(\.role) == [.operator, .viewer])
        #expect(read[0].digest == [UInt8](repeating: 10, count: 31) + [255])
        #expect(read[1].digest == [UInt8](repeating: 17, count: 32))
        #expect(read[0].tenants == nil && read[1].tenants == ["acme"])
    }

    @Test func theHashMayStandElsewhere() throws {
        let read = try self.operators(
            "{a: {role: viewer, token_sha256: {env: DIGEST}}, b: {role: viewer, token_sha256: {file: digest}}}")
        #expect(read.map(\.digest) == [[UInt8](repeating: 0xAB, count: 32), [UInt8](repeating: 0xCD, count: 32)])
    }

    @Test func theEffectiveTextShowsNoHash() throws {
        let text = try load(self.configured("{boss: {role: operator, token_sha256: \(Self.digest)}}")).document
            .effectiveText
        #expect(text.contains(#""boss": {"#) && text.contains(#""role": "operator""#))
        #expect(!text.lowercased().contains("0a0a0a"))
    }

    @Test(arguments: [
        ("{boss: {role: admin, token_sha256: DIGEST}}", "unknown role `admin`"),
        ("{boss: {token_sha256: DIGEST}}", "an operator has no `role`"),
        ("{boss: {role: viewer}}", "an operator has no `token_sha256`"),
        ("{boss: {role: viewer, token_sha256: abc}}", "`token_sha256` is not 64 hexadecimal digits"),
        ("{boss: {role: viewer, token_sha256: DIGEST0}}", "`token_sha256` is not 64 hexadecimal digits"),
        ("{boss: {role: viewer, token_sha256: {env: MAIN_KEY}}}", "`token_sha256` is not 64 hexadecimal digits"),
        ("{boss: {role: viewer, token_sha256: {env: NOT_SET}}}", "the environment variable NOT_SET is not set"),
        ("{boss: {role: viewer, token_sha256: ago_canary}}", "`token_sha256` holds a token, not its hash"),
        ("{boss: {role: viewer, token: ago_canary}}", "an operator's token stands nowhere but with the operator"),
        ("{boss: {role: viewer, token_sha256: DIGEST, tenants: []}}", "`tenants` is an empty list"),
        ("{boss: {role: viewer, token_sha256: DIGEST, tenants: [amce]}}", "there is no tenant `amce`"),
        ("{boss: {role: viewer, token_sha256: DIGEST, tenant: acme}}", "unknown key `tenant` in an operator"),
        ("{'a b': {role: viewer, token_sha256: DIGEST}}", "an operator's name is `a b`"),
        (
            "{a: {role: viewer, token_sha256: DIGEST}, b: {role: viewer, token_sha256: DIGEST}}",
            "`b` has the same token as `a`"
        ),
        ("[boss]", "`operators` is a list where a mapping belongs"),
    ])
    func aMistakeIsToldWithoutTheToken(text: String, message: String) {
        let found = problems(self.configured(text.replacing("DIGEST", with: Self.digest)))
        #expect(found.contains { $0.contains(message) }, "\(found)")
        #expect(!found.contains { $0.contains("canary") || $0.contains("0a0a") })
    }
}
