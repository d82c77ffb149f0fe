package import GatewayTypes

/// The right to run one ask, and the duty to settle it.
///
/// Noncopyable: settling twice does not compile. One that is dropped is counted as leaked and charged as reserved, so
/// no way out of a request can give tokens away or keep a place among the running asks.
package struct Reservation: ~Copyable, Sendable {
    package let grant: Grant
    private let settlement: Settlement
    private let gate: QuotaGate
    /// Admitted without the store, by this process' own counters.
    package let isLocal: Bool
    private var isOpen = true

    init(grant: Grant, settlement: Settlement, gate: QuotaGate, isLocal: Bool) {
        self.grant = grant
        self.settlement = settlement
        self.gate = gate
        self.isLocal = isLocal
    }

    /// Charges what the ask used to the day of the reservation, gives back the rest and frees the lease. Never waits.
    package consuming func settle(usage: TokenUsage) { self.close(.tokens(usage.total)) }

    /// Charges nothing: no provider was asked, or none did any work. The admission itself stays counted.
    package consuming func release() { self.close(.tokens(0)) }

    private mutating func close(_ charge: Settlement.Charge) {
        self.isOpen = false
        var settlement = self.settlement
        settlement.charge = charge
        self.gate.finish(settlement, isLocal: self.isLocal, leaked: false)
    }

    deinit {
        if self.isOpen { self.gate.finish(self.settlement, isLocal: self.isLocal, leaked: true) }
    }
}
