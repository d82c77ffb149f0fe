import GatewayTesting
import GatewayTypes
import JSON
import Quota
import Synchronization
import Testing

@testable import AdminAPI

@Suite("Admin API", .ownThread)
struct SteeringTests {
    private static let holder = "/tenants/acme/subjects/alice"

    // MARK: Who

    @Test func `Nobody gets in without a token that is known`() async throws {
        try await SteeredAdmin().serve { admin in
            let bare = try admin.call("GET", "/status", token: nil)
            #expect(bare.status == 401 && bare.header("www-authenticate") == #"Bearer realm="askgate-admin""#)
            for token in ["wrong", "bos", "boss2", "a b"] {
                let wrong = try admin.call("GET", "/tenants/acme", token: token)
                #expect(wrong.status == 401 && wrong.json?["code"]?.string == "unauthenticated")
                #expect(wrong.header("www-authenticate")?.contains(#"error="invalid_token""#) == true)
            }
            let twice = try admin.call("GET", "/status", headers: [("Authorization", "Bearer eye")])
            #expect(twice.status == 401)
            #expect(try admin.call("GET", "/status").status == 200)
        }
    }

    @Test(arguments: [
        ("PUT", "/override"), ("DELETE", "/override"), ("PUT", "/block"), ("DELETE", "/block"), ("POST", "/reset"),
        ("DELETE", "/leases"), ("DELETE", "/leases/\(String(repeating: "0", count: 32))"),
    ])
    func `A viewer reads and changes nothing`(method: String, resource: String) async throws {
        let body = method == "DELETE" ? nil : #"{"limit":"tokens_per_day","quantity":1,"reason":"r"}"#
        let steered = SteeredAdmin()
        try await steered.serve { admin in
            for base in [Self.holder, "/tenants/acme/limits", "/tenants/acme/addresses/192.0.2.7"] {
                let refused = try admin.call(method, base + resource, body, token: "eye")
                #expect(refused.status == 403 && refused.json?["code"]?.string == "insufficient_role")
                #expect(refused.header("www-authenticate")?.contains("insufficient_scope") == true)
                let seen = try admin.call("GET", base, token: "eye")
                #expect(seen.status == 200 && seen.json?["version"]?.int == 0)
            }
            #expect(try admin.call("POST", "/reload", token: "eye").status == 403)
            #expect(steered.reloads.load(ordering: .relaxed) == 0)
            #expect(try admin.call("GET", "/tenants/acme/audit", token: "eye").json?["entries"]?.count == 0)
        }
    }

