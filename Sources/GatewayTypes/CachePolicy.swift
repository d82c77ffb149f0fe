/// How a task answers the same ask again without a provider.
package struct CachePolicy: Hashable, Sendable {
    /// What an answer costs its caller when no provider was asked for it.
    package enum Charge: String, Hashable, Sendable, CaseIterable {
        case none
        /// As much as the call that made the answer.
        case full
    }

    /// How long an answer may be given again.
    package var lifetime: TimeSpan
    package var charge: Charge

    package init(lifetime: TimeSpan, charge: Charge = .none) {
        self.lifetime = lifetime
        self.charge = charge
    }
}

/// Where an answer came from, for tasks whose answers are kept.
package enum CacheUse: String, Sendable, CaseIterable, MetricLabel {
    /// It was kept.
    case hit
    /// A provider was asked.
    case miss
    /// Another ask was waiting for the same.
    case shared

    package var metricLabel: String { self.rawValue }
}
