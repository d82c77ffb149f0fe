package import GatewayTypes

/// Whose counters an ask moves.
package struct QuotaCaller: Hashable, Sendable {
    package var tenant: TenantID
    package var subject: SubjectID
    /// The caller's network address in one spelling, IPv6 cut to the prefix that counts as one caller; read only by
    /// limits of scope `address`. Empty when it is not known: unknown addresses then share one counter.
    package var address: ByteString

    package init(tenant: TenantID, subject: SubjectID, address: ByteString = ByteString("")) {
        self.tenant = tenant
        self.subject = subject
        self.address = address
    }
}

/// Names the counters of one holder in one scope. Compared as bytes; the parts are never joined to one string.
package struct CounterKey: Hashable, Sendable {
    package var tenant: TenantID
    package var scope: LimitScope
    /// Subject or address; empty for the tenant's own counters.
    package var id: ByteString

    package init(tenant: TenantID, scope: LimitScope, id: ByteString) {
        self.tenant = tenant
        self.scope = scope
        self.id = scope == .tenant ? ByteString("") : id
    }

    /// Begins the id of an address' counter of guests' tokens, which is apart from that of its asks.
    package static let guestSessions: ByteString = "guest-sessions "

    package static func subject(_ subject: SubjectID, of tenant: TenantID) -> Self {
        Self(tenant: tenant, scope: .subject, id: subject.bytes)
    }
    package static func tenant(_ tenant: TenantID) -> Self {
        Self(tenant: tenant, scope: .tenant, id: ByteString(""))
    }
    package static func address(_ address: ByteString, of tenant: TenantID) -> Self {
        Self(tenant: tenant, scope: .address, id: address)
    }
}

/// What admission decides on: the caller, the limits of its plan, and what the ask may cost.
package struct QuotaAsk: Sendable {
    package var caller: QuotaCaller
    /// The plan's limits from the snapshot; never stored, so that a new plan holds for the next ask.
    package var limits: [Limit]
    /// The tenant's zone; decides the day of `tokens_per_day`.
    package var calendar: ZoneCalendar
    /// Tokens that the prompt is expected to take.
    package let promptEstimate: Int
    /// Most tokens the answer may take; what is granted can be less.
    package let outputCap: Int
    /// Makes admission and settlement idempotent.
    package var request: RequestID

    package init(
        caller: QuotaCaller, limits: [Limit], calendar: ZoneCalendar, promptEstimate: Int, outputCap: Int,
        request: RequestID
    ) {
        self.caller = caller
        self.limits = limits
        self.calendar = calendar
        self.promptEstimate = Self.bounded(promptEstimate)
        self.outputCap = Self.bounded(outputCap)
        self.request = request
    }

    /// Least output worth paying a prompt for, in tokens: with less than this left for the answer (or than the task's
    /// own cap, when that is smaller) the ask is refused. Sixteen is also the least some providers accept.
    package static let leastOutput = 16

    /// What has to be left of the day for this ask, in tokens; at least 1.
    package var leastTokens: Int { max(1, self.promptEstimate &+ min(self.outputCap, Self.leastOutput)) }

    /// Quantities stay below 2^53, which a store that counts in doubles holds exactly and no sum here overflows.
    package static let largestQuantity = 1 << 53

    static func bounded(_ quantity: Int) -> Int { min(max(quantity, 0), Self.largestQuantity) }
}
