import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// `askgate quota` against a running gateway.
@Suite("askgate quota", .ownThread, .gateway())
struct QuotaCommandTests {
    private func run(
        _ arguments: [String], token: String = Operators.boss, environment: [String: String] = [:]
    ) throws -> (code: Int?, output: String, errors: String) {
        let port = try TestGateway.current.process.adminPort
        let basis = ["ASKGATE_ADMIN_URL": "http://127.0.0.1:\(port)", "ASKGATE_OPERATOR_TOKEN": token]
        return try ChildProcess.run(
            GatewayProcess.binary(), ["quota"] + arguments, environment: basis.merging(environment) { $1 })
    }

    private func json(_ arguments: String...) throws -> JSONValue {
        let end = try self.run(arguments + ["--json"])
        #expect(end.code == 0, "\(end.errors)")
        return try JSONDocument(parsing: Array(end.output.utf8)).root
    }

    @Test func `A quota is shown, moved and given back`() throws {
        let gateway = try TestGateway.current
        let caller = Caller("rpm-1")
        #expect(try gateway.ask(Ask("cli"), as: caller).status == 200)
        let set = try self.run(
            ["set", "acme", caller.subject, "requests_per_minute=3", "--reason", "launch day", "--for", "2h"])
        #expect(set.code == 0 && set.output.contains("override requests_per_minute to 3 until"), "\(set.errors)")
        #expect(try (0..<3).map { _ in try gateway.ask(Ask("cli"), as: caller).status } == [200, 200, 429])
        let shown = try self.run(["show", "acme", caller.subject, "--plan", "rpm-1"]).output.split(separator: "\n")
        let row = try #require(shown.first { $0.hasPrefix("requests_per_minute  subject") })
        #expect(row.split(separator: " ").prefix(6) == ["requests_per_minute", "subject", "3", "1", "3", "0"])
        let titles = try #require(shown.first { $0.hasPrefix("LIMIT") })
        #expect(titles.count == row.count, "columns are aligned:\n\(titles)\n\(row)")
        #expect(try self.run(["clear", "acme", caller.subject, "--limit", "requests_per_minute"]).code == 0)
        #expect(try self.json("show", "acme", caller.subject)["overrides"]?.count == 0)
        #expect(try self.run(["reset", "acme", caller.subject, "--reason", "goodwill"]).code == 0)
        #expect(try gateway.used("requests_per_minute", by: caller) == 0)
        let audit = try self.json("audit", "acme", caller.subject)["entries"]
        #expect(audit?.elements.map { $0["action"]?.string } == ["reset", "clear_override", "override"])
        #expect(
            try self.run(["audit", "acme", caller.subject, "--lines", "1"]).output.contains("older ones: --before "))
    }

    @Test func `A subject is blocked and let in again, a place is freed`() throws {
        let gateway = try TestGateway.current
        let caller = Caller()
        #expect(try self.run(["block", "acme", caller.subject, "--reason", "leak"]).code == 0)
        #expect(try gateway.ask(Ask("cli"), as: caller).code == "subject_blocked")
        #expect(try self.run(["show", "acme", caller.subject]).output.contains("BLOCKED until unblocked"))
        #expect(try self.run(["unblock", "acme", caller.subject]).code == 0)
        #expect(try gateway.ask(Ask("cli"), as: caller).status == 200)
        #expect(try self.run(["leases", "acme", caller.subject]).output.contains("no ask holds a place"))
        #expect(try self.json("leases", "acme", caller.subject, "--drop", "all")["dropped"]?.int == 0)
        #expect(
            try self.json("leases", "acme", "--drop", String(repeating: "0", count: 32))["scope"]?.string == "tenant")
    }

    @Test(arguments: ["..", "a/b c", "caf\u{e9}", "?x=1#y", "-dash", "\u{1b}[31mred"])
    func `Any subject can be named, and none steers the terminal`(subject: String) throws {
        let shown = try self.run(["show", "acme", "--subject=\(subject)"])
        #expect(shown.code == 0, "\(shown.errors)")
        #expect(!shown.output.contains("\u{1b}"))
        #expect(try self.json("show", "acme", "--subject=\(subject)")["subject"]?.bytes == Array(subject.utf8))
    }

    @Test func `Tenants are listed with their plans`() throws {
        let output = try self.run(["show"], token: Operators.viewer).output
        #expect(output.contains("borealis  UTC") && output.contains("open (default)"))
        #expect(try !self.run(["show"], token: Operators.bound).output.contains("borealis"))
    }

    @Test func `Exit statuses tell refused, conflict, usage and unreachable apart`() throws {
        let port = try TestGateway.current.process.adminPort
        func code(_ arguments: [String], token: String = Operators.boss, _ more: [String: String] = [:]) throws -> Int?
        {
            let end = try self.run(arguments, token: token, environment: more)
            #expect(end.code == 0 || !end.errors.isEmpty)
            #expect(token.isEmpty || !end.errors.contains(token) && !end.output.contains(token))
            return end.code
        }
        #expect(try code(["show", "nowhere"]) == 1)
        #expect(try code(["show"], token: "wrong") == 1)
        #expect(try code(["reset", "acme", "x"], token: Operators.viewer) == 1)
        #expect(try code(["reset", "acme", "versioned", "--if-version", "7"]) == 2)
        #expect(try code(["reset", "acme", "versioned", "--if-version", "0"]) == 0)
        for bad in [
            [], ["frobnicate"], ["set", "acme", "x", "requests_per_minute=1"], ["set", "acme", "x", "--reason", "r"],
            ["set", "acme", "x", "requests=1", "--reason", "r"], ["show", "acme", "x", "y"], ["block", "acme", "x"],
            ["show", "--frob"], ["show", "--admin", "ftp://x"], ["show", "--if-version"], ["reset"],
            [
                "set", "acme", "x", "tokens_per_day=1", "--reason", "r", "--for", "1h", "--until",
                "2030-01-01T00:00:00Z",
            ],
            ["reset", "acme", "x", "--if-version", "-1"], ["show", "--token-file", "/nonexistent"],
        ] { #expect(try code(bad) == 64, "\(bad)") }
        #expect(try code(["show"], token: "") == 64)
        #expect(try code(["show", "--admin", "http://127.0.0.1:1"]) == 69)
        #expect(try code(["show", "--admin", "127.0.0.1:\(port)/"], ["ASKGATE_ADMIN_URL": "http://127.0.0.1:1"]) == 0)
        #expect(try code(["--help"], token: "") == 0)
        // The api listener is not the admin API.
        #expect(try code(["show", "--admin", "127.0.0.1:\(TestGateway.current.process.port)"]) == 1)
    }

    @Test func `The listener comes from a configuration, the token from a file`() throws {
        let gateway = try TestGateway.current
        let file = try gateway.process.folder.write("operator.token", Operators.viewer + "\n")
        let end = try self.run(
            ["show", "acme", "--config", gateway.process.configurationPath, "--token-file", file], token: "wrong",
            environment: ["ASKGATE_ADMIN_URL": "http://127.0.0.1:1", "TEST_PROVIDER_KEY": "x"])
        #expect(end.code == 0, "\(end.errors)")
    }

    @Test func `A new operator's token works once its line is in the configuration`() throws {
        let made = try ChildProcess.run(GatewayProcess.binary(), ["operator-token", "night-shift", "--role", "viewer"])
        #expect(made.code == 0)
        let token = made.output.trimmingSuffix("\n")
        #expect(token.hasPrefix("ago_") && token.utf8.count == 47)
        #expect(!made.errors.contains(token))
        let line = try #require(made.errors.split(separator: "\n").first { $0.contains("token_sha256") })
        var settings = GatewaySettings()
        settings.operators = "{\(line)}"
        let gateway = try TestGateway(settings)
        let status = try gateway.steer("GET", "/status", token: token)
        #expect(status["operator"]?["name"]?.string == "night-shift" && status["operator"]?["role"]?.string == "viewer")
        let again = try ChildProcess.run(GatewayProcess.binary(), ["operator-token", "night-shift"])
        #expect(again.output != made.output)
        for bad in [["operator-token"], ["operator-token", "a b"], ["operator-token", "a", "--role", "root"]] {
            #expect(try ChildProcess.run(GatewayProcess.binary(), bad).code == 2)
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        self.hasSuffix(suffix) ? String(self.dropLast(suffix.count)) : self
    }
}
