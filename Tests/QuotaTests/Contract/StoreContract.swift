import GatewayTypes
import Quota
import Testing

/// A store under test and the means to turn its clock.
protocol StoreClock: Sendable {
    func now() async -> WallTime
    func advance(by span: TimeSpan) async
    /// Turns the calendar clock alone.
    func set(wall: WallTime) async
}

/// One thing that every store has to hold. A suite for a store runs all of them:
/// `@Test(arguments: StoreContract.checks)` with a bench made for that store.
struct ContractCheck: Sendable, CustomTestStringConvertible {
    let name: String
    let run: @Sendable (StoreBench) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (StoreBench) async throws -> Void) {
        self.name = name
        self.run = run
    }

    var testDescription: String { self.name }
}

/// The contract of `QuotaStore`, written once for all of them. A bench must come with an empty store, at an instant
/// that the check does not care about unless it sets one.
enum StoreContract {
    static let checks: [ContractCheck] =
        Self.minuteChecks + Self.dayChecks + Self.zoneChecks + Self.runningChecks + Self.scopeChecks
        + Self.repetitionChecks + Self.operatorChecks + Self.trailChecks
}

/// What the checks share: a store, its clock, and short ways to ask.
struct StoreBench: Sendable {
    let store: any QuotaStore
    let clock: any StoreClock

    static let tenant: TenantID = "acme"

    func ask(
        _ subject: SubjectID, tenant: TenantID = Self.tenant, address: ByteString = "192.0.2.1",
        _ limits: [Limit], prompt: Int = 10, output: Int = 100, calendar: ZoneCalendar = .utc,
        request: RequestID = .random()
    ) -> QuotaAsk {
        QuotaAsk(
            caller: QuotaCaller(tenant: tenant, subject: subject, address: address), limits: limits,
            calendar: calendar, promptEstimate: prompt, outputCap: output, request: request)
    }

    /// An ask of the subject `u1`.
    func ask(
        tenant: TenantID = Self.tenant, address: ByteString = "192.0.2.1", _ limits: [Limit], prompt: Int = 10,
        output: Int = 100, calendar: ZoneCalendar = .utc, request: RequestID = .random()
    ) -> QuotaAsk {
        self.ask(
            "u1", tenant: tenant, address: address, limits, prompt: prompt, output: output, calendar: calendar,
            request: request)
    }

    /// The grant of an ask that has to pass.
    @discardableResult
    func pass(_ ask: QuotaAsk, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Grant {
        let admission = try await self.store.admit(ask)
        guard case .admitted(let grant) = admission else {
            Issue.record("not admitted: \(admission)", sourceLocation: sourceLocation)
            throw ContractBroken()
        }
        return grant
    }

    /// The refusal of an ask that must not pass.
    @discardableResult
    func fail(_ ask: QuotaAsk, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Refusal {
        let admission = try await self.store.admit(ask)
        guard case .refused(let refusal) = admission else {
            Issue.record("not refused: \(admission)", sourceLocation: sourceLocation)
            throw ContractBroken()
        }
        return refusal
    }

    func look(_ ask: QuotaAsk) async throws -> Standing {
        try await self.store.look(
            QuotaQuestion(caller: ask.caller, limits: ask.limits, calendar: ask.calendar))
    }

    /// What stands against the only limit of an ask.
    func used(_ ask: QuotaAsk) async throws -> Int {
        let standing = try await self.look(ask)
        return try #require(standing.states.first).used
    }

    @discardableResult
    func settle(_ ask: QuotaAsk, _ grant: Grant, tokens: Int) async throws -> SettlementResult {
        try await self.store.settle(Settlement(of: ask, grant: grant, charge: .tokens(tokens)))
    }
}

struct ContractBroken: Error {}

/// Orders of an operator of no interest to the test.
extension QuotaStore {
    @discardableResult
    func apply(_ change: OperatorChange, to key: CounterKey) async throws -> ChangeResult {
        try await self.apply(change, to: key, by: OperatorOrder(actor: "op", reason: "test"))
    }

    func dropLeases(of key: CounterKey, request: RequestID?) async throws -> Int {
        let order = OperatorOrder(actor: "op", reason: "test")
        guard case .dropped(let count, _) = try await self.dropLeases(of: key, request: request, by: order) else {
            throw ContractBroken()
        }
        return count
    }
}

extension MemoryStore {
    @discardableResult
    func apply(_ change: OperatorChange, to key: CounterKey) -> ChangeResult {
        self.apply(change, to: key, by: OperatorOrder(actor: "op", reason: "test"))
    }
}

extension Limit {
    static func minute(_ quantity: Int, _ scope: LimitScope = .subject, observe: Bool = false) -> Limit {
        Limit(.requestsPerMinute, scope: scope, quantity: quantity, observe: observe)
    }
    static func day(_ quantity: Int, _ scope: LimitScope = .subject, observe: Bool = false) -> Limit {
        Limit(.tokensPerDay, scope: scope, quantity: quantity, observe: observe)
    }
    static func running(_ quantity: Int, _ scope: LimitScope = .subject, observe: Bool = false) -> Limit {
        Limit(.concurrentRequests, scope: scope, quantity: quantity, observe: observe)
    }
}
