import EventLoops
import Gateway
import GatewayTesting
import GatewayTypes
import JSON
import Quota
import Testing

@testable import AdminAPI

@Suite("Addresses in the admin API", .ownThread)
struct AddressTests {
    private static let block = #"{"reason":"net"}"#
    private static let override = #"{"limit":"requests_per_minute","quantity":1,"reason":"net"}"#

    private func path(_ address: String, tenant: String = "acme", _ resource: String = "") -> String {
        let text = String(decoding: base64URL(Array(address.utf8)), as: UTF8.self)
        return "/tenants/\(tenant)/addresses/\(text)\(resource)?encoding=base64url"
    }

    // MARK: Which

    @Test func `The counter of an address' guests can be looked at, reset and freed, whatever the plans count`()
        async throws
    {
        let steered = SteeredAdmin()
        try await steered.serve { admin in
            for written in ["guest-sessions 192.0.2.7", "guest-sessions ::ffff:192.0.2.7"] {
                let shown = try admin.call("GET", self.path(written))
                #expect(shown.status == 200 && shown.json?["address"]?.string == "guest-sessions 192.0.2.7")
                #expect(try admin.call("DELETE", self.path(written, "/block")).status == 200)
            }
            #expect(try admin.call("GET", self.path("guest-sessions foo")).status == 400)
        }
    }

    @Test(
        arguments: [
            ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("::FFFF:c000:207", "192.0.2.7"),
            ("0:0:0:0:0:ffff:192.0.2.7", "192.0.2.7"), ("2001:db8::7", "2001:db8::1"),
            ("2001:DB8:0:0:FFFF::", "2001:db8::1"), ("2001:0db8:0000:0000:0000:0000:0000:0007", "2001:db8::1"),
            ("2001:db8::/64", "2001:db8::1"), ("2001:db8:0:0::/64", "2001:db8::1"),
            ("2001:db8:0:0::192.0.2.7", "2001:db8::1"), ("::1", "::1"), ("fe80::1", "fe80::99"),
        ])
    func `However an address is written, the caller that is counted is blocked`(
        written: String, peer: String
    ) async throws {
        let caller = try #require(PeerAddress(text: Array(peer.utf8))).callerText
        let steered = SteeredAdmin()
        try await steered.serve { admin in
            #expect(try admin.call("PUT", self.path(written, "/block"), Self.block).status == 200)
            let shown = try admin.call("GET", self.path(written)).json
            #expect(shown?["address"]?.string == caller.string && shown?["isBlocked"]?.bool == true)
            // What an answer shows can be given back.
            let again = try admin.call("GET", self.path(caller.string)).json
            #expect(again?["address"]?.string == caller.string && again?["version"]?.int == 1)
            let query = String(decoding: base64URL(Array(written.utf8)), as: UTF8.self)
            let trail = try admin.call("GET", "/tenants/acme/audit?address=\(query)&encoding=base64url").json
            #expect(trail?["entries"]?.count == 1)
        }
        #expect(try await steered.admit("alice", from: caller) == .blocked)
        guard case .admitted = try await steered.admit("alice", from: "198.51.100.1") else {
            Issue.record("somebody else is blocked")
            return
        }
    }

    @Test(arguments: [
        "10.0.0.0/8", "127.0.0.1/32", "10.0.0.0/64", "::ffff:10.0.0.0/64", "2001:db8::/32", "2001:db8::1/128",
        "2001:db8::/064", "/64", "foo", "localhost", "127.0.0.01", "127.1", "2130706433", "0x7f.0.0.1", "127.0.0.1.",
        "127.0.0.1:80", "[::1]", "[::1]:80", "fe80::1%eth0", "fe80::1%2", "1:2:3:4:5:6:7:8:9", ":::", "::12345", " ::1",
        "127.0.0.1\0", "127.0.0.1\n", "\u{661}27.0.0.1",
    ])
    func `Nothing else is taken for an address`(written: String) async throws {
        try await SteeredAdmin().serve { admin in
            for (method, resource, body) in [
                ("GET", "", nil), ("PUT", "/block", Self.block), ("PUT", "/override", Self.override),
                ("DELETE", "/block", nil), ("GET", "/leases", nil),
            ] as [(String, String, String?)] {
                let refused = try admin.call(method, self.path(written, resource), body)
                #expect(refused.status == 400 && refused.json?["member"]?.string == "address", "\(method)")
                #expect(refused.json?["detail"]?.string?.contains("ranges are not possible") == true)
            }
            let text = String(decoding: base64URL(Array(written.utf8)), as: UTF8.self)
            #expect(try admin.call("GET", "/tenants/acme/audit?address=\(text)&encoding=base64url").status == 400)
            #expect(try admin.call("GET", "/tenants/acme/audit").json?["entries"]?.count == 0)
        }
    }

    // MARK: Whom it reaches

    @Test func `Answers about an address name the plans that count it, and no others do`() async throws {
        try await SteeredAdmin().serve { admin in
            for (method, resource, body) in [
                ("PUT", "/block", Self.block), ("PUT", "/override", Self.override), ("GET", "", nil),
                ("DELETE", "/block", nil), ("POST", "/reset", nil), ("DELETE", "/leases", nil),
            ] as [(String, String, String?)] {
                let answer = try admin.call(method, self.path("192.0.2.7", resource), body)
                let plans = answer.json?["reachesPlans"]?.elements.map { $0.string }
                #expect(answer.status == 200 && plans == ["free"], "\(method) \(resource)")
                let other = try admin.call(method, "/tenants/acme/subjects/alice" + resource, body)
                #expect(other.status == 200 && other.json?["reachesPlans"] == nil)
            }
        }
    }

    @Test func `An address is shown with a plan that counts it`() async throws {
        try await SteeredAdmin().serve { admin in
            for (tenant, plan, count) in [("acme", "free", 1), ("drift", "guest", 1), ("calm", "free", 0)] {
                let shown = try admin.call("GET", self.path("192.0.2.7", tenant: tenant)).json
                #expect(shown?["plan"]?.string == plan && shown?["planIsAssumed"]?.bool == true)
                #expect(shown?["limits"]?.count == count)
            }
            let asked = try admin.call("GET", self.path("192.0.2.7", tenant: "drift") + "&plan=free").json
            #expect(asked?["plan"]?.string == "free" && asked?["planIsAssumed"]?.bool == false)
        }
    }

    @Test func `Nothing is set for an address where no plan counts any`() async throws {
        try await SteeredAdmin().serve { admin in
            for (resource, body) in [("/block", Self.block), ("/override", Self.override)] {
                let refused = try admin.call("PUT", self.path("192.0.2.7", tenant: "calm", resource), body)
                #expect(refused.status == 409 && refused.json?["code"]?.string == "addresses_not_counted")
                #expect(refused.json?["detail"]?.string?.contains("scope `address`") == true)
            }
            let shown = try admin.call("GET", self.path("192.0.2.7", tenant: "calm")).json
            #expect(shown?["version"]?.int == 0 && shown?["isBlocked"]?.bool == false)
            #expect(shown?["reachesPlans"]?.count == 0)
            #expect(try admin.call("GET", "/tenants/calm/audit").json?["entries"]?.count == 0)
            // What was set before a reload took the limit away can still be lifted.
            #expect(try admin.call("DELETE", self.path("192.0.2.7", tenant: "calm", "/block")).status == 200)
        }
    }
}
