import GatewayTesting
import Testing

/// Starts a gateway for a suite, lends it to its tests, and ends it behind them.
struct GatewayTrait: SuiteTrait, TestScoping {
    let start: @Sendable () throws -> TestGateway

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let gateway = try await OwnThreadExecutor.run { try self.start() }
        try await TestGateway.$shared.withValue(gateway) { try await function() }
        gateway.process.child.signal(9)
    }
}

extension Trait where Self == GatewayTrait {
    /// One gateway for all tests of the suite, at `TestGateway.current`.
    static func gateway(_ settings: GatewaySettings = GatewaySettings()) -> Self {
        Self { try TestGateway(settings) }
    }
}
