package import GatewayTypes

/// One ended ask, in labels that the request's snapshot holds.
package struct AskMeasurement: Sendable {
    package var tenant: LabelID
    package var plan: LabelID
    /// `other` until the task was found in the configuration.
    package var task: LabelID
    package var outcome: Outcome
    /// What was charged.
    package var usage: TokenUsage?

    package init(
        tenant: LabelID = .other, plan: LabelID = .other, task: LabelID = .other, outcome: Outcome,
        usage: TokenUsage? = nil
    ) {
        self.tenant = tenant
        self.plan = plan
        self.task = task
        self.outcome = outcome
        self.usage = usage
    }
}

/// One ended call of a provider.
package struct AttemptMeasurement: Sendable {
    package var provider: LabelID
    package var model: LabelID
    /// How it ended: `answered`, or the bounded name of the failure.
    package var outcome: LabelID
    package var isFailure: Bool
    package var duration: TimeSpan
    /// From sending the call to the first text.
    package var firstToken: TimeSpan?
    package var usage: TokenUsage?

    package init(
        provider: LabelID, model: LabelID, outcome: LabelID, isFailure: Bool, duration: TimeSpan,
        firstToken: TimeSpan? = nil, usage: TokenUsage? = nil
    ) {
        self.provider = provider
        self.model = model
        self.outcome = outcome
        self.isFailure = isFailure
        self.duration = duration
        self.firstToken = firstToken
        self.usage = usage
    }
}

extension MetricsShard {
    /// An ask is on its way; exactly one `askEnded` must follow.
    package func askStarted() { self.record { $0.add(1, to: .inFlightAsks) } }

    /// The ask that `askStarted` announced has ended.
    ///
    /// What is charged beyond input and output, such as reasoning, is counted as `unattributed`, so that the types
    /// add up to the charge.
    package func askEnded(_ ask: AskMeasurement) {
        let outcome = self.known.outcomes[ask.outcome]
        self.record { state in
            state.add(-1, to: .inFlightAsks)
            state.add(1, to: .asks, SeriesKey(ask.tenant, ask.plan, ask.task, outcome))
            guard let usage = ask.usage else { return }
            let rest = usage.total &- usage.input &- usage.output
            state.addTokens(usage.input, ask, self.known.input)
            state.addTokens(usage.output, ask, self.known.output)
            state.addTokens(rest, ask, self.known.unattributed)
        }
    }

    /// One limit was looked at.
    package func admissionDecided(_ decision: AdmissionDecision, limit: LimitKind, scope: LimitScope) {
        let key = SeriesKey(self.known.limits[limit], self.known.scopes[scope], self.known.decisions[decision])
        self.record { $0.add(1, to: .admissions, key) }
    }

    package func overheadMeasured(_ span: TimeSpan, in stage: OverheadStage) {
        let key = SeriesKey(self.known.stages[stage])
        self.record { $0.observe(span.nanoseconds, in: .overhead, key) }
    }

    /// A call of the provider has ended.
    package func attemptEnded(_ attempt: AttemptMeasurement) {
        let known = self.known
        let failure = attempt.isFailure ? attempt.outcome : .none
        self.record { state in
            state.add(1, to: .providerAttempts, SeriesKey(attempt.provider, attempt.outcome))
            state.observe(
                attempt.duration.nanoseconds, in: .operationDuration,
                SeriesKey(known.chat, attempt.provider, attempt.model, failure))
            if let first = attempt.firstToken {
                state.observe(
                    first.nanoseconds, in: .timeToFirstToken, SeriesKey(known.chat, attempt.provider, attempt.model))
            }
            guard let usage = attempt.usage else { return }
            let input = SeriesKey(known.chat, attempt.provider, attempt.model, known.input)
            let output = SeriesKey(known.chat, attempt.provider, attempt.model, known.output)
            state.observe(Int64(usage.input), in: .tokenUsage, input)
            state.observe(Int64(usage.output), in: .tokenUsage, output)
        }
    }

    /// This loop's breaker of a provider changed. The worst of all loops is shown.
    package func providerStateChanged(_ provider: LabelID, to state: ProviderState) {
        self.record { $0.set(.providerState, SeriesKey(provider), to: Int64(state.rawValue)) }
    }

    package func authenticationFailed(_ reason: LabelID) {
        self.record { $0.add(1, to: .authenticationFailures, SeriesKey(reason)) }
    }
}

extension ShardState {
    fileprivate mutating func addTokens(_ count: Int, _ ask: AskMeasurement, _ type: LabelID) {
        guard count > 0 else { return }
        self.add(Int64(count), to: .tokens, SeriesKey(ask.tenant, ask.plan, ask.task, type))
    }
}
