import GatewayTypes

extension TenantBook {
    mutating func settle(_ settlement: Settlement, at now: Int64) -> SettlementResult {
        guard let record = self.unsettled(settlement.request, at: now) else {
            if self.ended.find(settlement.request, at: now) != nil { return .repeated }
            guard settlement.chargesUnrecorded else { return .unknown }
            self.chargeUnrecorded(settlement, at: now)
            return .settled
        }
        switch settlement.charge {
        case .tokens(let count): record.settle(charged: QuotaAsk.bounded(count))
        case .asReserved: record.settle(charged: record.reservedTokens)
        }
        self.remove(record, at: now)
        return .settled
    }

    /// Extends the leases that live; answers the others.
    mutating func renew(_ request: RequestID, at now: Int64) -> Bool {
        guard let record = self.records[request], record.holdsLease else { return false }
        self.renewLease(of: record, at: now)
        return true
    }

    /// Charges an ask that was let through while the store could not answer, and remembers its id.
    private mutating func chargeUnrecorded(_ settlement: Settlement, at now: Int64) {
        let charged = settlement.chargedTokens
        var seen = ByScope(repeating: false)
        for limit in settlement.limits where limit.kind == .tokensPerDay && !seen[limit.scope] {
            seen[limit.scope] = true
            let account = self.openAccount(limit.scope, of: settlement.caller)
            account.tokens.charge(charged, on: settlement.day.number)
        }
        let ended = EndedAsk(
            outputTokens: 0, reservedTokens: 0, day: settlement.day, forgetAt: now &+ requestMemory.nanoseconds)
        self.ended.remember(settlement.request, ended, at: now)
    }
}
