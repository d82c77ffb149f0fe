package import GatewayTypes

/// Bounds of the trail that operators leave in the store.
package enum Audit {
    /// Entries kept of each tenant; older ones go.
    package static let mostEntries = 10_000
    /// Entries kept for reading by holder, in a store that keeps those apart.
    package static let mostEntriesOfHolder = 1000
    /// How long an entry is kept.
    package static let memory = TimeSpan.seconds(90 * 86_400)
    /// Entries of one page, at most.
    package static let mostOnPage = 500
}

/// One thing that an operator did to one holder.
package struct AuditEntry: Hashable, Sendable {
    /// What was done. The raw value is its name in answers.
    package enum Action: String, Hashable, Sendable, CaseIterable {
        case override
        case clearOverride = "clear_override"
        case block
        case unblock
        case reset
        case dropLeases = "drop_leases"
        case revokeToken = "revoke_token"
        case revokeSession = "revoke_session"
        case revokeSubject = "revoke_subject"
        /// A revocation was taken back.
        case readmit
        case givePlan = "give_plan"
        case clearPlan = "clear_plan"
    }

    /// Names this entry to `AuditQuestion.before`; rises from entry to entry of one tenant.
    package var cursor: AuditCursor
    /// By the store's clock.
    package var at: WallTime
    package var actor: ByteString
    package var action: Action
    package var key: CounterKey
    /// Of each kind that the action concerns: the override's quantity (nil where the plan held); for a reset what was
    /// used of the newest day, in the minute or running; for dropped leases the running asks.
    package var before: KindAmounts
    /// The same afterwards.
    package var after: KindAmounts
    /// End of an override or a block; nil for none.
    package var expiresAt: WallTime?
    package var reason: ByteString
    /// The holder's version afterwards; of an order its own, which is no number of the holder's.
    package var version: Int
    /// What of the holder was meant, where the action's name does not say it: a token's or a session's id, a plan.
    package var object: ByteString = ""
    /// What stood before, of an action that moves no quantity.
    package var stateBefore = State.untold

    /// What has no quantity.
    package enum State: Hashable, Sendable {
        /// The action is about something else, or the entry was left by a release that did not keep it.
        case untold
        case block(Steering.Block)
        /// The plan that an operator has given; nil for none.
        case plan(PlanName?)
    }

    /// What stood afterwards; the action says it.
    package var stateAfter: State {
        switch self.action {
        case .block: .block(Steering.Block(until: self.expiresAt))
        case .unblock: .block(.none)
        case .givePlan: .plan(PlanName(self.object))
        case .clearPlan: .plan(nil)
        case .override, .clearOverride, .reset, .dropLeases, .revokeToken, .revokeSession, .revokeSubject, .readmit:
            .untold
        }
    }
}

extension AuditEntry {
    /// Without its amounts and its place in the trail.
    init(_ change: OperatorChange, of key: CounterKey, by order: OperatorOrder, at time: WallTime, version: Int) {
        self.init(change.action, of: key, by: order, at: time, version: version)
        self.expiresAt = change.expiresAt
    }

    init(_ action: Action, of key: CounterKey, by order: OperatorOrder, at time: WallTime, version: Int) {
        self.init(
            cursor: AuditCursor(major: 0, minor: 0), at: time, actor: order.actor, action: action, key: key,
            before: KindAmounts(), after: KindAmounts(), expiresAt: nil, reason: order.reason, version: version)
    }
}

extension OperatorChange {
    package var action: AuditEntry.Action {
        switch self {
        case .override: .override
        case .clearOverride: .clearOverride
        case .block: .block
        case .unblock: .unblock
        case .reset: .reset
        }
    }

    /// The kind it concerns; nil for every kind.
    var kind: LimitKind? {
        switch self {
        case .override(let kind, _): kind
        case .clearOverride(let kind), .reset(let kind): kind
        case .block, .unblock: nil
        }
    }

    var expiresAt: WallTime? {
        switch self {
        case .override(_, let override): override.expiresAt
        case .block(let until): until
        case .clearOverride, .unblock, .reset: nil
        }
    }
}

/// One quantity for each kind of limit, or none.
package typealias KindAmounts = PerKind<Int>

/// A place in the trail: two numbers, written `123-4`. Only good for the trail it came from.
package struct AuditCursor: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let major: UInt64
    package let minor: UInt64

    package init(major: UInt64, minor: UInt64) {
        self.major = major
        self.minor = minor
    }

    /// Reads what `description` wrote; nil for anything else.
    package init?(_ text: ByteString) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, let major = Self.number(parts[0]), let minor = Self.number(parts[1]) else {
            return nil
        }
        self.init(major: major, minor: minor)
    }

    package var description: String { "\(self.major)-\(self.minor)" }

    package static func < (left: Self, right: Self) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    private static func number(_ digits: Substring.UTF8View) -> UInt64? {
        guard (1...20).contains(digits.count) else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            guard digit >= 48, digit <= 57 else { return nil }
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(UInt64(digit &- 48))
            guard !overflows, !carries else { return nil }
            value = sum
        }
        return value
    }
}

/// Asks for a page of the trail.
package struct AuditQuestion: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// Everything that was done in a tenant.
        case tenant(TenantID)
        /// What was done to one holder.
        case holder(CounterKey)
    }

    package var subject: Subject
    /// Entries at most; 1 to `Audit.mostOnPage`.
    package var limit: Int
    /// Only entries before this one; nil begins with the newest.
    package var before: AuditCursor?

    package init(_ subject: Subject, limit: Int = 50, before: AuditCursor? = nil) {
        self.subject = subject
        self.limit = min(max(limit, 1), Audit.mostOnPage)
        self.before = before
    }

    package var tenant: TenantID {
        switch self.subject {
        case .tenant(let tenant): tenant
        case .holder(let key): key.tenant
        }
    }
}

/// Entries of the trail, newest first.
package struct AuditPage: Hashable, Sendable {
    package var entries: [AuditEntry]
    /// Where the next page begins; nil when there are no older entries.
    package var next: AuditCursor?

    package init(entries: [AuditEntry], next: AuditCursor?) {
        self.entries = entries
        self.next = next
    }
}
