/// A value that may stand in a metric label: a closed set, or names taken from the configuration.
package protocol MetricLabel {
    /// Short, bounded, free of anything a client wrote.
    var metricLabel: String { get }
}
