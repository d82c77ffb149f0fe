package import GatewayTypes

/// What an operator can do to the counters of one holder.
package enum OperatorChange: Hashable, Sendable {
    /// Replaces the quantity of the plan's limit of this kind, or adds an enforced limit where the plan has none.
    case override(LimitKind, LimitOverride)
    /// The plan holds again; nil for every kind.
    case clearOverride(LimitKind?)
    /// Refuses every ask until then; nil until `unblock`.
    case block(until: WallTime?)
    case unblock
    /// Sets usage to zero; nil for every kind. Asks that run on are charged in full when they settle.
    case reset(LimitKind?)
}

/// A quantity that stands in for the plan's.
package struct LimitOverride: Hashable, Sendable {
    package var quantity: Int
    /// When the plan holds again; nil until cleared.
    package var expiresAt: WallTime?

    package init(quantity: Int, expiresAt: WallTime? = nil) {
        self.quantity = quantity
        self.expiresAt = expiresAt
    }
}

/// What operators have set for one holder.
package struct Steering: Hashable, Sendable {
    package enum Block: Hashable, Sendable {
        case none
        case until(WallTime)
        case untilLifted

        /// - Parameter end: nil for until it is lifted.
        package init(until end: WallTime?) { self = end.map { .until($0) } ?? .untilLifted }
    }

    private var overrides = PerKind<LimitOverride>()
    package var block = Block.none

    package init() {}

    package subscript(kind: LimitKind) -> LimitOverride? {
        get { self.overrides[kind] }
        set { self.overrides[kind] = newValue }
    }

    /// Without what has expired.
    package func inForce(at time: WallTime) -> Steering {
        var result = self
        for kind in LimitKind.allCases {
            if let end = self[kind]?.expiresAt, end <= time { result[kind] = nil }
        }
        if case .until(let end) = self.block, end <= time { result.block = .none }
        return result
    }

    /// Quantities of the overrides, by kind.
    package var quantities: KindAmounts {
        var amounts = KindAmounts()
        for kind in LimitKind.allCases { amounts[kind] = self[kind]?.quantity }
        return amounts
    }

    package var isBlocked: Bool { self.block != .none }
    package var isEmpty: Bool { self == Steering() }
}

/// Asks where a caller stands.
package struct QuotaQuestion: Sendable {
    package var caller: QuotaCaller
    package var limits: [Limit]
    package var calendar: ZoneCalendar

    package init(caller: QuotaCaller, limits: [Limit], calendar: ZoneCalendar) {
        self.caller = caller
        self.limits = limits
        self.calendar = calendar
    }
}

/// Where a caller stands: what `GET /v1/quota` and the operator's view show.
package struct Standing: Hashable, Sendable {
    /// Each limit in force, in the order of the plan; limits that only an override brings come last. `exceeded` says
    /// that not even the smallest ask would pass now.
    package var states: [LimitState]
    package var isBlocked: Bool

    package init(states: [LimitState], isBlocked: Bool) {
        self.states = states
        self.isBlocked = isBlocked
    }
}
