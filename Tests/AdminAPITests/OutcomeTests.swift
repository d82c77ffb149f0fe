import GatewayTesting
import GatewayTypes
import JSON
import Quota
import Testing

@testable import AdminAPI

@Suite("What a change of an operator has done", .ownThread)
struct OutcomeTests {
    private static let holder = "/tenants/acme/subjects/mallory"
    private static let typo = "/tenants/acme/subjects/malory"

    @Test func `A change that finds nothing to change says so, takes no version and is in the trail`() async throws {
        let steered = SteeredAdmin()
        try await steered.serve { admin in
            #expect(try admin.call("PUT", Self.holder + "/block", #"{"reason":"leak"}"#).json?["changed"]?.bool == true)
            for (method, resource) in [
                ("DELETE", "/block"), ("DELETE", "/override"), ("DELETE", "/override?limit=tokens_per_day"),
                ("POST", "/reset"), ("DELETE", "/leases"),
            ] {
                let answer = try admin.call(method, Self.typo + resource)
                #expect(answer.status == 200 && answer.json?["changed"]?.bool == false, "\(resource)")
                #expect(answer.json?["version"]?.int == 0 && answer.header("etag") == "\"0\"")
            }
            let trail = try admin.call("GET", "/tenants/acme/audit?subject=malory").json?["entries"]
            #expect(
                trail?.elements.map { $0["action"]?.string }
                    == ["drop_leases", "reset", "clear_override", "clear_override", "unblock"])
            #expect(trail?.elements.allSatisfy { $0["version"]?.int == 0 } == true)
            #expect(try admin.call("GET", Self.holder).json?["isBlocked"]?.bool == true)
            let lifted = try admin.call("DELETE", Self.holder + "/block").json
            #expect(lifted?["changed"]?.bool == true && lifted?["version"]?.int == 2)
            let again = try admin.call("DELETE", Self.holder + "/block").json
            #expect(again?["changed"]?.bool == false && again?["version"]?.int == 2)
        }
    }

    @Test func `A reset of what was used says that it changed something, once`() async throws {
        let steered = SteeredAdmin()
        _ = try await steered.admit("mallory")
        try await steered.serve { admin in
            for limit in ["tokens_per_day", "requests_per_minute", "concurrent_requests"] {
                let answers = try (0..<2).map { _ in
                    try admin.call("POST", Self.holder + "/reset", #"{"limit":"\#(limit)"}"#).json?["changed"]?.bool
                }
                #expect(answers == [true, false], "\(limit)")
            }
        }
    }

    @Test func `A block tells who ordered it, when and why`() async throws {
        try await SteeredAdmin().serve { admin in
            #expect(try admin.call("GET", Self.holder).json?["block"]?.isNull == true)
            let body = #"{"reason":"leaked key","expiresAt":"2030-01-02T03:04:05Z"}"#
            #expect(try admin.call("PUT", Self.holder + "/block", #"{"reason":"first"}"#).status == 200)
            #expect(try admin.call("PUT", Self.holder + "/block", body, token: "bound").status == 200)
            #expect(try admin.call("POST", Self.holder + "/reset", #"{"reason":"later"}"#).status == 200)
            let block = try #require(try admin.call("GET", Self.holder).json?["block"])
            #expect(block["reason"]?.string == "leaked key" && block["actor"]?.string == "bound")
            #expect(block["expiresAt"]?.string == "2030-01-02T03:04:05.000Z")
            let entry = try admin.call("GET", "/tenants/acme/audit?subject=mallory").json?["entries"]?[1]
            #expect(block["at"]?.string != nil && block["at"]?.string == entry?["at"]?.string)
        }
    }

    @Test func `The order to block is found behind many later entries`() async throws {
        let steered = SteeredAdmin()
        let order = OperatorOrder(actor: "boss", reason: "leaked key")
        _ = try await steered.store.apply(.block(until: nil), to: .subject("mallory", of: "acme"), by: order)
        for _ in 0..<Audit.mostOnPage + 1 {
            _ = try await steered.store.apply(.reset(nil), to: .subject("mallory", of: "acme"), by: order)
        }
        try await steered.serve { admin in
            let shown = try admin.call("GET", Self.holder).json
            #expect(shown?["block"]?["reason"]?.string == "leaked key")
        }
    }

    @Test func `The trail tells blocks and plans before and after, and no version of what has none`() async throws {
        try await SteeredAdmin().serve { admin in
            let end = #","expiresAt":"2030-01-02T03:04:05Z"}"#
            #expect(try admin.call("PUT", Self.holder + "/block", #"{"reason":"r""# + end).status == 200)
            #expect(try admin.call("PUT", Self.holder + "/block", #"{"reason":"r"}"#).status == 200)
            #expect(try admin.call("DELETE", Self.holder + "/block").status == 200)
            let trail = try #require(try admin.call("GET", "/tenants/acme/audit?subject=mallory").json?["entries"])
            let (lifted, longer, first) = (trail[0], trail[1], trail[2])
            #expect(first?["before"]?["block"]?.isNull == true)
            #expect(first?["after"]?["block"]?["expiresAt"]?.string == "2030-01-02T03:04:05.000Z")
            #expect(longer?["before"]?["block"]?["expiresAt"]?.string == "2030-01-02T03:04:05.000Z")
            #expect(longer?["after"]?["block"]?["expiresAt"]?.isNull == true)
            #expect(lifted?["before"]?["block"]?["expiresAt"]?.isNull == true)
            #expect(lifted?["after"]?["block"]?.isNull == true && lifted?["version"]?.int == 3)

            for plan in ["pro", "free"] {
                let body = #"{"plan":"\#(plan)","reason":"press"}"#
                #expect(try admin.call("PUT", Self.typo + "/plan", body).status == 200)
                // Such a change moves no version that one could have seen.
                let tagged = try admin.call("PUT", Self.typo + "/plan", body, headers: [("If-Match", "\"3\"")])
                #expect(tagged.status == 400 && tagged.json?["member"]?.string == "If-Match")
            }
            #expect(try admin.call("DELETE", Self.typo + "/plan").status == 200)
            let plans = try #require(try admin.call("GET", "/tenants/acme/audit?subject=malory").json?["entries"])
            #expect(plans.elements.map { $0["before"]?["plan"]?.string } == ["free", "pro", nil])
            #expect(plans.elements.map { $0["after"]?["plan"]?.string } == [nil, "free", "pro"])
            #expect(plans.elements.allSatisfy { $0["version"]?.isNull == true })
            #expect(plans[0]?["after"]?["plan"]?.isNull == true && plans[2]?["before"]?["plan"]?.isNull == true)
        }
    }
}
