/// Tokens of one ask.
package struct TokenUsage: Hashable, Sendable {
    /// Where the numbers come from.
    package enum Source: String, Sendable, MetricLabel {
        /// The provider reported them.
        case provider
        /// Nothing was reported: counted from the text that went each way.
        case estimated

        package var metricLabel: String { self.rawValue }
    }

    package var input: Int
    package var output: Int
    /// What is charged. Providers may count more than input plus output (reasoning, tools), so it is kept apart.
    package var total: Int
    package var source: Source

    package init(input: Int, output: Int, total: Int? = nil, source: Source) {
        self.input = input
        self.output = output
        self.total = total ?? input + output
        self.source = source
    }
}
