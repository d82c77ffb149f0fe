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
    /// The part of `input` that the provider had read before.
    package var cachedInput: Int
    /// What the model thought before it answered; a part of `total`, in most dialects of `output`.
    package var reasoning: Int
    package var source: Source

    package init(
        input: Int, output: Int, total: Int? = nil, cachedInput: Int = 0, reasoning: Int = 0, source: Source
    ) {
        self.input = input
        self.output = output
        self.total = total ?? input + output
        self.cachedInput = cachedInput
        self.reasoning = reasoning
        self.source = source
    }
}
