import EventLoops
import GatewayTesting
import GatewayTypes
import Testing

@testable import Asking

/// A core on a loop of its own, for asks over several routes.
final class RouteBench: @unchecked Sendable {
    // Unchecked: `core` is touched on the loop only.
    private let group: EventLoopGroup
    private var core: AskingCore?

    init() async throws {
        self.group = try EventLoopGroup(count: 1)
        try await self.run { bench in
            bench.core = AskingCore(loop: bench.group.loops[0])
            try #require(bench.core != nil)
        }
    }

    /// Runs the body on the loop.
    func run<Result: Sendable>(
        _ body: @escaping @concurrent @Sendable (RouteBench) async throws -> Result
    ) async throws -> Result {
        try await withTaskExecutorPreference(self.group.loops[0]) { try await body(self) }
    }

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

    /// Waits until no call is open, and gives the core back.
    func close() async throws {
        let watch = Stopwatch()
        var open = 1
        while open > 0, watch.elapsed < .seconds(10) {
            open = try await self.run { $0.core?.openCalls ?? 0 }
            if open > 0 { Stopwatch.sleep(milliseconds: 10) }
        }
        #expect(open == 0, "a call is left open")
        try await self.run { $0.core = nil }
        self.group.shutDown()
    }
}

/// Uses a core of its own and checks that nothing is left open.
func withRoutes(_ test: (RouteBench) async throws -> Void) async throws {
    let bench = try await RouteBench()
    try await test(bench)
    try await bench.close()
}
