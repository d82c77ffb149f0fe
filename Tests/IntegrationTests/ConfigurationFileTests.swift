import GatewayTesting
import GatewayTypes
import JSON
import Testing

@Suite("Configuration files", .oneOfFewThreads)
struct ConfigurationFileTests {
    /// A file with everything it names beside it.
    private func folder(_ yaml: String) throws -> (folder: TemporaryFolder, path: String) {
        let folder = try TemporaryFolder()
        try folder.write("acme.json", Issuers.jwks)
        try folder.write("borealis.secret", Issuers.secret)
        return (folder, try folder.write("askgate.yaml", yaml))
    }

    private var good: String { GatewaySettings().yaml(api: 18080, admin: 19090, provider: "http://127.0.0.1:1/v1") }

    private func check(_ yaml: String, _ options: String...) throws -> (code: Int?, output: String, path: String) {
        let (folder, path) = try self.folder(yaml)
        let end = try ChildProcess.run(
            try GatewayProcess.binary(), ["check", path] + options, environment: ["TEST_PROVIDER_KEY": "sk-KEYMARK"])
        withExtendedLifetime(folder) {}
        return (end.code, end.output + end.errors, path)
    }

    @Test func `A good file is said to be good`() throws {
        let end = try self.check(self.good)
        #expect(end.code == 0, "\(end.output)")
    }

    @Test(arguments: [
        ("tokens_per_day,", "token_per_day,", "tokens_per_day"),
        ("requests_per_minute,", "requests_per_minit,", "requests_per_minute"),
        ("default_plan:", "defaultplan:", "default_plan"), ("dialect: openai", "dialect: openia", "openai"),
        ("provider: main, model: m-rewrite", "provider: mian, model: m-rewrite", "main"),
        ("loops: 2", "loops: two", "loops"),
        ("loops: 2", "loops: 2\nloops: 3", "loops"), ("limit: 5}", "limit: -5}", "limit"),
        ("zone: UTC", "zone: Mars/Olympus", "zone"), ("kind: memory", "kind: memori", "memory"),
        ("{env: TEST_PROVIDER_KEY}", "sk-KEYMARK", "env"),
        ("{env: TEST_PROVIDER_KEY}", "{env: NO_SUCH_VARIABLE}", "NO_SUCH_VARIABLE"),
        ("jwks_file: acme.json", "jwks_file: missing.json", "missing.json"),
        ("builtin: summarize", "builtin: sumarize", "summarize"),
        ("default_plan: open", "default_plan: opne", "open"), ("connect: 2s", "connect: 2", "connect"),
    ])
    func `A mistake is refused with its place and what to write`(right: String, wrong: String, named: String) throws {
        let yaml = self.good
        let place = try #require(yaml.firstRange(of: right), "the sample has no \(right)")
        var broken = yaml
        broken.replaceSubrange(place, with: wrong)
        let end = try self.check(broken)
        #expect(end.code == 1, "\(end.output)")
        let line = yaml[..<place.lowerBound].utf8.count { $0 == 10 } + 1
        #expect((line...line + 1).contains { end.output.contains("\(end.path):\($0):") }, "\(end.output)")
        #expect(end.output.contains(named), "\(end.output)")
        #expect(!end.output.contains("sk-KEYMARK"))

        let (folder, path) = try self.folder(broken)
        let serve = try ChildProcess.run(
            try GatewayProcess.binary(), ["serve", "--config", path], environment: ["TEST_PROVIDER_KEY": "x"],
            within: .seconds(10))
        withExtendedLifetime(folder) {}
        #expect(serve.code != nil && serve.code != 0)
        #expect((serve.output + serve.errors).contains("\(path):"))
    }

    @Test func `Every mistake of a file is told at once`() throws {
        let end = try self.check(
            self.good.replacing("zone: UTC", with: "zone: Mars/Olympus").replacing("loops: 2", with: "loop: 2"))
        #expect(end.code == 1)
        #expect(end.output.split(separator: "\n").count { $0.contains("\(end.path):") } >= 3)
    }

    @Test(arguments: ["", "- a\n", "a: &x [1]\nb: *x\n", "!tag a: 1\n", "a: {\n", "\u{0}", "a: 1\n---\nb: 2\n"])
    func `What is no configuration is refused with a reason`(text: String) throws {
        let end = try self.check(text)
        #expect(end.code == 1)
        #expect(end.output.contains(end.path))
    }

