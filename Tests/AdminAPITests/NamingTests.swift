import GatewayTypes
import JOSE
import Testing

@testable import AdminAPI

@Suite("Paths, times and tokens")
struct NamingTests {
    private func route(_ path: String) -> AdminRoute? { AdminRoute(ArraySlice(Array(path.utf8))) }
    private func segment(_ text: String) -> ArraySlice<UInt8> { ArraySlice(Array(text.utf8)) }

    @Test func `Paths name resources of a holder`() {
        let acme = self.segment("acme")
        #expect(self.route("/admin/v1/status") == .status)
        #expect(self.route("/admin/v1/reload") == .reload)
        #expect(self.route("/admin/v1/tenants") == .tenants)
        #expect(self.route("/admin/v1/tenants/acme") == .tenant(acme))
        #expect(self.route("/admin/v1/tenants/acme/audit") == .audit(acme))
        #expect(self.route("/admin/v1/tenants/acme/limits") == .holder(acme, .tenant, .standing))
        #expect(self.route("/admin/v1/tenants/acme/limits/override") == .holder(acme, .tenant, .override))
        let id = self.segment("a%2Fb")
        #expect(self.route("/admin/v1/tenants/acme/subjects/a%2Fb") == .holder(acme, .subject(id), .standing))
        #expect(self.route("/admin/v1/tenants/acme/subjects/a%2Fb/block") == .holder(acme, .subject(id), .block))
        #expect(self.route("/admin/v1/tenants/acme/addresses/a%2Fb/reset") == .holder(acme, .address(id), .reset))
        #expect(
            self.route("/admin/v1/tenants/acme/subjects/a%2Fb/leases/00")
                == .holder(acme, .subject(id), .lease(self.segment("00"))))
    }

    @Test(arguments: [
        "/admin/v1", "/admin/v1/", "/admin/v1/tenants/", "/admin/v1/tenants//limits", "/admin/v1/tenants/acme/",
        "/admin/v1/tenants/acme/subjects", "/admin/v1/tenants/acme/subjects/", "/admin/v1/tenants/acme/subjects//block",
        "/admin/v1/tenants/acme/subjects/a/b", "/admin/v1/tenants/acme/limits/block/", "/admin/v1/status/x",
        "/admin/v1/tenants/acme/limits/leases/a/b", "/ADMIN/v1/status", "/admin/v2/status", "/admin/v1//status",
        "/admin/v1/tenants/acme/audit/x", "/admin/v1/Status",
    ])
    func `Anything else names nothing`(path: String) { #expect(self.route(path) == nil) }

    @Test(
        arguments: [
            ("2030-03-21T04:00:00Z", 1_900_296_000_000_000), ("1970-01-01T00:00:00z", 0),
            ("2000-02-29T23:59:59.5Z", 951_868_799_500_000), ("2026-03-21T00:00:00+03:30", 1_774_038_600_000_000),
            ("2026-03-20t20:30:00-00:00", 1_774_038_600_000_000), ("2026-12-31T23:59:60Z", 1_798_761_600_000_000),
            ("1969-12-31T23:59:59Z", -1_000_000), ("2026-01-01T00:00:00.1234567Z", 1_767_225_600_123_456),
        ] as [(String, Int64)])
    func `Times are read as RFC 3339 writes them`(text: String, microseconds: Int64) {
        #expect(Instant.parse(text)?.microseconds == microseconds)
    }

    @Test(arguments: [
        "", "now", "2030-03-21", "2030-03-21T04:00Z", "2030-03-21T04:00:00", "2030-13-01T00:00:00Z",
        "2030-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2030-00-10T00:00:00Z", "2030-01-00T00:00:00Z",
        "2030-01-01T24:00:00Z", "2030-01-01T00:60:00Z", "2030-01-01T00:00:61Z", "2030-01-01T00:00:00.Z",
        "2030-01-01T00:00:00+1:00", "2030-01-01T00:00:00+24:00", "2030-01-01 00:00:00Z ", "+030-01-01T00:00:00Z",
        "2030-01-01T00:00:00ZZ", "2030-01-01T00:00:00\u{663}Z",
        "2030-01-01T00:00:00.\(String(repeating: "1", count: 30))Z",
    ])
    func `No other text is a time`(text: String) { #expect(Instant.parse(text) == nil) }

    @Test(
        arguments: [
            ("a%20b", "a b"), ("%C3%A9", "é"), ("%2f%2F", "//"), ("", ""), ("a+b", "a+b"), ("%", nil), ("%4", nil),
            ("%zz", nil), ("a%", nil),
        ] as [(String, String?)])
    func `Percent signs are read strictly`(text: String, expected: String?) {
        #expect(PercentCoding.decode(text.utf8).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func `A query takes each known parameter once`() throws {
        let query = try QueryItems(self.segment("reason=a+b%2Bc&limit=&&plan"), known: ["reason", "limit", "plan"])
        #expect(try query.text("reason") == "a b+c")
        #expect(query.bytes("limit") == [] && query.bytes("plan") == [])
        for (bad, member) in [("x=1", "x"), ("limit=1&limit=2", "limit"), ("Limit=1", "Limit")] {
            let problem = #expect(throws: AdminProblem.self) {
                try QueryItems(self.segment(bad), known: ["limit"])
            }
            #expect(problem?.member == member && problem?.status == 400)
        }
        #expect(throws: AdminProblem.self) { try QueryItems(self.segment("limit=%"), known: ["limit"]) }
        let odd = try QueryItems(self.segment("limit=%FF"), known: ["limit"])
        #expect(throws: AdminProblem.self) { try odd.text("limit") }
    }

    @Test func `An operator is found by the hash of the whole token`() {
        let table = OperatorTable([
            (SHA256Digest(of: Array("first".utf8).span).bytes, Operator(name: "one", role: .viewer)),
            (SHA256Digest(of: Array("second".utf8).span).bytes, Operator(name: "two", role: .operator)),
            ([], Operator(name: "nobody", role: .operator)),
        ])
        func name(_ value: String) -> String? { table.operator(authorization: Array(value.utf8).span)?.name }
        #expect(name("Bearer first") == "one" && name("bearer second") == "two" && name("BEARER  second") == "two")
        let strangers = [
            "", "Bearer", "Bearer ", "Bearer third", "Bearer first ", "Bearer firs", "Basic first", "first",
            "Bearerfirst",
            "Bearer first,second", "Bearer " + String(repeating: "a", count: 600),
        ]
        for stranger in strangers { #expect(name(stranger) == nil) }
    }

    @Test(arguments: Operator.Role.allCases)
    func `An operator bound to tenants finds no others`(role: Operator.Role) {
        let bound = Operator(name: "one", role: role, tenants: ["acme"])
        #expect(bound.sees("acme") && !bound.sees("borealis") && !bound.sees("acm"))
        #expect(Operator(name: "two", role: role).sees("borealis"))
    }
}
