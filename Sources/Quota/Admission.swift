package import GatewayTypes

/// The store's one atomic decision over every limit of an ask.
package enum Admission: Sendable, Hashable {
    case admitted(Grant)
    /// A limit is reached; nothing was moved.
    case refused(Refusal)
    /// An operator has blocked the subject, its address or its tenant; nothing was moved.
    case blocked
}

/// What an admitted ask holds.
package struct Grant: Sendable, Hashable {
    /// Each limit as it stands with this ask counted, in the order of the plan.
    package var states: [LimitState]
    /// Output tokens to ask the provider for: the task's cap, lowered so that the day is not overrun.
    package var outputTokens: Int
    /// Prompt estimate and granted output: what the day's counters hold until settlement.
    package var reservedTokens: Int
    /// The day that settlement charges, also when it comes after midnight.
    package var day: LocalDay

    package init(states: [LimitState], outputTokens: Int, reservedTokens: Int, day: LocalDay) {
        self.states = states
        self.outputTokens = outputTokens
        self.reservedTokens = reservedTokens
        self.day = day
    }
}

/// Why an ask was refused and how long to wait.
package struct Refusal: Sendable, Hashable {
    /// Of the limits that refuse, the one with the longest wait.
    package var failing: LimitState
    /// Seconds until the failing limit lets one ask pass, rounded up, at least 1; a guess of 1 to 5 for running asks.
    package var retryAfterSeconds: Int
    /// Every limit as it stands, in the order of the plan.
    package var states: [LimitState]
    /// For how long no ask of the failing limit's holder can pass, whatever its size and whoever finishes meanwhile;
    /// nil when that is not certain. Only an operator or a new plan can shorten it, also one that was set before.
    package var certainFor: TimeSpan?

    package init(failing: LimitState, retryAfterSeconds: Int, states: [LimitState], certainFor: TimeSpan? = nil) {
        self.failing = failing
        self.retryAfterSeconds = retryAfterSeconds
        self.states = states
        self.certainFor = certainFor
    }
}