    @Test func `A file that is not there is refused by name`() throws {
        let end = try ChildProcess.run(try GatewayProcess.binary(), ["check", "/nonexistent/askgate.yaml"])
        #expect(end.code == 1)
        #expect((end.output + end.errors).contains("/nonexistent/askgate.yaml"))
    }

    @Test func `Line ends, a byte order mark and a missing last line end change nothing`() throws {
        let usual = try self.check(self.good, "--effective")
        #expect(usual.code == 0)
        #expect(usual.output.contains("requests_per_minute"))
        #expect(!usual.output.contains("KEYMARK"))
        for variant in [
            self.good.replacing("\n", with: "\r\n"), "\u{FEFF}" + self.good, String(self.good.dropLast()),
            "\u{FEFF}" + self.good.replacing("\n", with: "\r\n"),
        ] {
            let end = try self.check(variant, "--effective")
            #expect(end.code == 0)
            #expect(self.placeless(end) == self.placeless(usual))
        }
    }

    /// The output without the folder that the file was in.
    private func placeless(_ end: (code: Int?, output: String, path: String)) -> String {
        end.output.replacing(end.path.dropLast("/askgate.yaml".count), with: "")
    }

    /// What a clean clone has of this, with the program where a release build leaves it.
    private func clone() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let binary = try ChildProcess.run("realpath", [GatewayProcess.binary()]).output.dropLast()
        _ = try ChildProcess.run("mkdir", ["-p", "\(folder.path)/.build/release"])
        _ = try ChildProcess.run("ln", ["-s", String(binary), "\(folder.path)/.build/release/askgate"])
        _ = try ChildProcess.run("cp", ["-r", "config", "\(folder.path)/config"])
        return folder
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try #require(TemporaryFolder.read(path)), as: UTF8.self)
    }

    @Test func `The samples of the project are good once their first lines were run`() throws {
        let samples = try ChildProcess.run("ls", ["config"]).output.split(separator: "\n").filter {
            $0.hasSuffix(".yaml")
        }
        #expect(samples.count == 5)
        for name in samples {
            let folder = try self.clone()
            let head = try self.text("config/\(name)").split(separator: "\n").prefix { $0.hasPrefix("#") }
            let needs = head.filter { $0.hasPrefix("#   ") }.map { $0.dropFirst(4) }.joined(separator: "\n")
            #expect(!needs.isEmpty)
            let check = "cd \(folder.path)\n\(needs)\nexec .build/release/askgate check config/\(name)"
            let end = try ChildProcess.run("bash", ["-euo", "pipefail", "-c", check])
            #expect(end.code == 0 && !end.errors.contains("warning"), "\(name): \(end.output)\(end.errors)")
        }
    }

    @Test func `The commands of the README work as pasted`() throws {
        let folder = try self.clone()
        let section = try #require(self.text("README.md").split(separator: "## Configuration\n").last)
        let block = try #require(section.split(separator: "```\n").dropFirst().first)
        let lines = block.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("askgate check ") } && lines.contains { $0.hasPrefix("askgate serve ") })
        let pasted = lines.filter { !$0.hasPrefix("askgate serve ") }.joined(separator: "\n")
        let end = try ChildProcess.run("bash", ["-euo", "pipefail", "-c", "cd \(folder.path)\n\(pasted)"])
        #expect(end.code == 0 && end.errors.contains("good; 1 tenant"), "\(end.errors)")
    }
}

