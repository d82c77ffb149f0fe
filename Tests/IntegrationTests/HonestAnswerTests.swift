import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What operators are told of a change is what it does to callers.
@Suite("Operators are told what holds", .ownThread)
struct HonestAnswerTests {
    private func run(_ process: GatewayProcess, _ arguments: [String]) throws -> (code: Int?, output: String) {
        let end = try ChildProcess.run(
            GatewayProcess.binary(), ["quota"] + arguments,
            environment: [
                "ASKGATE_ADMIN_URL": "http://127.0.0.1:\(process.adminPort)", "ASKGATE_OPERATOR_TOKEN": Operators.boss,
            ])
        return (end.code, end.output + end.errors)
    }

    @Test func `A blocked address is blocked for the plans that the answer names, on every instance`() throws {
        let redis = try RedisServer()
        let gateways = try GuestGateway.pair(redis)
        let process = gateways[0].process
        let guest = try gateways[0].guestToken("installation-of-mina")
        let member = GuestGateway.account("alice")
        for (written, address) in [("::ffff:198.51.100.7", "198.51.100.7"), ("2001:DB8:0:0:9::", "2001:db8::1")] {
            let block = try self.run(process, ["block", "acme", "--address", written, "--reason", "net"])
            #expect(block.code == 0 && block.output.contains("holds for callers of the plans: guest\n"), "\(block)")
            for gateway in gateways {
                #expect(try gateway.ask(guest, from: address).json?["code"]?.string == "subject_blocked")
                #expect(try gateway.ask(guest, from: "198.51.100.8").status == 200)
                #expect(try gateway.ask(member, from: address).status == 200)
            }
            let shown = try self.run(process, ["show", "acme", "--address", address]).output
            #expect(shown.contains("BLOCKED until unblocked (20") && shown.contains(" by boss: net)"), "\(shown)")
            #expect(shown.contains("holds for callers of the plans: guest\n"))
            #expect(try self.run(process, ["unblock", "acme", "--address", written]).code == 0)
            #expect(try gateways[1].ask(guest, from: address).status == 200)
        }
        let limit = ["set", "acme", "--address", "198.51.100.9", "requests_per_minute=1", "--reason", "net"]
        #expect(try self.run(process, limit).output.contains("holds for callers of the plans: guest\n"))
        #expect(try (0..<2).map { _ in try gateways[1].ask(guest, from: "198.51.100.9").status } == [200, 429])
        #expect(try gateways[1].ask(member, from: "198.51.100.9").status == 200)
        let range = try self.run(process, ["block", "acme", "--address", "198.51.100.0/24", "--reason", "net"])
        #expect(range.code == 1 && range.output.contains("ranges are not possible"), "\(range)")
    }

    @Test func `An address is not blocked where no plan counts any`() throws {
        let gateway = try TestGateway()
        let block = try self.run(gateway.process, ["block", "acme", "--address", "127.0.0.1", "--reason", "net"])
        #expect(block.code == 1 && block.output.contains("scope `address`"), "\(block)")
        let shown = try self.run(gateway.process, ["show", "acme", "--address", "127.0.0.1"]).output
        #expect(shown.contains("not blocked") && shown.contains("holds for nobody"), "\(shown)")
    }

    @Test func `Who changes nothing is told so, with status 0`() throws {
        let gateway = try TestGateway()
        func line(_ arguments: String...) throws -> String {
            let end = try self.run(gateway.process, arguments)
            #expect(end.code == 0, "\(end)")
            return end.output
        }
        #expect(try line("block", "acme", "mallory", "--reason", "leak").contains("block  version 1"))
        let typo = "acme malory  was not blocked; nothing was changed  version 0\n"
        #expect(try line("unblock", "acme", "malory") == typo)
        #expect(try gateway.ask(Ask("typo"), as: Caller(subject: "mallory")).code == "subject_blocked")
        #expect(try line("unblock", "acme", "mallory").contains("unblock  version 2"))
        #expect(try line("unblock", "acme", "mallory").contains("was not blocked; nothing was changed  version 2"))
        #expect(try line("reset", "acme", "malory").contains("nothing was counted; nothing was changed"))
        #expect(
            try line("reset", "acme", "malory", "--limit", "tokens_per_day").contains(
                "nothing was counted of tokens_per_day"))
        #expect(try line("clear", "acme", "malory").contains("had no override; nothing was changed"))
        #expect(try line("leases", "acme", "malory", "--drop", "all").contains("no place was held"))
        #expect(try line("audit", "acme", "malory").split(separator: "\n").count == 6)
    }

    @Test func `The trail is read as what stood before and after`() throws {
        let gateway = try TestGateway()
        for arguments in [
            ["block", "acme", "mallory", "--reason", "leak", "--until", "2030-01-02T03:04:05Z"],
            ["unblock", "acme", "mallory"], ["give-plan", "acme", "alice", "--plan", "narrow", "--reason", "press"],
            ["clear-plan", "acme", "alice"],
        ] { #expect(try self.run(gateway.process, arguments).code == 0, "\(arguments)") }
        func row(_ action: String) throws -> [String] {
            let lines = try self.run(gateway.process, ["audit", "acme"]).output.split(separator: "\n")
            let line = try #require(lines.first { $0.contains("  \(action)  ") })
            let cells = line.split(separator: "  ", omittingEmptySubsequences: true)
            return cells.map { String($0.drop { $0 == " " }) }.dropFirst(3).map { $0 }
        }
        let end = "2030-01-02T03:04:05.000Z"
        #expect(try row("block") == ["acme mallory", "not blocked", "blocked until \(end)", end, "1", "leak"])
        #expect(try row("unblock").prefix(4) == ["acme mallory", "blocked until \(end)", "not blocked", "2"])
        #expect(try row("give_plan") == ["acme alice", "no plan given", "plan narrow", "-", "press"])
        #expect(try row("clear_plan").prefix(4) == ["acme alice", "plan narrow", "no plan given", "-"])
    }
}
