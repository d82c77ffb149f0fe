import Configuration
import GatewayTypes
import Routing
import Testing

@Suite struct TenantTests {
    /// Two tenants with one issuer each; `first` and `second` are the parts that may keep them apart.
    private func twoTenants(_ first: String, _ second: String) -> String {
        func tenant(_ name: String, _ part: String) -> String {
            """
              \(name):
                default_plan: free
                issuers:
                  - {issuer: "https://id.example.test", algorithms: [RS256], keys: {jwks_file: keys.json}, \(part)}
                plans: {free: {limits: []}}
                tasks: {titles: {routes: [{provider: demo}]}}

            """
        }
        return "listeners: {api: {}}\nproviders: {demo: {dialect: demo}}\ntenants:\n" + tenant("a", first)
            + tenant("b", second)
    }

    @Test(arguments: [
        ("audience: one", "audience: two"),
        ("audience: gw, claim: {path: org, value: a}", "audience: gw, claim: {path: org, value: b}"),
        ("audience: [one, two]", "audience: [three]"),
    ])
    func tokensThatCanBeToldApartAreFine(_ first: String, _ second: String) {
        #expect(problems(self.twoTenants(first, second)).isEmpty)
    }

    @Test(arguments: [
        ("audience: gw", "audience: gw"),
        ("audience: [one, gw]", "audience: [gw, two]"),
        ("audience: gw, claim: {path: org, value: a}", "audience: gw"),
        ("audience: gw, claim: {path: org, value: a}", "audience: gw, claim: {path: team, value: b}"),
        ("audience: gw, claim: {path: org, value: a}", "audience: gw, claim: {path: org, value: a}"),
    ])
    func tokensOfTwoTenantsAreRefused(_ first: String, _ second: String) {
        let found = problems(self.twoTenants(first, second))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("c.yaml:13:9: tokens of `https://id.example.test` could also belong") == true)
    }

    @Test func oneOfManyTenantsOfAnIssuerIsToldApartByItsValue() {
        var text = self.twoTenants(
            "audience: gw, claim: {path: org, value: a}", "audience: [gw, two], claim: {path: org, value: b}")
        text += """
              c:
                default_plan: free
                issuers:
                  - {issuer: "https://id.example.test", algorithms: [RS256], keys: {jwks_file: keys.json}, audience: two}
                plans: {free: {limits: []}}
                tasks: {titles: {routes: [{provider: demo}]}}

            """
        #expect(problems(text).map { $0.prefix(16) } == ["c.yaml:19:9: tok"])
        #expect(problems(text).first?.contains("tenant `b` (line 13)") == true)
    }

    @Test func aClaimMayHaveDotsInItsName() throws {
        let text = goodConfiguration.replacing(
            only: "audience: gw", by: "audience: gw\n        claim: {path: [\"https://x.test/org\", id], value: acme}")
        #expect(try load(text).document.tenants[0].issuers[0].claim?.path == ["https://x.test/org", "id"])
    }

    @Test func theOnlyAnswererIsTheDefaultAgent() throws {
        let one = goodConfiguration.replacing(only: "summarize:\n", by: "chat:\n        builtin: answer\n")
        #expect(try load(one).document.tenants[0].defaultAgent == "chat")
        #expect(try load(goodConfiguration).document.tenants[0].defaultAgent == nil)
    }

    @Test func aTenantGivesARoutingTable() throws {
        var pool = PromptPool()
        let table = try load(goodConfiguration).document.tenants[0].routingTable(pool: &pool) { $0.count }
        let principal = Principal(tenant: "acme", subject: "u", plan: "free", expiresAt: WallTime(seconds: 0))
        #expect(table.tasks(for: principal) == ["summarize"])
    }

    @Test func changesThatNeedARestartAreNamed() throws {
        let old = try load(goodConfiguration).document
        #expect(old.restartOnlyChanges(to: old).isEmpty)
        let moved = goodConfiguration.replacing(only: "{api: {}}", by: "{api: {port: 81}, admin: {}}\nloops: 3")
        let changes = try old.restartOnlyChanges(to: load(moved).document).map(\.description)
        #expect(
            changes == [
                "listeners.api: 127.0.0.1:8080 to 127.0.0.1:81; restart to change a listener",
                "listeners.admin: none to 127.0.0.1:9090; restart to change a listener",
                "loops: one per core to 3; restart to change the number of loops",
            ])
        let limits = goodConfiguration.replacing(only: "limit: 20", by: "limit: 5")
        #expect(try old.restartOnlyChanges(to: load(limits).document).isEmpty)
        func stored(_ more: String) throws -> ConfigurationDocument {
            try load(goodConfiguration + "store: {kind: redis, address: \"redis:6379\", \(more)}\n").document
        }
        let login = try stored("user: a, password: {env: MAIN_KEY}")
        #expect(try stored("timeout: 50ms").restartOnlyChanges(to: login).isEmpty)
        #expect(try login.restartOnlyChanges(to: stored("timeout: 60ms")).count == 1)
        let kept = goodConfiguration + "identity: {state_directory: /var/lib/askgate}\n"
        #expect(
            try old.restartOnlyChanges(to: load(kept).document).map(\.description) == [
                "identity.state_directory: none to /var/lib/askgate; restart to change where keys are kept"
            ])
    }

    @Test(
        arguments: [
            (
                "log: {access: {file: /var/log/access}}",
                "log.access: stdout to /var/log/access; restart to change where access records go"
            ),
            ("http: {timeouts: {head: 9s}}", "http.timeouts.head: restart to change it"),
            (
                "http: {limits: {connections: 9}, drain: {delay: 1s}, heartbeat: 9s}",
                "http.limits.connections, http.drain.delay: restart to change them"
            ),
            (
                "questions: {tenant_keys: 900}",
                "questions.tenant_keys: 32768 to 900; restart to change how many keys are remembered"
            ),
            ("http: {limits: {body_bytes: 1MiB}, heartbeat: 9s, failed_authentications: 7}", nil),
            ("http: {trusted_proxies: [10.0.0.0/8]}\nquestions: {bytes: 32MiB, key_ttl: 2h}", nil),
        ] as [(String, String?)])
    func everyTopLevelMemberIsTakenOrNamed(member: String, note: String?) throws {
        let old = try load(goodConfiguration).document
        let new = try load(goodConfiguration + member + "\n").document
        #expect(old.restartOnlyChanges(to: new).map(\.description) == [note].compactMap { $0 })
    }
}

