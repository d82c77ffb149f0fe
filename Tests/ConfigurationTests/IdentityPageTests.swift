import Configuration
import Foundation
import GatewayTypes
import Testing

/// The worked configuration of `docs/identity.md` is what the program reads.
@Suite struct IdentityPageTests {
    /// Every block of YAML on the page, in its order.
    private static let blocks: [String] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = (try? String(contentsOf: root.appending(path: "docs/identity.md"), encoding: .utf8)) ?? ""
        return page.components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }()

    private static let frame = """
        listeners: {api: {}}
        providers: {demo: {dialect: demo}}

        """

    private static let rest = """
            plans:
              free: {limits: []}
              pro: {limits: []}
              guest: {limits: []}
            tasks: {summarize: {routes: [{provider: demo}]}}

        """

    /// A whole configuration around a block: a list of issuers, a file that lacks only plans and tasks, or a section.
    private static func configuration(_ block: String) -> String {
        let tenant = "tenants:\n  acme:\n    default_plan: free\n"
        if block.hasPrefix("- issuer:") {
            let lines = block.split(separator: "\n").map { "      \($0)\n" }.joined()
            return self.frame + tenant + "    guest_plan: guest\n    issuers:\n" + lines + self.indented(self.rest)
        }
        if block.contains("tenants:") { return self.frame + block + self.indented(self.rest) }
        let issuers =
            "    issuers: [{issuer: \"https://id.test\", audience: a, algorithms: [RS256], "
            + "keys: {jwks_file: keys.json}}]\n"
        return self.frame + block + tenant + issuers + self.indented(self.rest)
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n").map { $0.hasPrefix("    ") ? "\($0)\n" : "    \($0)\n" }.joined()
    }

    private static let environment = testEnvironment.merging(["SUPABASE_JWT_SECRET": "x"]) { first, _ in first }

    @Test func thePageHasABlockForEachProviderAndEachSubject() {
        #expect(Self.blocks.count == 9)
        #expect(Self.blocks.count { $0.hasPrefix("- issuer:") } == 7)
    }

    @Test(arguments: blocks)
    func loadsWithoutAnyProblem(block: String) throws {
        let text = Self.configuration(block)
        #expect(problems(text).isEmpty, "\(text)")
        let tenant = try #require(try load(text).document.tenants.first)
        #expect(tenant.issuers.count == 1)
    }

    @Test func whatIsWrongInABlockWouldBeSeen() throws {
        let block = try #require(Self.blocks.first { $0.hasPrefix("- issuer:") })
        let broken = Self.configuration(block.replacing("algorithms:", with: "algorithm:"))
        #expect(!problems(broken).isEmpty)
    }
}
