import GatewayTypes

/// Why a configuration was not taken.
package enum ConfigurationFailure: Error, Sendable, MetricLabel, CustomStringConvertible {
    /// The file itself could not be read.
    case unreadable(ConfigurationProblem)
    /// The file is not YAML that this program reads; nothing behind the problem was looked at.
    case malformed([ConfigurationProblem])
    /// Every problem that was found in the file, in its order; warnings are among them.
    case invalid([ConfigurationProblem])

    package var metricLabel: String {
        switch self {
        case .unreadable: "unreadable"
        case .malformed: "malformed"
        case .invalid: "invalid"
        }
    }

    package var problems: [ConfigurationProblem] {
        switch self {
        case .unreadable(let problem): [problem]
        case .malformed(let problems), .invalid(let problems): problems
        }
    }

    /// One line for each problem.
    package var description: String { self.problems.map(\.description).joined(separator: "\n") }
}
