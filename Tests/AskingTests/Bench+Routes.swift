import GatewayTesting
import GatewayTypes
import Testing

@testable import Asking

/// Asks over several routes.
extension Bench {
    /// Starts an ask over providers in this order, each with the model `m-` and its name.
    /// - Parameter missing: routes before them to providers that are not there.
    func start(
        over providers: [Provider], tenant: TenantID = "acme", text: String = "How do tides work?",
        missing: [ProviderName] = []
    ) async throws -> TestAsk {
        try await self.run { bench in
            let test = TestAsk()
            let names = missing + providers.map(\.name)
            let routes = names.map { ProviderRoute(provider: $0, model: ModelName("m-\($0.string)")) }
            let known = Dictionary(providers.map { ($0.name, $0) }) { first, _ in first }
            test.ask = bench.core?.ask(
                .sample(text), over: AskRoutes(routes, of: known, tenant: tenant, seed: 1), receiver: test)
            return test
        }
    }
}
