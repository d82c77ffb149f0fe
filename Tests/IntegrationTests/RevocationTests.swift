import GatewayTesting
import GatewayTypes
import JSON
import Synchronization
import Testing

/// Tokens that are taken back, at two instances beside one Redis.
@Suite("Revocation", .oneOfFewThreads)
struct RevocationTests {
    private static let path = "/tenants/acme/revocations"

    /// Within a second, and what a busy machine adds.
    private func isRefused(_ token: String, _ gateway: GuestGateway) throws -> Bool {
        try Stopwatch.wait(upTo: .seconds(3), every: 20) { try gateway.ask(token).status == 401 }
    }

    @Test func `A token, a session or all of a subject's tokens end on every instance within a second, under load`()
        throws
    {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis)
        let isOver = Mutex(false)
        let asked = Mutex(0)
        for number in 0..<2 {
            let token = GuestGateway.account("busy-\(number)")
            OwnThread.start {
                while !isOver.withLock({ $0 }) {
                    for gateway in gateways { _ = try? gateway.ask(token) }
                    asked.withLock { $0 += 1 }
                }
            }
        }
        defer { isOver.withLock { $0 = true } }
        let one = GuestGateway.account("alice", ["jti": #""token-a""#, "sid": #""session-a""#])
        let two = GuestGateway.account("alice", ["jti": #""token-b""#, "sid": #""session-a""#])
        let three = GuestGateway.account("alice", ["jti": #""token-c""#, "sid": #""session-c""#])
        let other = GuestGateway.account("alice", tenant: "borealis", ["jti": #""token-a""#, "sid": #""session-a""#])
        // Everybody is in the caches first.
        for gateway in gateways {
            for token in [one, two, three, other] { #expect(try gateway.ask(token).status == 200) }
        }
        let given = try gateways[0].steer("POST", Self.path, #"{"tokenId":"token-a","reason":"posted"}"#)
        #expect(given["action"]?.string == "revoke_token" && given["expiresAt"]?.string != nil)
        #expect(try gateways[0].ask(one).status == 401)
        #expect(try self.isRefused(one, gateways[1]))
        #expect(try gateways[1].ask(two).status == 200)
        _ = try gateways[1].steer("POST", Self.path, #"{"sessionId":"session-a","reason":"signed out"}"#)
        #expect(try self.isRefused(two, gateways[0]) && gateways[1].ask(two).status == 401)
        #expect(try gateways[0].ask(three).status == 200)
        _ = try gateways[0].steer("POST", Self.path, #"{"subject":"alice","reason":"stolen phone"}"#)
        #expect(try self.isRefused(three, gateways[1]))
        // Of the other tenant nothing was said.
        for gateway in gateways { #expect(try gateway.ask(other).status == 200) }
        // A token that is issued later is good.
        let later = "\(Int64(Stopwatch.wallSeconds()) + 2)"
        let fresh = GuestGateway.account("alice", ["jti": #""token-d""#, "sid": nil, "iat": later])
        for gateway in gateways { #expect(try gateway.ask(fresh).status == 200) }
        #expect(asked.withLock { $0 } > 0)
        let listed = try gateways[1].steer("GET", Self.path)["revocations"]
        #expect(listed?.elements.map { $0["reason"]?.string } == ["posted", "signed out", "stolen phone"])
        #expect(gateways[1].process.metrics.value("askgate_standing_orders") == 3)
        let reason = ["reason": "revoked"]
        #expect(gateways[1].process.metrics.value("askgate_authentication_failures_total", reason) > 0)
    }

    @Test func `Both instances are kept busy, and each revocation reaches the other within a second`() throws {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis)
        let isOver = Mutex(false)
        let asked = Mutex([0, 0])
        let others = Mutex<[Int?: Int]>([:])
        let ended = (0..<8).map { number in
            let (gate, token, place) = (Gate(), GuestGateway.account("busy-\(number)"), number % 2)
            OwnThread.start {
                while !isOver.withLock({ $0 }) {
                    let status = try? gateways[place].ask(token).status
                    if status == 200 { asked.withLock { $0[place] += 1 } }
                    // So many that their minute may be full.
                    if status != 200 && status != 429 { others.withLock { $0[status, default: 0] += 1 } }
                }
                gate.open()
            }
            return gate
        }
        defer {
            isOver.withLock { $0 = true }
            for gate in ended { gate.wait() }
        }
        let tokens = (0..<20).map { GuestGateway.account("subject-\($0)", ["jti": "\"lost-\($0)\""]) }
        for token in tokens { for gateway in gateways { #expect(try gateway.ask(token).status == 200) } }
        let before = asked.withLock { $0 }
        for (number, token) in tokens.enumerated() {
            let place = number % 2
            let order =
                number % 4 < 2
                ? #"{"tokenId":"lost-\#(number)","reason":"lost"}"#
                : #"{"subject":"subject-\#(number)","reason":"lost"}"#
            _ = try gateways[place].steer("POST", Self.path, order)
            #expect(try self.isRefused(token, gateways[1 - place]), "number \(number)")
            #expect(try gateways[place].ask(token).status == 401)
        }
        let after = asked.withLock { $0 }
        #expect(after[0] - before[0] > 20 && after[1] - before[1] > 20, "not kept busy: \(before) to \(after)")
        #expect(others.withLock { $0 } == [:], "of these callers nothing was said")
    }

    @Test func `What is taken back is good again, and the trail tells all of it`() throws {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis)
        let token = GuestGateway.account("alice", ["jti": #""token-a""#])
        _ = try gateways[0].steer("POST", Self.path, #"{"tokenId":"token-a","reason":"posted"}"#)
        #expect(try self.isRefused(token, gateways[1]))
        _ = try gateways[1].steer("DELETE", Self.path + "?tokenId=token-a&reason=mistake")
        #expect(try gateways[1].ask(token).status == 200)
        #expect(try Stopwatch.wait(upTo: .seconds(3), every: 20) { try gateways[0].ask(token).status == 200 })
        _ = try gateways[0].steer("DELETE", Self.path + "?tokenId=token-a", status: 404)
        let entries = try gateways[0].steer("GET", "/tenants/acme/audit")["entries"]
        #expect(entries?.elements.map { $0["action"]?.string } == ["readmit", "revoke_token"])
        #expect(entries?.elements.map { $0["object"]?.string } == ["token-a", "token-a"])
        #expect(entries?.elements.map { $0["reason"]?.string } == ["mistake", "posted"])
    }

    @Test func `What was known goes on holding without the store, and a new instance knows it before its first answer`()
        throws
    {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis)
        let token = GuestGateway.account("alice", ["jti": #""token-a""#])
        _ = try gateways[0].steer("POST", Self.path, #"{"tokenId":"token-a","reason":"posted"}"#)
        #expect(try self.isRefused(token, gateways[1]))
        let third = try GuestGateway.pair(redis)[0]
        #expect(try third.ask(token).status == 401)
        redis.kill()
        for gateway in gateways {
            for _ in 0..<5 { #expect(try gateway.ask(token).status == 401) }
        }
        _ = try gateways[0].steer("POST", Self.path, #"{"tokenId":"token-b","reason":"r"}"#, status: 503)
        // A server that comes back empty makes nobody welcome again.
        try redis.restart()
        #expect(
            try Stopwatch.wait(upTo: .seconds(10), every: 50) {
                try gateways[1].ask(GuestGateway.account("bob")).status == 200
            })
        #expect(try gateways[1].ask(token).status == 401)
    }

    @Test func `An operator's plan holds in place of the token's, here and there`() throws {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis)
        let token = GuestGateway.account("alice")
        #expect(try gateways[1].ask(token).status == 200)
        let given = try gateways[0].steer(
            "PUT", "/tenants/acme/subjects/alice/plan", #"{"plan":"single","reason":"abuse","expiresInSeconds":600}"#)
        #expect(given["plan"]?.string == "single" && given["action"]?.string == "give_plan")
        func plan(_ gateway: GuestGateway) throws -> String? {
            try gateway.call("GET", "/v1/quota", token: token).json?["plan"]?.string
        }
        #expect(try plan(gateways[0]) == "single")
        #expect(try Stopwatch.wait(upTo: .seconds(3), every: 20) { try plan(gateways[1]) == "single" })
        #expect(try gateways[1].ask(token).status == 429)
        #expect(try gateways[0].steer("GET", "/tenants/acme/subjects/alice")["plan"]?.string == "single")
        _ = try gateways[1].steer("DELETE", "/tenants/acme/subjects/alice/plan")
        #expect(try gateways[1].ask(token).status == 200)
        _ = try gateways[1].steer("DELETE", "/tenants/acme/subjects/alice/plan", status: 404)
        _ = try gateways[1].steer(
            "PUT", "/tenants/acme/subjects/alice/plan", #"{"plan":"gold","reason":"r"}"#, status: 400)
        // The same name in the other tenant is somebody else.
        let other = try gateways[0].call("GET", "/v1/quota", token: GuestGateway.account("alice", tenant: "borealis"))
        #expect(other.json?["plan"]?.string == "member")
    }

    @Test(arguments: [
        "{}", #"{"reason":"r"}"#, #"{"tokenId":"a"}"#, #"{"tokenId":"a","subject":"b","reason":"r"}"#,
        #"{"tokenId":"","reason":"r"}"#, #"{"tokenId":7,"reason":"r"}"#, #"{"tokenId":"a","reason":"r","more":1}"#,
        #"{"tokenId":"a","reason":"r","issuedBefore":"2026-01-01T00:00:00Z"}"#,
        #"{"subject":"a","reason":"r","issuedBefore":"2999-01-01T00:00:00Z"}"#,
        #"{"subject":"a","reason":"r","expiresAt":"2001-01-01T00:00:00Z"}"#,
    ])
    func `Orders that make no sense are refused and change nothing`(body: String) throws {
        let gateway = try Self.one()
        #expect(try gateway.steer("POST", Self.path, body, status: 400)["code"]?.string == "invalid_request")
        #expect(try gateway.steer("GET", Self.path)["revocations"]?.count == 0)
    }

    private static let shared = Mutex<GuestGateway?>(nil)

    private static func one() throws -> GuestGateway {
        try self.shared.withLock { shared in
            let gateway = try shared ?? GuestGateway()
            shared = gateway
            return gateway
        }
    }

    @Test func `Tokens are revoked and let in again from a shell`() throws {
        let gateway = try GuestGateway()
        func run(_ command: String, _ arguments: String..., token: String = Operators.boss) throws -> (Int?, String) {
            let end = try ChildProcess.run(
                GatewayProcess.binary(), [command] + arguments,
                environment: [
                    "ASKGATE_ADMIN_URL": "http://127.0.0.1:\(gateway.process.adminPort)",
                    "ASKGATE_OPERATOR_TOKEN": token,
                ])
            return (end.code, end.output + end.errors)
        }
        let token = GuestGateway.account("-dash", ["jti": #""token-a""#])
        #expect(try gateway.ask(token).status == 200)
        let (code, output) = try run("revoke", "token", "acme", "token-a", "--reason", "posted", "--for", "2h")
        #expect(code == 0 && output.contains("token token-a: revoke_token, until"), "\(output)")
        #expect(try gateway.ask(token).status == 401)
        let (listCode, list) = try run("revoke", "list", "acme", token: Operators.viewer)
        #expect(listCode == 0 && list.contains("token-a") && list.contains("posted"), "\(list)")
        #expect(try run("revoke", "undo", "acme", "--token", "token-a", "--reason", "mistake").0 == 0)
        #expect(try gateway.ask(token).status == 200)
        #expect(try run("revoke", "list", "acme").1.contains("nothing is revoked"))
        #expect(try run("revoke", "subject", "acme", "--id", "-dash", "--reason", "r").0 == 0)
        #expect(try gateway.ask(token).status == 401)
        #expect(try run("revoke", "undo", "acme", "--subject=-dash").0 == 0)
        #expect(try run("quota", "give-plan", "acme", "--subject=-dash", "--plan", "single", "--reason", "r").0 == 0)
        #expect(try run("quota", "show", "acme", "--subject=-dash").1.contains("plan single"))
        #expect(try run("quota", "clear-plan", "acme", "--subject=-dash").0 == 0)
        #expect(try run("revoke", "token", "acme", "x", "--reason", "r", token: Operators.viewer).0 == 1)
        #expect(try run("revoke", "undo", "acme", "--token", "never").0 == 1)
        #expect(try run("revoke", "--help").0 == 0)
        #expect(try run("revoke", "token", "acme", "x").0 == 64)
        #expect(try run("revoke", "token", "acme", "--reason", "r").0 == 64)
        #expect(try run("revoke", "undo", "acme").0 == 64)
        #expect(try run("revoke", "frobnicate", "acme").0 == 64)
    }
}
