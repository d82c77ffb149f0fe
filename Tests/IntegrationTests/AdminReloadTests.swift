import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// Reloads by the admin API.
@Suite("Operators reload", .ownThread)
struct AdminReloadTests {
    private func write(_ settings: GatewaySettings, _ gateway: TestGateway) throws -> String {
        let process = gateway.process
        return settings.yaml(api: process.port, admin: process.adminPort, provider: gateway.provider.baseURL)
    }

    @Test func `A reload answers with the generation in force, keeps what is used, and counts from it`() throws {
        let gateway = try TestGateway()
        let caller = Caller("rpm-2")
        for _ in 0..<2 { #expect(try gateway.ask(Ask("used"), as: caller).status == 200) }
        for generation in 2...4 {
            #expect(try gateway.steer("POST", "/reload")["snapshotGeneration"]?.int == generation)
            #expect(try gateway.ask(Ask("used"), as: caller).status == 429)
        }
        let yaml = try self.write(gateway.settings, gateway)
        try gateway.process.folder.write(
            "askgate.yaml",
            yaml.replacing(
                "rpm-2: {limits: [{name: requests_per_minute, limit: 2}",
                with: "rpm-2: {limits: [{name: requests_per_minute, limit: 3}"))
        try gateway.steer("POST", "/reload")
        #expect(try gateway.steer("GET", gateway.holder(caller) + "?plan=rpm-2")["limits"]?[0]?["planLimit"]?.int == 3)
        #expect(try (0..<2).map { _ in try gateway.ask(Ask("used"), as: caller).status } == [200, 429])
    }

    @Test func `A bad file is told with its place and changes nothing`() throws {
        let gateway = try TestGateway()
        let yaml = try self.write(gateway.settings, gateway)
        try gateway.process.folder.write(
            "askgate.yaml", yaml.replacing("default_plan: open", with: "default_plan: opne"))
        let refused = try gateway.steer("POST", "/reload", status: 422)
        #expect(refused["problems"]?[0]?.string?.contains("did you mean `open`") == true)
        #expect(try gateway.steer("GET", "/status")["snapshotGeneration"]?.int == 1)
        #expect(gateway.isAlive)
        #expect(gateway.process.isReady)
    }

    @Test func `Operators come and go with a reload`() throws {
        let gateway = try TestGateway()
        var settings = gateway.settings
        settings.operators = Operators.yaml.replacing("{boss: {role: operator", with: "{boss: {role: viewer")
        settings.operators = settings.operators.replacing("bound: {role", with: "other: {role")
        try gateway.process.folder.write("askgate.yaml", try self.write(settings, gateway))
        try gateway.steer("POST", "/reload")
        try gateway.steer("POST", "/reload", status: 403)
        #expect(try gateway.steer("GET", "/status", token: Operators.bound)["operator"]?["name"]?.string == "other")
        settings.operators = "{}"
        try gateway.process.folder.write("askgate.yaml", try self.write(settings, gateway))
        let before = gateway.reloads
        gateway.process.child.signal(1)
        #expect(Stopwatch.wait(upTo: .seconds(15), every: 20) { gateway.reloads > before })
        try gateway.steer("GET", "/status", status: 401)
    }

    @Test func `What only a restart can change is said`() throws {
        let gateway = try TestGateway()
        var settings = gateway.settings
        settings.loops = 1
        settings.accessLog = "none"
        try gateway.process.folder.write("askgate.yaml", try self.write(settings, gateway))
        let notes = try #require(try gateway.steer("POST", "/reload")["notes"])
        #expect(notes.elements.contains { $0.string?.hasPrefix("loops: 2 to 1; restart") == true })
        #expect(notes.elements.contains { $0.string?.hasPrefix("log.access: stdout to none; restart") == true })
    }
}
