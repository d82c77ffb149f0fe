import GatewayTypes

extension TenantBook {
    /// Decides over every limit of an ask, then writes, or writes nothing.
    mutating func admit(_ ask: QuotaAsk, at moment: Moment) -> Admission {
        self.advance(to: moment)
        if let record = self.remembered(ask.request, at: moment.monotonic) {
            return self.repeated(ask, record, at: moment)
        }
        var limits = ask.limits
        if !self.steering.isEmpty {
            if self.isBlocked(ask.caller, at: moment.wall) { return .blocked }
            limits = self.steered(limits, for: ask.caller, at: moment.wall)
        }
        var decision = LimitDecision(ask: ask, moment: moment, count: limits.count)
        self.judge(limits, ask.caller, by: &decision)
        if var refusal = decision.refusal {
            // What an operator has set can expire before the wait is over.
            if limits != ask.limits { refusal.certainFor = nil }
            return .refused(refusal)
        }
        return .admitted(self.grant(ask, decision, at: moment))
    }

    /// Where a caller stands: judged as the smallest ask would be.
    mutating func look(_ question: QuotaQuestion, at moment: Moment) -> Standing {
        self.advance(to: moment)
        let ask = QuotaAsk(
            caller: question.caller, limits: [], calendar: question.calendar, promptEstimate: 0, outputCap: 0,
            request: RequestID(high: 0, low: 0))
        let limits = self.steered(question.limits, for: question.caller, at: moment.wall)
        var decision = LimitDecision(ask: ask, moment: moment, count: limits.count)
        self.judge(limits, question.caller, by: &decision)
        return Standing(states: decision.states, isBlocked: self.isBlocked(question.caller, at: moment.wall))
    }

    private func judge(_ limits: [Limit], _ caller: QuotaCaller, by decision: inout LimitDecision) {
        var accounts = ByScope<Account??>(repeating: nil)
        for limit in limits {
            if accounts[limit.scope] == nil { accounts[limit.scope] = .some(self.account(limit.scope, of: caller)) }
            decision.judge(limit, accounts[limit.scope] ?? nil)
        }
    }

    /// Writes an admission.
    private mutating func grant(_ ask: QuotaAsk, _ decision: LimitDecision, at moment: Moment) -> Grant {
        self.sequence &+= 1
        let reserved = ask.promptEstimate &+ decision.outputTokens
        let record = Record(
            ask: ask, sequence: self.sequence, outputTokens: decision.outputTokens, reservedTokens: reserved,
            moment: moment)
        var counted = ByScope(repeating: false)
        // An observed limit that would have refused counts as if it had, so that what it reports is what it would do.
        for state in decision.states where !state.exceeded {
            let limit = state.limit
            let account = record.accounts[limit.scope] ?? self.openAccount(limit.scope, of: ask.caller)
            record.enter(account, limit.scope)
            switch limit.kind {
            case .requestsPerMinute:
                // Two limits on one counter, such as an observed beside an enforced one, count an ask once.
                if !counted[limit.scope] { account.minute.append(moment.monotonic) }
                counted[limit.scope] = true
            case .tokensPerDay:
                if !record.reserves[limit.scope] { account.tokens.reserve(reserved, on: moment.day.number) }
                record.reserves[limit.scope] = true
            case .concurrentRequests:
                if !record.runs[limit.scope] { account.running &+= 1 }
                record.runs[limit.scope] = true
            }
        }
        self.records.set(record, for: ask.request)
        self.expectLeaseEnd(of: record)
        var states = decision.states
        self.refresh(&states, record.accounts, at: moment)
        return Grant(
            states: states, outputTokens: decision.outputTokens, reservedTokens: reserved, day: moment.day)
    }

    /// The answer to an ask that was admitted before.
    private func repeated(_ ask: QuotaAsk, _ record: Record, at moment: Moment) -> Admission {
        let limits = self.steered(ask.limits, for: ask.caller, at: moment.wall)
        var accounts = ByScope<Account?>(repeating: nil)
        for scope in LimitScope.allCases { accounts[scope] = self.account(scope, of: ask.caller) }
        var states = limits.map { LimitState(limit: $0, remaining: $0.quantity, resetSeconds: 0) }
        self.refresh(&states, accounts, at: moment)
        return .admitted(
            Grant(
                states: states, outputTokens: record.outputTokens, reservedTokens: record.reservedTokens,
                day: record.day))
    }

    private func refresh(_ states: inout [LimitState], _ accounts: ByScope<Account?>, at moment: Moment) {
        for index in states.indices {
            guard let account = accounts[states[index].limit.scope] else { continue }
            states[index].measure(account, at: moment)
        }
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
