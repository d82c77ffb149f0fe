import GatewayTypes

/// What admission did with one limit.
package enum AdmissionDecision: String, Sendable, CaseIterable, MetricLabel {
    case admitted
    case refused
    /// The limit is only observed: it was reached, and refused nothing.
    case observed
    /// The store could not be asked, and the limit's stance let the ask pass.
    case outageAllowed = "outage_allowed"
    /// The store could not be asked, and the limit's stance refused the ask.
    case outageDenied = "outage_denied"

    package var metricLabel: String { self.rawValue }
}

/// The parts of the gateway's own time.
package enum OverheadStage: String, Sendable, CaseIterable, MetricLabel {
    case accept
    case authenticate
    case resolve
    case admit
    case relay
    case settle
    case record
    /// The whole of what the gateway added to an ask.
    case total

    package var metricLabel: String { self.rawValue }
}

/// What the store was asked to do.
package enum StoreOperation: String, Sendable, CaseIterable, MetricLabel {
    case admit
    case settle
    case renew
    case read
    case change

    package var metricLabel: String { self.rawValue }
}

/// What came of reading the configuration again.
package enum ReloadResult: String, Sendable, CaseIterable, MetricLabel {
    case applied
    case refused

    package var metricLabel: String { self.rawValue }
}

/// Which end of a hop between instances counts.
package enum HopSide: String, Sendable, CaseIterable, MetricLabel {
    /// The instance that the client called.
    case sent
    /// The one that holds the question.
    case served

    package var metricLabel: String { self.rawValue }
}

/// How a hop between instances ended.
package enum HopOutcome: String, Sendable, CaseIterable, MetricLabel {
    /// Whatever the answer was.
    case answered
    /// The client, or the instance that called for it, went away.
    case clientGone = "client_gone"
    /// The lease of the instance that was to be called has run out.
    case gone
    /// It is registered, and did not answer.
    case unreachable
    /// Its stream broke off.
    case broken
    /// It took no signature of ours.
    case refused
    /// The question belongs to another instance than the one that was called.
    case notHere = "not_here"
    case malformed
    case badSignature = "bad_signature"
    /// Signed too long ago, or by a clock that is ahead.
    case stale
    case replayed
    case overloaded
    case draining

    package var metricLabel: String { self.rawValue }
}

/// The breaker of one provider; the gauge shows the raw value.
package enum ProviderState: Int, Sendable, CaseIterable {
    case closed = 0
    case halfOpen = 1
    case open = 2
}

/// The method of a request, as labels name it.
package enum MethodLabel: String, Sendable, CaseIterable, MetricLabel {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
    case connect = "CONNECT"
    case trace = "TRACE"
    /// Any other: methods are the client's words.
    case other = "_OTHER"

    package var metricLabel: String { self.rawValue }

    /// Methods are case-sensitive (RFC 9110 §9.1).
    package init(_ method: Span<UInt8>) {
        self = .other
        for candidate in Self.allCases where candidate != .other && matches(candidate.rawValue, method) {
            self = candidate
            return
        }
    }
}

private func matches(_ text: String, _ bytes: Span<UInt8>) -> Bool {
    guard text.utf8.count == bytes.count else { return false }
    var position = 0
    for byte in text.utf8 {
        guard byte == bytes[position] else { return false }
        position += 1
    }
    return true
}
