package import GatewayTypes

/// One question, as the core takes it.
package struct AskRequest: Sendable {
    package var task: TaskName
    package var prompt: Prompt
    package var model: ModelName
    /// Most tokens of the answer; sent to the provider.
    package var outputCap: Int
    package var temperature: Double
    /// Texts at which the model is to stop, at most four; they are not part of the answer.
    package var stop: [[UInt8]]
    /// Whether the answer is wanted piece by piece.
    package var streams: Bool

    package init(
        task: TaskName, prompt: Prompt, model: ModelName, outputCap: Int, temperature: Double,
        stop: [[UInt8]] = [], streams: Bool
    ) {
        self.task = task
        self.prompt = prompt
        self.model = model
        self.outputCap = outputCap
        self.temperature = temperature
        self.stop = stop
        self.streams = streams
    }
}

/// Why a model stopped.
package enum FinishReason: String, Sendable, MetricLabel {
    case stop
    /// The output cap was reached.
    case length
    /// The provider withheld the answer or a part of it.
    case contentFilter = "content_filter"
    /// The model itself declined; its words, if it gave any, are the answer's text.
    case refusal
    case toolCalls = "tool_calls"
    case other

    package var metricLabel: String { self.rawValue }
}

/// How an ask ended, and what it took.
package struct AskEnd: Sendable {
    /// Nil when the answer is whole.
    package var failure: ProviderFailure?
    package var wasCancelled: Bool
    package var finish: FinishReason?
    /// The provider's last word on tokens; nil when it said nothing usable.
    package var usage: TokenUsage?
    package var attempts: Int

    package init(
        failure: ProviderFailure?, wasCancelled: Bool, finish: FinishReason?, usage: TokenUsage?, attempts: Int
    ) {
        self.failure = failure
        self.wasCancelled = wasCancelled
        self.finish = finish
        self.usage = usage
        self.attempts = attempts
    }
}

/// Told what becomes of an ask, on its loop: one start, updates, exactly one end.
package protocol AnswerReceiver: AnyObject {
    /// The provider began to answer.
    func answerStarted()
    /// More text: UTF-8, lent for the length of the call. A piece may end inside a character only if the provider's
    /// own piece did.
    func answerGrew(_ text: UnsafeBufferPointer<UInt8>)
    /// No more text is at hand for the moment: what was gathered should go out.
    func answerPaused()
    /// Nothing follows.
    func answerEnded(_ end: AskEnd)
}