    @Test func `An operator of one tenant finds no other and reloads nothing`() async throws {
        try await SteeredAdmin().serve { admin in
            let list = try admin.call("GET", "/tenants", token: "bound").json?["tenants"]
            #expect(list?.count == 1 && list?[0]?["tenant"]?.string == "acme")
            #expect(try admin.call("GET", "/tenants/acme", token: "bound").status == 200)
            let other = try admin.call("GET", "/tenants/borealis", token: "bound")
            let missing = try admin.call("GET", "/tenants/nowhere", token: "bound")
            #expect(other.status == 404 && missing.status == 404)
            #expect(other.json?["detail"]?.string == missing.json?["detail"]?.string)
            let block = try admin.call(
                "PUT", "/tenants/borealis/limits/block", #"{"reason":"r"}"#, token: "bound")
            #expect(block.status == 404)
            #expect(try admin.call("POST", "/reload", token: "bound").status == 403)
        }
    }

    // MARK: What stands

    @Test func `A subject's standing agrees with the store`() async throws {
        let steered = SteeredAdmin()
        _ = try await steered.admit("alice", tokens: 100)
        try await steered.serve { admin in
            let answer = try admin.call("GET", Self.holder)
            #expect(answer.status == 200 && answer.header("etag") == "\"0\"")
            let json = try #require(answer.json)
            #expect(json["plan"]?.string == "free" && json["planIsAssumed"]?.bool == true)
            #expect(json["runningAsks"]?.int == 1 && json["isBlocked"]?.bool == false && json["block"]?.isNull == true)
            let limits = json["limits"]?.elements.map { $0 } ?? []
            // Those of its tenant hold it too; those of an address do not without the address.
            #expect(limits.map { $0["scope"]?.string } == ["subject", "subject", "subject", "tenant"])
            #expect(limits.map { $0["used"]?.int } == [1, 100, 1, 1])
            #expect(limits.map { $0["remaining"]?.int } == [4, 900, 1, 49])
            #expect(limits.map { $0["planLimit"]?.int } == [5, 1000, 2, 50])
            #expect((1...60).contains(limits.first?["resetSeconds"]?.int ?? 0))
            let pro = try admin.call("GET", Self.holder + "?plan=pro").json
            #expect(pro?["plan"]?.string == "pro" && pro?["planIsAssumed"]?.bool == false)
            #expect(pro?["limits"]?[0]?["remaining"]?.int == 499)
            #expect(try admin.call("GET", Self.holder + "?plan=gold").json?["member"]?.string == "plan")
        }
    }

    @Test func `HEAD answers like GET without a body`() async throws {
        try await SteeredAdmin().serve { admin in
            let head = try admin.call("HEAD", Self.holder)
            #expect(head.status == 200 && head.body.isEmpty && head.header("etag") == "\"0\"")
        }
    }

    @Test func `A tenant is shown with its plans and its own counters`() async throws {
        let steered = SteeredAdmin()
        _ = try await steered.admit("alice")
        try await steered.serve { admin in
            let json = try #require(try admin.call("GET", "/tenants/acme").json)
            #expect(json["plans"]?.elements.compactMap { $0["plan"]?.string } == ["free", "pro"])
            #expect(json["plans"]?[0]?["limits"]?.count == 5)
            let limits = try #require(json["standing"]?["limits"])
            #expect(limits.count == 1 && limits[0]?["scope"]?.string == "tenant" && limits[0]?["used"]?.int == 1)
        }
    }

    // MARK: Changes

    @Test func `An override reads back equal, holds, and is cleared`() async throws {
        let steered = SteeredAdmin()
        try await steered.serve { admin in
            let body =
                #"{"limit":"requests_per_minute","quantity":9,"reason":"launch","expiresAt":"2030-01-02T03:04:05Z"}"#
            let set = try admin.call("PUT", Self.holder + "/override", body)
            #expect(set.status == 200 && set.header("etag") == "\"1\"" && set.json?["version"]?.int == 1)
            let json = try #require(try admin.call("GET", Self.holder).json)
            let override = json["overrides"]?[0]
            #expect(override?["limit"]?.string == "requests_per_minute" && override?["quantity"]?.int == 9)
            #expect(override?["expiresAt"]?.string == "2030-01-02T03:04:05.000Z")
            #expect(json["limits"]?[0]?["limit"]?.int == 9 && json["limits"]?[0]?["planLimit"]?.int == 5)
            let other = try admin.call("GET", "/tenants/acme/subjects/bob").json
            #expect(other?["limits"]?[0]?["limit"]?.int == 5 && other?["version"]?.int == 0)
            let cleared = try admin.call("DELETE", Self.holder + "/override?limit=requests_per_minute&reason=done")
            #expect(cleared.json?["version"]?.int == 2)
            #expect(try admin.call("GET", Self.holder).json?["limits"]?[0]?["limit"]?.int == 5)
        }
    }

    @Test func `A block and its lifting hold for the subject and for all of its tenant`() async throws {
        try await SteeredAdmin().serve { admin in
            for base in [Self.holder, "/tenants/acme/limits"] {
                #expect(
                    try admin.call("PUT", base + "/block", #"{"reason":"leak","expiresInSeconds":600}"#).status == 200)
                let blocked = try #require(try admin.call("GET", Self.holder).json)
                #expect(blocked["isBlocked"]?.bool == true)
                #expect(blocked["block"]?.isNull == (base != Self.holder))
                #expect(try admin.call("DELETE", base + "/block").status == 200)
                #expect(try admin.call("GET", Self.holder).json?["isBlocked"]?.bool == false)
            }
        }
    }

    @Test func `A reset sets one counter to zero, or all, and moves nobody else`() async throws {
        let steered = SteeredAdmin()
        _ = try await steered.admit("alice", tokens: 100)
        _ = try await steered.admit("bob", tokens: 100)
        try await steered.serve { admin in
            func expectUsed(_ subject: String, _ expected: [Int]) throws {
                let json = try admin.call("GET", "/tenants/acme/subjects/\(subject)").json
                #expect(json?["limits"]?.elements.map { $0["used"]?.int } == expected)
            }
            #expect(try admin.call("POST", Self.holder + "/reset", #"{"limit":"tokens_per_day"}"#).status == 200)
            try expectUsed("alice", [1, 0, 1, 2])
            #expect(try admin.call("POST", Self.holder + "/reset").status == 200)
            try expectUsed("alice", [0, 0, 0, 2])
            try expectUsed("bob", [1, 100, 1, 2])
        }
    }

    @Test func `Leases are listed and freed, one or all`() async throws {
        let steered = SteeredAdmin()
        for _ in 0..<2 { _ = try await steered.admit("alice") }
        try await steered.serve { admin in
            let leases = try #require(try admin.call("GET", Self.holder + "/leases").json?["leases"])
            #expect(leases.count == 2)
            #expect((1...30).contains(leases[0]?["expiresInSeconds"]?.int ?? 0))
            let first = try #require(leases[0]?["request"]?.string)
            #expect(try admin.call("DELETE", Self.holder + "/leases/\(first)").json?["dropped"]?.int == 1)
            #expect(try admin.call("DELETE", Self.holder + "/leases/\(first)").json?["dropped"]?.int == 0)
            #expect(try admin.call("DELETE", Self.holder + "/leases?reason=stuck").json?["dropped"]?.int == 1)
            #expect(try admin.call("GET", Self.holder + "/leases").json?["leases"]?.count == 0)
            for odd in ["xyz", first + "0", String(first.dropLast()) + "g"] {
                #expect(try admin.call("DELETE", Self.holder + "/leases/\(odd)").status == 400)
            }
        }
    }

    @Test func `A change that names a version is made only if nobody was faster`() async throws {
        try await SteeredAdmin().serve { admin in
            func block(_ tag: String) throws -> HTTPResponse {
                try admin.call("PUT", Self.holder + "/block", #"{"reason":"r"}"#, headers: [("If-Match", tag)])
            }
            #expect(try block("\"1\"").status == 412)
            #expect(try block("\"0\"").status == 200)
            let late = try block("\"0\"")
            #expect(late.status == 412 && late.header("etag") == "\"1\"" && late.json?["currentVersion"]?.int == 1)
            #expect(late.json?["code"]?.string == "version_conflict")
            #expect(try block("*").header("etag") == "\"2\"")
            for foreign in ["W/\"2\"", "\"abc\"", "\"\"", "\"-2\"", "\"+2\"", "\"9999999999999999999999\""] {
                #expect(try block(foreign).status == 412)
            }
            for odd in ["2", "\"2\", \"3\"", "\"2", "\"", "W/2"] { #expect(try block(odd).status == 400) }
            let drop = try admin.call("DELETE", Self.holder + "/leases", headers: [("If-Match", "\"1\"")])
            #expect(drop.status == 412)
            #expect(try admin.call("GET", Self.holder).json?["version"]?.int == 2)
        }
    }

    @Test func `Every change is in the trail with who and why, newest first and page by page`() async throws {
        try await SteeredAdmin().serve { admin in
            for number in 1...5 {
                let body = #"{"limit":"tokens_per_day","quantity":\#(number),"reason":"r\#(number)"}"#
                #expect(try admin.call("PUT", Self.holder + "/override", body).status == 200)
            }
            #expect(
                try admin.call("PUT", "/tenants/acme/limits/block", #"{"reason":"t"}"#, token: "bound").status == 200)
            let all = try #require(try admin.call("GET", "/tenants/acme/audit").json?["entries"])
            #expect(all.elements.map { $0["reason"]?.string } == ["t", "r5", "r4", "r3", "r2", "r1"])
            #expect(all[0]?["actor"]?.string == "bound" && all[1]?["actor"]?.string == "boss")
            #expect(all[1]?["before"]?["tokens_per_day"]?.int == 4 && all[1]?["after"]?["tokens_per_day"]?.int == 5)
            #expect(all[1]?["subject"]?.string == "alice" && all[0]?["subject"] == nil)
            let page = try #require(try admin.call("GET", "/tenants/acme/audit?subject=alice&limit=2").json)
            #expect(page["entries"]?.elements.map { $0["reason"]?.string } == ["r5", "r4"])
            let next = try #require(page["next"]?.string)
            let rest = try admin.call("GET", "/tenants/acme/audit?subject=YWxpY2U&encoding=base64url&before=\(next)")
            #expect(rest.json?["entries"]?.elements.map { $0["reason"]?.string } == ["r3", "r2", "r1"])
            #expect(rest.json?["next"]?.isNull == true)
            #expect(try admin.call("GET", "/tenants/acme/audit?scope=tenant").json?["entries"]?.count == 1)
            #expect(try admin.call("GET", "/tenants/borealis/audit").json?["entries"]?.count == 0)
            for bad in [
                "limit=0", "limit=501", "limit=x", "before=1", "before=", "scope=subject", "scope=tenant&subject=a",
                "encoding=hex", "limt=3", "subject=",
            ] {
                #expect(try admin.call("GET", "/tenants/acme/audit?\(bad)").status == 400, "\(bad)")
            }
        }
    }

    // MARK: Names

    @Test(arguments: [
        "a/b", "..", ".", "a:b", "{x}", "a b", "caf\u{e9}", "cafe\u{301}", "*", "\u{1F600}", "a%b", "a\u{0}b", "a\nb",
        "user-1:rpm", String(repeating: "x", count: 2000),
    ])
    func `Any subject that a token may hold is reached and is nobody else`(subject: String) async throws {
        let steered = SteeredAdmin()
        _ = try await steered.admit(SubjectID(subject))
        try await steered.serve { admin in
            let encoded = subject.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let base64 = String(decoding: base64URL(Array(subject.utf8)), as: UTF8.self)
            for path in ["/tenants/acme/subjects/\(encoded)", "/tenants/acme/subjects/\(base64)?encoding=base64url"] {
                let json = try #require(try admin.call("GET", path).json)
                #expect(json["subject"]?.bytes == Array(subject.utf8))
                #expect(json["limits"]?[0]?["used"]?.int == 1)
            }
            #expect(try admin.call("GET", "/tenants/acme/subjects/caf%C3%A8").json?["limits"]?[0]?["used"]?.int == 0)
        }
    }

    @Test(arguments: [
        "%FF", "%", "%2", "a%zz", "YQ==?encoding=base64url", "a?encoding=base64url", "_w?encoding=base64url",
    ])
    func `What is no subject is refused`(written: String) async throws {
        try await SteeredAdmin().serve { admin in
            let answer = try admin.call("GET", "/tenants/acme/subjects/\(written)")
            #expect(answer.status == 400)
        }
    }

    @Test func `An address has counters of its own`() async throws {
        try await SteeredAdmin().serve { admin in
            let path = "/tenants/acme/addresses/2001%3Adb8%3A%3A"
            let body = #"{"limit":"requests_per_minute","quantity":1,"reason":"r"}"#
            #expect(try admin.call("PUT", path + "/override", body).status == 200)
            let json = try #require(try admin.call("GET", path).json)
            // A network of IPv6 is one caller.
            #expect(json["address"]?.string == "2001:db8:0:0::/64" && json["limits"]?.count == 1)
            let other = try admin.call("GET", "/tenants/acme/addresses/2001%3Adb8%3A%3A7").json
            #expect(other?["address"]?.string == "2001:db8:0:0::/64")
            #expect(json["limits"]?[0]?["scope"]?.string == "address" && json["limits"]?[0]?["limit"]?.int == 1)
        }
    }

    // MARK: Mistakes

    @Test(
        arguments: [
            (#"{"limit":"tokens_per_day","quantity":1,"reason":"r","ttl":5}"#, "ttl"),
            (#"{"limit":"tokens_per_dya","quantity":1,"reason":"r"}"#, "limit"),
            (#"{"quantity":1,"reason":"r"}"#, "limit"),
            (#"{"limit":5,"quantity":1,"reason":"r"}"#, "limit"),
            (#"{"limit":"tokens_per_day","reason":"r"}"#, "quantity"),
            (#"{"limit":"tokens_per_day","quantity":-1,"reason":"r"}"#, "quantity"),
            (#"{"limit":"tokens_per_day","quantity":1.5,"reason":"r"}"#, "quantity"),
            (#"{"limit":"tokens_per_day","quantity":"1","reason":"r"}"#, "quantity"),
            (#"{"limit":"tokens_per_day","quantity":9007199254740993,"reason":"r"}"#, "quantity"),
            (#"{"limit":"tokens_per_day","quantity":1e300,"reason":"r"}"#, "quantity"),
            (#"{"limit":"tokens_per_day","quantity":1}"#, "reason"),
            (#"{"limit":"tokens_per_day","quantity":1,"reason":"  "}"#, "reason"),
            (#"{"limit":"tokens_per_day","quantity":1,"reason":"a\nb"}"#, "reason"),
            (#"{"limit":"tokens_per_day","quantity":1,"reason":7}"#, "reason"),
            (#"{"limit":"tokens_per_day","quantity":1,"reason":"r","expiresAt":"2001-01-01T00:00:00Z"}"#, "expiresAt"),
            (#"{"limit":"tokens_per_day","quantity":1,"reason":"r","expiresAt":"2999-01-01T00:00:00Z"}"#, "expiresAt"),
            (#"{"limit":"tokens_per_day","quantity":1,"reason":"r","expiresAt":"tomorrow"}"#, "expiresAt"),
            (#"{"limit":"tokens_per_day","quantity":1,"reason":"r","expiresInSeconds":0}"#, "expiresInSeconds"),
            (
                #"{"limit":"tokens_per_day","quantity":1,"reason":"r","expiresInSeconds":9999999999}"#,
                "expiresInSeconds"
            ),
            (
                #"{"limit":"tokens_per_day","quantity":1,"reason":"r","expiresInSeconds":9,"expiresAt":"2030-01-01T00:00:00Z"}"#,
                "expiresInSeconds"
            ),
            ("[]", nil), ("{", nil), ("", nil), (#"{"quantity":1,"quantity":2}"#, nil), ("{\"reason\":\"\u{0}\"}", nil),
            (
                "{\"reason\":\"\(String(repeating: "a", count: 600))\",\"limit\":\"tokens_per_day\",\"quantity\":1}",
                "reason"
            ),
        ] as [(String, String?)])
    func `A body with a mistake is refused by its member and changes nothing`(body: String, member: String?)
        async throws
    {
        try await SteeredAdmin().serve { admin in
            let answer = try admin.call("PUT", Self.holder + "/override", body)
            #expect(answer.status == 400 && answer.json?["code"]?.string == "invalid_request")
            #expect(answer.json?["member"]?.string == member)
            let json = try admin.call("GET", Self.holder).json
            #expect(json?["version"]?.int == 0 && json?["overrides"]?.count == 0)
        }
    }

    @Test func `Bounds of the body, its type and the method are kept`() async throws {
        try await SteeredAdmin().serve { admin in
            let large = #"{"reason":"\#(String(repeating: "a", count: 20_000))"}"#
            #expect(try admin.call("PUT", Self.holder + "/block", large).status == 413)
            let typed = try admin.call(
                "PUT", Self.holder + "/block", #"{"reason":"r"}"#, headers: [("Content-Type", "text/plain")])
            #expect(typed.status == 415)
            for (method, path, allowed) in [
                ("POST", "/status", "GET, HEAD"), ("GET", "/reload", "POST"), ("PATCH", Self.holder, "GET, HEAD"),
                ("GET", Self.holder + "/override", "PUT, DELETE"),
                ("PUT", Self.holder + "/leases", "GET, HEAD, DELETE"),
                ("GET", Self.holder + "/leases/\(String(repeating: "0", count: 32))", "DELETE"),
            ] {
                let answer = try admin.call(method, path, token: nil)
                #expect(answer.status == 405 && answer.header("allow") == allowed)
            }
            #expect(try admin.call("GET", Self.holder + "?plan=free&plan=pro").status == 400)
            #expect(try admin.call("DELETE", Self.holder + "/override?limit=all").json?["member"]?.string == "limit")
            #expect(try admin.call("DELETE", Self.holder + "/block?reason=%0A").json?["member"]?.string == "reason")
        }
    }

    @Test(arguments: QuotaFailure.allCases)
    func `A store that does not answer is told as such, and whether a change may have been made`(
        failure: QuotaFailure
    ) async throws {
        try await SteeredAdmin(store: AwayStore(failure)).serve { admin in
            let calls = [
                ("GET", "", nil), ("GET", "/leases", nil), ("PUT", "/block", #"{"reason":"r"}"#),
                ("DELETE", "/leases", nil),
                ("POST", "/reset", nil),
            ]
            for (method, resource, body) in calls as [(String, String, String?)] {
                let answer = try admin.call(method, Self.holder + resource, body)
                #expect(answer.status == 503 && answer.header("retry-after") == "2")
                #expect(answer.json?["code"]?.string == "quota_store_unavailable")
                let detail = answer.json?["detail"]?.string ?? ""
                #expect(detail.contains(failure.metricLabel))
                #expect(detail.contains("not known") == (method != "GET" && failure.mayHaveActed))
            }
            #expect(try admin.call("GET", "/tenants/acme/audit").status == 503)
            #expect(try admin.call("GET", "/status").status == 200)
        }
    }
}
