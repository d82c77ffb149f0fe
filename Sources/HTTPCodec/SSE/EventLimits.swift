/// How much of a provider's event stream is kept while an event is incomplete.
package struct EventLimits: Sendable {
    /// Bytes of one line.
    package var lineBytes: Int
    /// Bytes of one event: its data with line feeds between, and its type.
    package var eventBytes: Int

    package init(lineBytes: Int = 1 << 20, eventBytes: Int = 1 << 20) {
        self.lineBytes = lineBytes
        self.eventBytes = eventBytes
    }
}

/// Why an event stream cannot be read on; the parser stays in this state.
package enum EventFailure: String, Error, Sendable, CaseIterable {
    case lineTooLong = "line_too_long"
    case eventTooLarge = "event_too_large"

    /// A bounded name for metrics.
    package var metricLabel: String { self.rawValue }
}
