import GatewayTypes
import JSON
import Observability
import Quota

extension JSONWriter {
    mutating func member(_ name: StaticString, _ value: String) {
        self.name(name)
        self.string(value)
    }

    mutating func member(_ name: StaticString, _ value: String?) {
        self.name(name)
        if let value { self.string(value) } else { self.null() }
    }

    mutating func member(_ name: StaticString, _ value: Int) {
        self.name(name)
        self.integer(value)
    }

    mutating func member(_ name: StaticString, _ value: Int?) {
        self.name(name)
        if let value { self.integer(value) } else { self.null() }
    }

    mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        self.bool(value)
    }

    /// A time in UTC as RFC 3339 writes it.
    mutating func member(_ name: StaticString, _ value: WallTime?) {
        self.name(name)
        guard let value else { return self.null() }
        var text: [UInt8] = []
        text.append(timestamp: value)
        self.string(utf8: text)
    }

    /// Quantities by the name of their limit; those that are not known are left out.
    mutating func members(of amounts: KindAmounts) {
        for kind in LimitKind.allCases {
            guard let amount = amounts[kind] else { continue }
            var word = kind.rawValue
            word.withUTF8 { self.name(utf8: $0) }
            self.integer(amount)
        }
    }

    /// Whose counters: tenant, scope, and the subject or address.
    mutating func members(of key: CounterKey) {
        self.member("tenant", key.tenant.string)
        self.member("scope", key.scope.rawValue)
        switch key.scope {
        case .tenant: break
        case .subject: self.member("subject", key.id.string)
        case .address: self.member("address", key.id.string)
        }
    }

    /// As above, and the plans that `AdminCall.reach` found.
    mutating func members(of key: CounterKey, reach: [PlanName]?) {
        self.members(of: key)
        guard let reach else { return }
        self.name("reachesPlans")
        self.beginArray()
        for plan in reach { self.string(plan.string) }
        self.endArray()
    }

    /// Where each limit stands.
    /// - Parameter plan: the plan's own limits, before operators' overrides.
    mutating func member(_ name: StaticString, _ states: [LimitState], plan: [Limit]) {
        self.name(name)
        self.beginArray()
        for state in states {
            let own = plan.first { $0.kind == state.limit.kind && $0.scope == state.limit.scope }
            self.beginObject()
            self.member("name", state.limit.kind.rawValue)
            self.member("scope", state.limit.scope.rawValue)
            self.member("limit", state.limit.quantity)
            self.member("planLimit", own?.quantity)
            self.member("used", state.used)
            self.member("remaining", state.remaining)
            self.member("resetSeconds", state.resetSeconds)
            self.member("observe", state.limit.observe)
            self.endObject()
        }
        self.endArray()
    }

    /// What operators have set for one holder, and its version.
    /// - Parameter order: the order to block it, where the trail tells.
    mutating func members(of steering: VersionedSteering, order: AuditEntry?) {
        self.name("overrides")
        self.beginArray()
        for kind in LimitKind.allCases {
            guard let override = steering.steering[kind] else { continue }
            self.beginObject()
            self.member("limit", kind.rawValue)
            self.member("quantity", override.quantity)
            self.member("expiresAt", override.expiresAt)
            self.endObject()
        }
        self.endArray()
        self.name("block")
        self.value(steering.steering.block) { json in
            json.member("at", order?.at)
            json.member("actor", order?.actor.string)
            json.member("reason", order?.reason.string)
        }
        self.member("version", steering.version)
    }

    /// An object that tells when a block ends, and more; null for none.
    mutating func value(_ block: Steering.Block, _ more: (inout JSONWriter) -> Void) {
        let end: WallTime?
        switch block {
        case .none: return self.null()
        case .untilLifted: end = nil
        case .until(let time): end = time
        }
        self.beginObject()
        self.member("expiresAt", end)
        more(&self)
        self.endObject()
    }
}
