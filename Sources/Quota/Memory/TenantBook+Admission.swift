import GatewayTypes

extension TenantBook {
    /// Decides over every limit of an ask, then writes, or writes nothing.
    mutating func admit(_ ask: QuotaAsk, at moment: Moment) -> Admission {
        self.advance(to: moment)
        if let earlier = self.earlier(ask.request, at: moment.monotonic) {
            return self.repeated(ask, earlier, at: moment)
        }
        var limits = ask.limits
        if !self.steering.isEmpty {
            if self.isBlocked(ask.caller, at: moment.wall) { return .blocked }
            limits = self.steered(limits, for: ask.caller, at: moment.wall)
        }
        var decision = LimitDecision(ask: ask, moment: moment, count: limits.count)
        let accounts = self.judge(limits, ask.caller, by: &decision)
        if var refusal = decision.refusal {
            // What an operator has set can end before the wait is over.
            if let certain = refusal.certainFor, !self.steering.isEmpty {
                refusal.certainFor = min(certain, self.steeringHolds(for: ask.caller, at: moment.wall))
            }
            return .refused(refusal)
        }
        return .admitted(self.grant(ask, &decision, accounts, at: moment))
    }

    /// Where a caller stands: judged as the smallest ask would be.
    mutating func look(_ question: QuotaQuestion, at moment: Moment) -> Standing {
        self.advance(to: moment)
        let ask = QuotaAsk(
            caller: question.caller, limits: [], calendar: question.calendar, promptEstimate: 0, outputCap: 0,
            request: RequestID(high: 0, low: 0))
        let limits = self.steered(question.limits, for: question.caller, at: moment.wall)
        var decision = LimitDecision(ask: ask, moment: moment, count: limits.count)
        _ = self.judge(limits, question.caller, by: &decision)
        return Standing(states: decision.states, isBlocked: self.isBlocked(question.caller, at: moment.wall))
    }

    /// Judges every limit. Answers the accounts that were looked up and exist.
    private func judge(
        _ limits: [Limit], _ caller: QuotaCaller, by decision: inout LimitDecision
    ) -> ByScope<Account?> {
        var accounts = ByScope<Account?>(repeating: nil)
        var known = ByScope(repeating: false)
        for limit in limits {
            if !known[limit.scope] {
                known[limit.scope] = true
                accounts[limit.scope] = self.account(limit.scope, of: caller)
            }
            decision.judge(limit, accounts[limit.scope])
        }
        return accounts
    }

    /// Writes an admission.
    private mutating func grant(
        _ ask: QuotaAsk, _ decision: inout LimitDecision, _ accounts: ByScope<Account?>, at moment: Moment
    ) -> Grant {
        self.sequence &+= 1
        let reserved = ask.promptEstimate &+ decision.outputTokens
        let record = Record(
            ask: ask, sequence: self.sequence, outputTokens: decision.outputTokens, reservedTokens: reserved,
            moment: moment)
        // An observed limit that would have refused counts as if it had, so that what it reports is what it would do.
        for index in decision.states.indices where !decision.states[index].exceeded {
            let limit = decision.states[index].limit
            if record.accounts[limit.scope] == nil {
                let account =
                    accounts[limit.scope]
                    ?? self.openAccount(limit.scope, of: ask.caller)
                record.enter(account, limit.scope)
            }
            record.count(limit.kind, limit.scope, at: moment)
        }
        self.records.set(record, for: ask.request)
        self.leaseGranted(to: record)
        decision.refresh(record.accounts)
        return Grant(
            states: decision.states, outputTokens: decision.outputTokens, reservedTokens: reserved, day: moment.day)
    }

    private mutating func earlier(_ request: RequestID, at now: Int64) -> EndedAsk? {
        self.unsettled(request, at: now)?.ended(at: now) ?? self.ended.find(request, at: now)
    }

    /// The answer to an ask that was admitted before.
    private func repeated(_ ask: QuotaAsk, _ earlier: EndedAsk, at moment: Moment) -> Admission {
        let states = self.steered(ask.limits, for: ask.caller, at: moment.wall).map { limit in
            var state = LimitState(limit: limit, remaining: limit.quantity, resetSeconds: 0)
            if let account = self.account(limit.scope, of: ask.caller) { state.measure(account, at: moment) }
            return state
        }
        return .admitted(
            Grant(
                states: states, outputTokens: earlier.outputTokens, reservedTokens: earlier.reservedTokens,
                day: earlier.day))
    }
}

extension LimitState {
    /// Takes over what an account says, and leaves `exceeded` as it is.
    mutating func measure(_ account: Account, at moment: Moment) {
        self.used = account.used(self.limit.kind, at: moment)
        self.remaining = max(0, self.limit.quantity &- self.used)
        switch self.limit.kind {
        case .requestsPerMinute:
            self.resetSeconds = LimitDecision.seconds(account.minute.reset(at: moment.monotonic))
        case .tokensPerDay: self.resetSeconds = self.used == 0 ? 0 : moment.day.secondsLeft(at: moment.wall)
        case .concurrentRequests:
            self.resetSeconds = self.used == 0 ? 0 : Int(Lease.length.nanoseconds / 1_000_000_000)
        }
    }
}
