package import GatewayTypes

/// The order that turns a reservation into a charge and frees its lease. Copyable, so that it can wait in a queue.
package struct Settlement: Sendable {
    /// What the ask costs.
    package enum Charge: Hashable, Sendable {
        /// This many tokens; more than was reserved may push the day below zero, which blocks the next ask.
        case tokens(Int)
        /// What was reserved: for an ask of which nothing better is known.
        case asReserved
        /// What the reservation of a guest's ask was more or less than its cost, given back to or taken from the
        /// account that the reservation was handed over to. Of counters that were begun anew since then, which their
        /// epoch tells, nothing is moved.
        case correction(Int, epoch: Int)
    }

    package var caller: QuotaCaller
    package var request: RequestID
    /// The plan's limits at admission: they say which counters an unrecorded ask is charged to.
    package var limits: [Limit]
    /// The day of the reservation.
    package var day: LocalDay
    package var reservedTokens: Int
    package var charge: Charge
    /// The ask was let through while the store could not answer. A store that does not know it then charges the whole
    /// cost; of any other unknown ask nothing is moved, so that a late or repeated settlement cannot make tokens.
    package var chargesUnrecorded: Bool
    /// Until when a store that kept its data would still know the ask, if it ever did. After that its not knowing
    /// proves nothing. Nil for an ask that it certainly never knew.
    package var knownUntil: MonotonicTime?

    package init(
        caller: QuotaCaller, request: RequestID, limits: [Limit], day: LocalDay, reservedTokens: Int,
        charge: Charge = .asReserved, chargesUnrecorded: Bool = false
    ) {
        self.caller = caller
        self.request = request
        self.limits = limits
        self.day = day
        self.reservedTokens = QuotaAsk.bounded(reservedTokens)
        self.charge = charge
        self.chargesUnrecorded = chargesUnrecorded
    }

    /// The settlement of an admitted ask, as reserved until told otherwise.
    package init(of ask: QuotaAsk, grant: Grant, charge: Charge = .asReserved) {
        self.init(
            caller: ask.caller, request: ask.request, limits: ask.limits, day: grant.day,
            reservedTokens: grant.reservedTokens, charge: charge)
    }

    /// Leaves an ask charged as reserved that the store may have forgotten by now: charged anew it would count twice.
    mutating func doubt(at now: MonotonicTime) {
        if let knownUntil, now >= knownUntil { self.chargesUnrecorded = false }
    }

    /// Tokens to charge; never negative.
    var chargedTokens: Int {
        switch self.charge {
        case .tokens(let count): QuotaAsk.bounded(count)
        case .asReserved: self.reservedTokens
        case .correction: 0
        }
    }
}

/// What became of a settlement.
package enum SettlementResult: String, Sendable, Hashable, MetricLabel {
    case settled
    /// Settled before; nothing was moved.
    case repeated
    /// No such reservation (any more); nothing was moved.
    case unknown

    package var metricLabel: String { self.rawValue }
}
