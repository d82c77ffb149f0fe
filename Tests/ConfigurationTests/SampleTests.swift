import Configuration
import Foundation
import GatewayTypes
import Routing
import Testing

/// The files of `config/` load, and load to the same whatever an editor does to their bytes.
@Suite struct SampleTests {
    static let names = [
        "askgate.example.yaml", "two-tenants.yaml", "development.yaml", "production.yaml", "providers.yaml",
    ]

    static func sample(_ name: String) throws -> [UInt8] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return Array(try Data(contentsOf: root.appending(path: "config/\(name)")))
    }

    @Test(arguments: names)
    func loadsWithoutAnyProblem(_ name: String) throws {
        #expect(try load(Self.sample(name)).warnings.isEmpty)
    }

    @Test(arguments: names)
    func lineEndsAndByteOrderMarkChangeNothing(_ name: String) throws {
        let original = try Self.sample(name)
        let expected = try load(original).document.effectiveText
        let crlf = original.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
        let cr = original.map { $0 == 0x0A ? 0x0D : $0 }
        let bare = Array(original.reversed().drop { $0 == 0x0A }.reversed())
        for variant in [crlf, cr, bare, [0xEF, 0xBB, 0xBF] + original, [0xEF, 0xBB, 0xBF] + crlf] {
            #expect(try load(variant).document.effectiveText == expected)
        }
    }

    @Test(arguments: names)
    func theEffectiveTextIsJSONWithoutAnySecret(_ name: String) throws {
        let text = try load(Self.sample(name)).document.effectiveText
        #expect(!text.contains("canary"))
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
    }

    @Test func theExampleWritesDefaultsAsTheyAre() throws {
        let http = try load(Self.sample("askgate.example.yaml")).document.http
        #expect(http == HTTPSettings())
        let providers = try load(Self.sample("askgate.example.yaml")).document.providers
        #expect(providers[0].timeouts == ProviderTimeouts())
        #expect(providers[0].maxConnections == providers[1].maxConnections)
    }

    @Test func twoTenantsFitOnOneScreen() throws {
        let lines = try Self.sample("two-tenants.yaml").split(separator: 0x0A)
        #expect(lines.count <= 50)
        #expect(lines.allSatisfy { $0.count <= 120 })
    }

    @Test func theExampleMeansWhatItSays() throws {
        let document = try load(Self.sample("askgate.example.yaml")).document
        let tenant = try #require(document.tenants.first)
        #expect(document.loops == 2)
        #expect(tenant.zone == "Asia/Tehran")
        #expect(tenant.defaultAgent == "assistant")
        #expect(tenant.issuers.map(\.algorithms) == [[.rs256, .es256], [.hs256]])
        #expect(tenant.issuers[0].claim?.path == ["org"])
        #expect(tenant.issuers[0].claim?.value == "acme")
        #expect(tenant.issuers[0].planClaim?.path == ["app", "plan"])
        #expect(tenant.issuers[0].planClaim?.values == ["gold": "pro", "basic": "free"])
        #expect(tenant.issuers[1].isGuest)
        let free = try #require(tenant.plans.first { $0.name == "free" })
        #expect(free.tasks == ["summarize", "rewrite", "assistant"])
        #expect(free.limits.last == Limit(.requestsPerMinute, scope: .tenant, quantity: 2000))
        #expect(free.plan.routes["summarize"] == [ProviderRoute(provider: "local", model: "small")])
        let tasks = Dictionary(uniqueKeysWithValues: tenant.tasks.map { ($0.name, $0) })
        #expect(tasks["summarize"]?.routes.order == .byWeight)
        #expect(tasks["rewrite"]?.routes.order == .asWritten)
        #expect(tasks["rewrite"]?.defaultTone == .formal)
        #expect(tasks["glossary"]?.system == "You are a careful terminologist.")
        #expect(tasks["assistant"]?.bounds == TextBounds(minCharacters: 1, maxCharacters: 4000))
        #expect(tasks["summarize"]?.requiredScope == "ask")
    }
}
