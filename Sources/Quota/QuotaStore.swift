package import GatewayTypes

/// Where counters live. One contract test suite runs over every implementation.
///
/// Every operation is one atomic decision on the store's own clock. A store that needs no I/O answers without
/// suspending.
package protocol QuotaStore: AnyObject, Sendable {
    /// Checks all limits, then writes, or writes nothing.
    ///
    /// Idempotent for five minutes by request id: a repeated admitted ask gets the same grant and moves nothing. A
    /// refused ask leaves no trace, so repeating it decides again.
    func admit(_ ask: QuotaAsk) async throws(QuotaFailure) -> Admission

    /// Charges, gives back the rest, frees the lease; idempotent for five minutes by request id.
    func settle(_ settlement: Settlement) async throws(QuotaFailure) -> SettlementResult

    /// Takes a settlement over without waiting; works on the path of a cancelled request.
    func submit(_ settlement: Settlement)

    /// Gives leases another `Lease.length`. Answers those that are gone: settled, dropped or expired. They do not
    /// come back.
    func renew(_ leases: [Lease]) async throws(QuotaFailure) -> [RequestID]

    /// Where a caller stands, without moving anything.
    func look(_ question: QuotaQuestion) async throws(QuotaFailure) -> Standing

    /// Changes what an operator may change; holds for the next ask and never moves other usage. Moves nothing when
    /// the holder's version is not the one that was expected. Otherwise it leaves an `AuditEntry`.
    func apply(
        _ change: OperatorChange, to key: CounterKey, by order: OperatorOrder
    ) async throws(QuotaFailure) -> ChangeResult

    /// What operators have set for a holder and is in force.
    func steering(of key: CounterKey) async throws(QuotaFailure) -> VersionedSteering

    /// The asks that hold a place in the holder's `concurrent_requests`, oldest first; for a tenant those of all its
    /// subjects. An ask that no such limit of the holder counts is not among them.
    func leases(of key: CounterKey) async throws(QuotaFailure) -> [LeaseRecord]

    /// Frees the lease of one ask, or of all, in the counters of one holder; the asks go on. Audited as a change.
    func dropLeases(
        of key: CounterKey, request: RequestID?, by order: OperatorOrder
    ) async throws(QuotaFailure) -> LeaseDrop

    /// What operators did, newest first: of the newest `Audit.mostEntries` of a tenant, for `Audit.memory`.
    func audit(_ question: AuditQuestion) async throws(QuotaFailure) -> AuditPage

    /// Gives or, where it says so, lifts an order. Audited. An order for a subject that has one reaches at least as far
    /// as that.
    func order(_ order: StandingOrder, in tenant: TenantID, by operator: OperatorOrder)
        async throws(QuotaFailure) -> OrderResult

    /// At most `StandingOrder.mostOnPage` orders with a higher version than this one, by rising version, lifted ones
    /// among them. Those that are over may be missing.
    func orders(_ book: OrderBook, of tenant: TenantID, since version: Int) async throws(QuotaFailure)
        -> [StandingOrder]

    /// Charges what a guest has used today to an account, once for each of the guest's tokens, and closes the guest
    /// with an order. What one token has handed over the guest's next one does not. Reservations of asks that run are
    /// charged with the rest, and corrected to their cost when these settle.
    func handOver(_ handOver: HandOver) async throws(QuotaFailure) -> HandOverResult

    /// Changes whenever an operator may have changed something: what was remembered of earlier refusals is then void.
    var generation: UInt64 { get }

    /// Longest time for which a certain refusal may be remembered beside the store.
    var refusalMemory: TimeSpan { get }
}

/// The claim of one running ask on its place in `concurrent_requests`.
package struct Lease: Hashable, Sendable {
    package var caller: QuotaCaller
    package var request: RequestID

    package init(caller: QuotaCaller, request: RequestID) {
        self.caller = caller
        self.request = request
    }

    /// How long a lease lives without renewal.
    package static let length = TimeSpan.seconds(30)
    /// How often living asks renew.
    package static let renewal = TimeSpan.seconds(10)
}

/// A running ask, as operators see it.
package struct LeaseRecord: Hashable, Sendable {
    package var request: RequestID
    /// Since when the ask runs, in whole seconds.
    package var ageSeconds: Int
    /// Seconds until the lease ends without renewal, rounded up.
    package var expiresInSeconds: Int

    package init(request: RequestID, ageSeconds: Int, expiresInSeconds: Int) {
        self.request = request
        self.ageSeconds = ageSeconds
        self.expiresInSeconds = expiresInSeconds
    }
}

/// How long a request id is remembered after its settlement, or after its lease died unsettled.
package let requestMemory = TimeSpan.seconds(300)
