import GatewayTypes

/// Judges the limits of one ask, one after the other, and moves nothing.
struct LimitDecision {
    private(set) var states: [LimitState] = []
    /// Output that fits into every enforced day.
    private(set) var outputTokens: Int

    private let promptEstimate: Int
    private let leastTokens: Int
    /// Spreads the guesses of how long a running ask takes.
    private let chance: Int64
    private let moment: Moment
    private var failing: LimitState?
    private var longestWait: Int64 = 0
    private var certainFor: TimeSpan?

    init(ask: QuotaAsk, moment: Moment, count: Int) {
        self.promptEstimate = ask.promptEstimate
        self.leastTokens = ask.leastTokens
        self.chance = Int64(ask.request.low % 5)
        self.moment = moment
        self.outputTokens = ask.outputCap
        self.states.reserveCapacity(count)
    }

    /// The refusal, when an enforced limit does not let the ask pass.
    var refusal: Refusal? {
        guard let failing else { return nil }
        return Refusal(
            failing: failing, retryAfterSeconds: max(1, Self.seconds(self.longestWait)), states: self.states,
            certainFor: self.certainFor)
    }

    /// - Parameter account: the holder's counters; nil when nothing of it is known.
    mutating func judge(_ limit: Limit, _ account: Account?) {
        var limit = limit
        limit.quantity = QuotaAsk.bounded(limit.quantity)
        var state = LimitState(limit: limit, remaining: limit.quantity, resetSeconds: 0)
        if let account { state.measure(account, at: self.moment) }
        let verdict = self.verdict(on: state, account)
        state.exceeded = verdict.wait > 0
        if state.exceeded { state.resetSeconds = max(1, Self.seconds(verdict.wait)) }
        self.states.append(state)
        guard !limit.observe else { return }
        if verdict.wait > self.longestWait {
            self.longestWait = verdict.wait
            self.failing = state
            self.certainFor = verdict.isCertain ? TimeSpan(nanoseconds: verdict.wait) : nil
        } else if verdict.wait == 0 && limit.kind == .tokensPerDay {
            self.outputTokens = min(self.outputTokens, max(0, limit.quantity &- state.used &- self.promptEstimate))
        }
    }

    /// Measures the limits again after the ask was counted.
    mutating func refresh(_ accounts: ByScope<Account?>) {
        for index in self.states.indices {
            guard let account = accounts[self.states[index].limit.scope] else { continue }
            self.states[index].measure(account, at: self.moment)
        }
    }

    /// Nanoseconds to wait, 0 to pass; and whether nothing but an operator can shorten the wait.
    private func verdict(on state: LimitState, _ account: Account?) -> (wait: Int64, isCertain: Bool) {
        let quantity = state.limit.quantity
        switch state.limit.kind {
        case .requestsPerMinute:
            if quantity == 0 { return (MinuteWindow.length, true) }
            return (account?.minute.wait(for: quantity, at: self.moment.monotonic) ?? 0, true)
        case .tokensPerDay:
            if state.used &+ self.leastTokens <= quantity { return (0, true) }
            // What running asks have reserved may come back; what is charged does not.
            let reserved = account?.tokens.day(self.moment.day.number).reserved ?? 0
            return (self.untilDayTurns, state.used &- reserved >= quantity)
        case .concurrentRequests:
            if state.used < quantity { return (0, true) }
            // Nobody knows when a running ask ends. Spread over 1 to 5 s, so that those refused together do not all
            // come back together.
            return ((1 &+ self.chance) &* 1_000_000_000, false)
        }
    }

    private var untilDayTurns: Int64 {
        let span = WallTime(seconds: self.moment.day.endsAt).microseconds &- self.moment.wall.microseconds
        return max(1_000_000, span) &* 1000
    }

    /// Nanoseconds to whole seconds, rounded up.
    static func seconds(_ nanoseconds: Int64) -> Int { Int((nanoseconds &+ 999_999_999) / 1_000_000_000) }
}
