import GatewayTypes

extension TenantBook {
    mutating func settle(_ settlement: Settlement, at now: Int64) -> SettlementResult {
        guard let record = self.unsettled(settlement.request, at: now) else {
            if self.ended.find(settlement.request, at: now) != nil { return .repeated }
            guard settlement.chargesUnrecorded else { return .unknown }
            self.chargeUnrecorded(settlement, at: now)
            return .settled
        }
        let charged =
            switch settlement.charge {
            case .tokens(let count): QuotaAsk.bounded(count)
            case .asReserved, .correction: record.reservedTokens
            }
        if !self.handedOver.isEmpty { self.correct(record, of: settlement.caller, charged: charged) }
        record.settle(charged: charged)
        self.remove(record, at: now)
        return .settled
    }

    /// An account that has taken a guest over was charged what the guest's asks had reserved.
    private mutating func correct(_ record: Record, of guest: QuotaCaller, charged: Int) {
        guard charged != record.reservedTokens, record.subjectsReservation != nil,
            let taking = self.handedOver.taking(of: guest.subject, record)
        else { return }
        let tokens = charged &- record.reservedTokens
        self.handedOver.correct(guest.subject, on: record.day.number, by: tokens)
        // Of what a reset has wiped out nothing is left to correct.
        guard taking.account.resetAfter < taking.sequence else { return }
        taking.account.tokens.settle(reserved: 0, charged: tokens, on: record.day.number)
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
