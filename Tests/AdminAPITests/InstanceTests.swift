import GatewayTesting
import JSON
import Synchronization
import Testing

@testable import AdminAPI

@Suite("Admin API: the instance", .ownThread)
struct InstanceTests {
    @Test func `A reload is answered with what became of it`() async throws {
        let steered = SteeredAdmin()
        try await steered.serve { admin in
            let done = try admin.call("POST", "/reload")
            #expect(done.status == 200 && done.json?["snapshotGeneration"]?.int == 2)
            #expect(done.json?["notes"]?[0]?.string == "a note")
            steered.outcome.withLock { $0 = .refused(problems: ["c.yaml:1:1: wrong; mend it"]) }
            let refused = try admin.call("POST", "/reload", "{}")
            #expect(refused.status == 422 && refused.json?["code"]?.string == "configuration_invalid")
            #expect(refused.json?["problems"]?[0]?.string == "c.yaml:1:1: wrong; mend it")
            #expect(try admin.call("POST", "/reload", #"{"force":true}"#).json?["member"]?.string == "force")
            #expect(steered.reloads.load(ordering: .relaxed) == 2)
        }
    }

    @Test func `The status names phase, generation, store and who asks`() async throws {
        try await SteeredAdmin().serve { admin in
            let json = try #require(try admin.call("GET", "/status", token: "eye").json)
            #expect(json["phase"]?.string == "serving" && json["snapshotGeneration"]?.int == 1)
            #expect(json["store"]?["kind"]?.string == "memory" && json["store"]?["degraded"]?.isNull == true)
            #expect(json["operator"]?["name"]?.string == "eye" && json["operator"]?["role"]?.string == "viewer")
        }
    }

    @Test func `The document is open and names every path`() async throws {
        try await SteeredAdmin().serve { admin in
            let document = try admin.call("GET", "/openapi.yaml", token: nil)
            #expect(document.status == 200 && document.header("content-type") == "application/yaml")
            for path in ["/status", "/tenants/{tenant}/audit", "/tenants/{tenant}/subjects/{subject}/leases/{request}"]
            {
                #expect(document.text.contains("  /admin/v1\(path):\n"))
            }
        }
    }
}
