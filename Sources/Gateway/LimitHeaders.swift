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
        head.append(addingCapacity: self.roomOfFields &+ states.count &* self.roomOfState) { fields in
            self.appendRateLimit(states, to: &fields)
            if let requests = self.tightest(.requestsPerMinute, states) {
                MessageWriter.field("x-ratelimit-limit-requests", self.clamped(requests.limit.quantity), to: &fields)
                MessageWriter.field("x-ratelimit-remaining-requests", self.clamped(requests.remaining), to: &fields)
                self.append("x-ratelimit-reset-requests: ", durationOf: requests, to: &fields)
            }
            if let tokens = self.tightest(.tokensPerDay, states) {
                MessageWriter.field("x-ratelimit-limit-tokens", self.clamped(tokens.limit.quantity), to: &fields)
                MessageWriter.field("x-ratelimit-remaining-tokens", self.clamped(tokens.remaining), to: &fields)
                self.append("x-ratelimit-reset-tokens: ", durationOf: tokens, to: &fields)
            }
        }
    }

    /// Room for the names of all fields, and for the values that come once.
    private static let roomOfFields = 512
    /// Room for one limit in both lists.
    private static let roomOfState = 160

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
    private static func appendRateLimit(_ states: [LimitState], to fields: inout OutputSpan<UInt8>) {
        guard states.contains(where: self.isPolicy) else { return }
        fields.append("ratelimit-policy: ")
        self.appendList(states, to: &fields) { state, fields in
            fields.append(";q=")
            Decimal.append(self.clamped(state.limit.quantity), to: &fields)
            let isRate = state.limit.kind == .requestsPerMinute
            fields.append(isRate ? ";w=60" : ";qu=\"concurrent-requests\"")
        }
        fields.append("ratelimit: ")
        self.appendList(states, to: &fields) { state, fields in
            fields.append(";r=")
            Decimal.append(self.clamped(state.remaining), to: &fields)
            // When a running ask will end nobody knows.
            guard state.limit.kind == .requestsPerMinute, state.resetSeconds > 0 else { return }
            fields.append(";t=")
            Decimal.append(self.clamped(state.resetSeconds), to: &fields)
        }
    }

    /// Appends a member for each limit, and ends the line.
    private static func appendList(
        _ states: [LimitState], to fields: inout OutputSpan<UInt8>,
        _ parameters: (LimitState, inout OutputSpan<UInt8>) -> Void
    ) {
        var isFirst = true
        for state in states where self.isPolicy(state) {
            fields.append(isFirst ? "\"" : ", \"")
            fields.append(self.policyName(state.limit))
            fields.append("\"")
            parameters(state, &fields)
            isFirst = false
        }
        fields.append("\r\n")
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

    /// Appends a field with the time to the reset as Go writes durations: `31s`, `6m0s`, `1h0m0s`.
    private static func append(
        _ name: StaticString, durationOf state: LimitState, to fields: inout OutputSpan<UInt8>
    ) {
        fields.append(name)
        let seconds = self.clamped(state.resetSeconds)
        if seconds >= 3600 {
            Decimal.append(seconds / 3600, to: &fields)
            fields.append("h")
        }
        if seconds >= 60 {
            Decimal.append(seconds / 60 % 60, to: &fields)
            fields.append("m")
        }
        Decimal.append(seconds % 60, to: &fields)
        fields.append("s\r\n")
    }
}
