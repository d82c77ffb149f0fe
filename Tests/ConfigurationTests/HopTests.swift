import Configuration
import Gateway
import GatewayTypes
import Testing

/// The listener by which instances reach each other.
@Suite("Internal listener") struct HopTests {
    private func document(_ internal: String) throws -> ConfigurationDocument {
        let listeners = "listeners: {api: {}, internal: \(`internal`)}\nstore: {kind: redis, address: \"redis:6379\"}\n"
        return try load(goodConfiguration.replacing(only: "listeners: {api: {}}\n", by: listeners)).document
    }

    @Test func `It is off unless it is asked for, and then says little`() throws {
        #expect(try load(goodConfiguration).document.listeners.hop == nil)
        let hop = try #require(try self.document("{secret: {env: HOP_SECRET}}").listeners.hop)
        #expect(hop.listener == ListenerAddress(address: "127.0.0.1", port: 8081) && hop.advertised == nil)
        #expect(hop.secrets.map(\.value) == [Secret("canary-secret-of-hops-of-32-bytes!!")])
    }

    @Test(arguments: ["gw-1.internal:8081", "10.0.0.7:1", "[2001:db8::7]:65535", "a:8081"])
    func `What is told to the others is a host and a port`(advertised: String) throws {
        let hop = try self.document(
            "{address: 0.0.0.0, advertise: \"\(advertised)\", secret: {env: HOP_SECRET}}"
        ).listeners.hop
        #expect(hop?.advertised == advertised)
    }

    @Test func `The first of two secrets signs, and both are shown by their places alone`() throws {
        let document = try self.document("{secret: [{env: HOP_SECRET}, {env: HOP_SECRET_BEFORE}]}")
        #expect(
            document.listeners.hop?.secrets.map(\.source.description) == [
                "environment variable HOP_SECRET", "environment variable HOP_SECRET_BEFORE",
            ])
        #expect(document.effectiveText.contains(#""redacted, from environment variable HOP_SECRET_BEFORE""#))
        #expect(!document.effectiveText.contains("canary"))
    }

    @Test func `Its place needs a restart, its secrets do not`() throws {
        let old = try self.document("{secret: {env: HOP_SECRET}}")
        let secret = try self.document("{secret: [{env: HOP_SECRET_BEFORE}, {env: HOP_SECRET}]}")
        #expect(old.restartOnlyChanges(to: secret).isEmpty)
        let moved = try self.document("{port: 81, advertise: \"gw:81\", secret: {env: HOP_SECRET}}")
        #expect(
            old.restartOnlyChanges(to: moved).map(\.description) == [
                "listeners.internal: 127.0.0.1:8081 to 127.0.0.1:81, advertised as gw:81; restart to change a listener"
            ])
        let none = goodConfiguration + "store: {kind: redis, address: \"redis:6379\"}\n"
        #expect(
            try old.restartOnlyChanges(to: load(none).document).map(\.description) == [
                "listeners.internal: 127.0.0.1:8081 to none; restart to change a listener"
            ])
    }
}
