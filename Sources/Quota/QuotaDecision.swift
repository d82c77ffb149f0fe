import GatewayTypes

/// What the gate says to an ask.
package enum QuotaDecision: ~Copyable, Sendable {
    case admitted(Reservation)
    /// A limit is reached: 429 with the code of its kind.
    case refused(Refusal)
    /// An operator has blocked the subject, its address or its tenant.
    case blocked
    /// The store cannot answer and a limit wants the ask refused then: 503.
    case unavailable(QuotaFailure, retryAfterSeconds: Int)
}

/// What has happened at one gate; summed over the loops when metrics are read.
package struct QuotaCounts: Hashable, Sendable {
    /// Reservations that were dropped unsettled: a defect of ours.
    package var leakedReservations = 0
    /// Asks whose lease was gone when it was to be renewed; they ran on uncounted.
    package var lostLeases = 0
    /// Renewals that the store did not answer.
    package var failedRenewals = 0
    /// Asks refused by `precheck`, without the store.
    package var refusedFromMemory = 0
    /// Asks let through while the store could not answer.
    package var admittedWithoutStore = 0
    /// Admissions that the store did not answer, by cause.
    package var failures: [QuotaFailure: Int] = [:]
    /// Leases kept alive now.
    package var livingLeases = 0

    package init() {}

    package static func + (left: QuotaCounts, right: QuotaCounts) -> QuotaCounts {
        var sum = left
        sum.leakedReservations &+= right.leakedReservations
        sum.lostLeases &+= right.lostLeases
        sum.failedRenewals &+= right.failedRenewals
        sum.refusedFromMemory &+= right.refusedFromMemory
        sum.admittedWithoutStore &+= right.admittedWithoutStore
        sum.failures.merge(right.failures, uniquingKeysWith: &+)
        sum.livingLeases &+= right.livingLeases
        return sum
    }
}