@Suite struct ZoneTests {
    private static let start: Int64 = 1_640_995_200  // 2022-01-01T00:00:00Z

    @Test func tehranStoppedChangingItsClocks() throws {
        let found = try #require(ZoneTransitions.sample("Asia/Tehran", from: Self.start, years: 5))
        #expect(found.map(\.at) == [Self.start, 1_647_894_600, 1_663_788_600])
        #expect(found.map(\.offset) == [12_600, 16_200, 12_600])
    }

    @Test func newYorkChangesTwiceAYear() throws {
        let found = try #require(ZoneTransitions.sample("America/New_York", from: Self.start, years: 2))
        #expect(found.prefix(3).map(\.at) == [Self.start, 1_647_154_800, 1_667_714_400])
        #expect(found.map(\.offset) == [-18_000, -14_400, -18_000, -14_400, -18_000])
    }

    @Test func utcNeverChangesAndOtherNamesAreUnknown() {
        #expect(ZoneTransitions.sample("UTC", from: 0, years: 10)?.map(\.offset) == [0])
        for name in ["", "EST", "GMT+3", "Asia/Teheran", "../etc/passwd", "Asia/../Asia/Tehran", "Asia/"] {
            #expect(ZoneTransitions.sample(name, from: 0, years: 1) == nil)
        }
    }
}
