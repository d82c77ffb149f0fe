package import GatewayTypes
import HTTPCodec

/// Tells a caller where its limits stand, in both families of fields.
///
/// Never for 401 and 403: a stranger would read another's traffic. Limits that are only observed are left out, since
/// they refuse nothing.
package enum LimitHeaders {
    /// Structured Fields know integers of at most 15 digits (RFC 9651 §3.3.1).
    private static let greatest = 999_999_999_999_999

    /// Appends the fields for these limits; none for no limits.
    package static func append(_ states: [LimitState], to head: inout [UInt8]) {
        self.appendRateLimit(states, to: &head)
        if let requests = self.tightest(.requestsPerMinute, states) {
            MessageWriter.field("x-ratelimit-limit-requests", self.clamped(requests.limit.quantity), to: &head)
            MessageWriter.field("x-ratelimit-remaining-requests", self.clamped(requests.remaining), to: &head)
            MessageWriter.field("x-ratelimit-reset-requests", to: &head) { self.append(duration: requests, to: &$0) }
        }
        if let tokens = self.tightest(.tokensPerDay, states) {
            MessageWriter.field("x-ratelimit-limit-tokens", self.clamped(tokens.limit.quantity), to: &head)
            MessageWriter.field("x-ratelimit-remaining-tokens", self.clamped(tokens.remaining), to: &head)
            MessageWriter.field("x-ratelimit-reset-tokens", to: &head) { self.append(duration: tokens, to: &$0) }
        }
    }

    /// The name of a limit as a policy: `rpm`, `tpd` or `conc`, with the scope where that is not the subject.
    static func policyName(_ limit: Limit) -> StaticString {
        switch (limit.kind, limit.scope) {
        case (.requestsPerMinute, .subject): "rpm"
        case (.requestsPerMinute, .tenant): "rpm-tenant"
        case (.requestsPerMinute, .address): "rpm-address"
        case (.tokensPerDay, .subject): "tpd"
        case (.tokensPerDay, .tenant): "tpd-tenant"
        case (.tokensPerDay, .address): "tpd-address"
        case (.concurrentRequests, .subject): "conc"
        case (.concurrentRequests, .tenant): "conc-tenant"
        case (.concurrentRequests, .address): "conc-address"
        }
    }

    /// `RateLimit-Policy` and `RateLimit`: lists of strings with parameters. Limits of tokens are not in them, as no
    /// unit is registered for tokens and leaving it out would say requests.
    private static func appendRateLimit(_ states: [LimitState], to head: inout [UInt8]) {
        guard states.contains(where: self.isPolicy) else { return }
        MessageWriter.field("ratelimit-policy", to: &head) { output in
            self.appendList(states, to: &output) { state, output in
                self.append(";q=", state.limit.quantity, to: &output)
                let isRate = state.limit.kind == .requestsPerMinute
                MessageWriter.append(isRate ? ";w=60" : ";qu=\"concurrent-requests\"", to: &output)
            }
        }
        MessageWriter.field("ratelimit", to: &head) { output in
            self.appendList(states, to: &output) { state, output in
                self.append(";r=", state.remaining, to: &output)
                // When a running ask will end nobody knows.
                guard state.limit.kind == .requestsPerMinute, state.resetSeconds > 0 else { return }
                self.append(";t=", state.resetSeconds, to: &output)
            }
        }
    }

    private static func appendList(
        _ states: [LimitState], to output: inout [UInt8], _ parameters: (LimitState, inout [UInt8]) -> Void
    ) {
        var isFirst = true
        for state in states where self.isPolicy(state) {
            MessageWriter.append(isFirst ? "\"" : ", \"", to: &output)
            MessageWriter.append(self.policyName(state.limit), to: &output)
            MessageWriter.append("\"", to: &output)
            parameters(state, &output)
            isFirst = false
        }
    }

    private static func append(_ name: StaticString, _ value: Int, to output: inout [UInt8]) {
        MessageWriter.append(name, to: &output)
        Decimal.append(self.clamped(value), to: &output)
    }

    private static func isPolicy(_ state: LimitState) -> Bool {
        !state.limit.observe && state.limit.kind != .tokensPerDay
    }

    private static func clamped(_ value: Int) -> Int { min(max(value, 0), self.greatest) }

    /// The limit of this kind with the least left, over all scopes.
    private static func tightest(_ kind: LimitKind, _ states: [LimitState]) -> LimitState? {
        var found: LimitState?
        for state in states where state.limit.kind == kind && !state.limit.observe {
            guard let known = found, (known.remaining, known.limit.quantity) <= (state.remaining, state.limit.quantity)
            else {
                found = state
                continue
            }
        }
        return found
    }

    /// Appends the time to the reset as Go writes durations: `31s`, `6m0s`, `1h0m0s`.
    private static func append(duration state: LimitState, to output: inout [UInt8]) {
        let seconds = self.clamped(state.resetSeconds)
        if seconds >= 3600 {
            Decimal.append(seconds / 3600, to: &output)
            MessageWriter.append("h", to: &output)
        }
        if seconds >= 60 {
            Decimal.append(seconds / 60 % 60, to: &output)
            MessageWriter.append("m", to: &output)
        }
        Decimal.append(seconds % 60, to: &output)
        MessageWriter.append("s", to: &output)
    }
}