@Suite("Reload", .oneOfFewThreads)
struct ReloadTests {
    @Test func `A reload keeps counters, and a new limit counts what was used`() throws {
        let gateway = try TestGateway()
        let caller = Caller("rpm-3")
        for _ in 0..<3 { #expect(try gateway.ask(Ask("use"), as: caller).status == 200) }
        for _ in 0..<10 { try gateway.reload(gateway.settings) }
        #expect(try gateway.ask(Ask("use"), as: caller).status == 429)
        var wider = gateway.settings.yaml(
            api: gateway.process.port, admin: gateway.process.adminPort, provider: gateway.provider.baseURL)
        wider.replace(
            "rpm-3: {limits: [{name: requests_per_minute, limit: 3}",
            with: "rpm-3: {limits: [{name: requests_per_minute, limit: 5}")
        try gateway.reload(yaml: wider)
        let statuses = try (0..<3).map { _ in try gateway.ask(Ask("use"), as: caller).status }
        #expect(statuses == [200, 200, 429])
        #expect(try gateway.quota(caller)["requests_per_minute"]?.limit == 5)
    }

    @Test func `A running stream goes on through a reload and keeps its place`() throws {
        let gateway = try TestGateway()
        let caller = Caller("conc-1")
        let marker = Caller.unique("through")
        let gate = Gate()
        _ = gateway.provider.script(
            marker,
            .events([
                .send(OpenAIShapes.event(OpenAIShapes.delta("a"))), .wait(gate),
                .send(OpenAIShapes.stream(["b"]).joined()),
            ]))
        let client = try gateway.client()
        var answer = try gateway.begin(Ask(marker, stream: true), as: caller, on: client)
        for _ in 0..<3 { try gateway.reload(gateway.settings) }
        #expect(try gateway.ask(Ask("second"), as: caller).code == "concurrent_requests_exceeded")
        gate.open()
        gateway.readEvents(of: &answer, on: client)
        answer.checkStream()
        #expect(answer.text == "ab")
        #expect(try gateway.charged(to: caller) == 15)
    }

    @Test(arguments: ["plans: {", "zone: Nowhere/Here", ""])
    func `A bad file changes nothing and is told`(wrong: String) throws {
        let gateway = try TestGateway()
        let caller = Caller("rpm-2")
        #expect(try gateway.ask(Ask("before"), as: caller).status == 200)
        let generation = gateway.process.metrics.value("askgate_snapshot_generation")
        let good = gateway.settings.yaml(
            api: gateway.process.port, admin: gateway.process.adminPort, provider: gateway.provider.baseURL)
        try gateway.reload(yaml: wrong.isEmpty ? "" : good.replacing("zone: UTC", with: wrong))
        #expect(gateway.process.isReady)
        #expect(gateway.process.metrics.value("askgate_snapshot_generation") == generation)
        let results = gateway.process.metrics.samples.filter {
            $0.name == "askgate_config_reloads_total" && $0.value > 0
        }
        #expect(results.map(\.value) == [1])
        #expect(Stopwatch.wait(upTo: .seconds(15)) { gateway.process.child.standardError.contains("askgate.yaml") })
        #expect(try gateway.ask(Ask("after"), as: caller).status == 200)
        #expect(try gateway.ask(Ask("over"), as: caller).status == 429)
        try gateway.reload(gateway.settings)
        #expect(try gateway.ask(Ask("still over"), as: caller).status == 429)
    }

    @Test func `A changed task, plan and provider are in force for the next ask`() throws {
        let gateway = try TestGateway()
        let other = try FakeProvider { call, _ in call.wantsStream ? .stream(["new"]) : .answer("new") }
        let caller = Caller()
        let client = try gateway.client()
        #expect(try gateway.ask(Ask("old"), as: caller, on: client).text == "ok")
        var settings = gateway.settings
        settings.providerURL = other.baseURL
        settings.tasks.append("extra: {builtin: summarize, routes: [{provider: main, model: m-extra}]}")
        try gateway.reload(settings)
        // The connection of the client outlives the snapshot.
        #expect(try gateway.ask(Ask("new"), as: caller, on: client).text == "new")
        #expect(try gateway.ask(Ask("new", task: "extra"), as: caller, on: client).text == "new")
        #expect(other.rest.calls.map { $0.json?["model"]?.string } == ["m-summarize", "m-extra"])
    }

    @Test func `A key that is gone stops verifying`() throws {
        let gateway = try TestGateway()
        let rsa = Caller()
        let ec = Caller(subject: rsa.subject, token: Issuers.ec.token(claims: Caller.claims(rsa.subject)))
        #expect(try gateway.ask(Ask("rsa"), as: rsa).status == 200)
        try gateway.process.folder.write("acme.json", Issuers.ec.jwks)
        try gateway.reload(gateway.settings)
        #expect(try gateway.ask(Ask("rsa"), as: rsa).status == 401)
        #expect(try gateway.ask(Ask("ec"), as: ec).status == 200)
    }

    @Test func `What only a restart can change is said and not done`() throws {
        let gateway = try TestGateway()
        let free = try TestSocket.freePort()
        try gateway.reload(
            yaml: gateway.settings.yaml(api: free, admin: gateway.process.adminPort, provider: gateway.provider.baseURL)
        )
        #expect(gateway.isAlive)
        #expect((try? RawClient(port: free)) == nil)
        #expect(Stopwatch.wait(upTo: .seconds(15)) { gateway.process.child.standardError.contains("restart") })
    }
}
