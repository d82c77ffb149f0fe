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

    /// The word of chat completions, whose clients know these four: who declines withholds.
    package var chatCompletionWord: StaticString {
        switch self {
        case .stop, .other: "stop"
        case .length: "length"
        case .contentFilter, .refusal: "content_filter"
        case .toolCalls: "tool_calls"
        }
    }
}

/// Whom an ask may go to, in the order of trying.
package struct AskRoutes: Sendable {
    package var routes: [ProviderRoute]
    /// Every provider that a route may name.
    package var providers: [ProviderName: Provider]
    /// Whose turn it is where asks have to wait.
    package var tenant: TenantID
    /// Even bits for the pauses between attempts.
    package var seed: UInt64

    package init(
        _ routes: [ProviderRoute], of providers: [ProviderName: Provider], tenant: TenantID, seed: UInt64
    ) {
        self.routes = routes
        self.providers = providers
        self.tenant = tenant
        self.seed = seed
    }
}

/// One call of a provider that has ended.
package struct AskAttempt: Sendable {
    package var route: ProviderRoute
    /// Nil when the answer was whole, or the ask was cancelled.
    package var failure: ProviderFailure?
    package var wasCancelled: Bool
    /// What the provider reported.
    package var usage: TokenUsage?
    package var duration: TimeSpan
    /// From the call to the first text.
    package var firstText: TimeSpan?
}

/// A key that a provider refuses, or that is not used for a while.
package struct KeySetAside: Sendable, Hashable {
    package enum Reason: String, Sendable, MetricLabel {
        case refused
        case rateLimited = "rate_limited"

        package var metricLabel: String { self.rawValue }
    }

    package var provider: ProviderName
    /// Its place in the provider's list, from 1; the only name that a key has.
    package var key: Int
    package var reason: Reason
    /// Nil for the only key of a provider, which is used on.
    package var span: TimeSpan?
}

/// How an ask ended, and what it took. A class, since every ask that waits has room for it in several frames.
package final class AskEnd: Sendable {
    /// Nil when the answer is whole.
    package let failure: ProviderFailure?
    package let wasCancelled: Bool
    package let finish: FinishReason?
    /// The provider's last word on tokens; nil when it said nothing usable.
    package let usage: TokenUsage?
    /// What earlier attempts took, as far as their providers said.
    package let spent: TokenUsage?
    package let attempts: Int
    /// The route of the last attempt; nil when nobody was called.
    package let route: ProviderRoute?
    /// A call was open when the ask was given up: its provider may have worked on it.
    package let hadOpenCall: Bool

    package init(
        failure: ProviderFailure?, wasCancelled: Bool, finish: FinishReason?, usage: TokenUsage?,
        spent: TokenUsage? = nil, attempts: Int, route: ProviderRoute? = nil, hadOpenCall: Bool = false
    ) {
        self.failure = failure
        self.wasCancelled = wasCancelled
        self.finish = finish
        self.usage = usage
        self.spent = spent
        self.attempts = attempts
        self.route = route
        self.hadOpenCall = hadOpenCall
    }

    /// The same end, for one that paid for the call and has left before it heard of it.
    package var ofLeaver: AskEnd {
        AskEnd(
            failure: nil, wasCancelled: true, finish: nil, usage: self.usage, spent: self.spent,
            attempts: self.attempts, route: self.route, hadOpenCall: self.failure == nil)
    }

    /// The same end, for one that shared the answer of another's call.
    package var ofNoCall: AskEnd {
        AskEnd(
            failure: self.failure, wasCancelled: self.wasCancelled, finish: self.finish, usage: self.usage, attempts: 0,
            route: self.route)
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

    /// A call has ended, well or not; before `answerEnded`.
    func attemptEnded(_ attempt: AskAttempt)
    /// This ask made this loop's breaker of a provider change.
    ///
    /// - Parameter failure: how the call went that made it change; nil when it went well or has only begun.
    func breakerChanged(of provider: ProviderName, to state: BreakerState, after failure: ProviderFailure?)
    /// This ask made a key unusable for a while, or is the first that learns that the only key is refused.
    func keySetAside(_ key: KeySetAside)
}

extension AnswerReceiver {
    package func attemptEnded(_ attempt: AskAttempt) {}
    package func breakerChanged(of provider: ProviderName, to state: BreakerState, after failure: ProviderFailure?) {}
    package func keySetAside(_ key: KeySetAside) {}
}

extension TokenUsage {
    /// Both together.
    package func adding(_ other: TokenUsage?) -> TokenUsage {
        guard let other else { return self }
        let isReported = self.source == .provider && other.source == .provider
        return TokenUsage(
            input: self.input &+ other.input, output: self.output &+ other.output, total: self.total &+ other.total,
            cachedInput: self.cachedInput &+ other.cachedInput, reasoning: self.reasoning &+ other.reasoning,
            source: isReported ? .provider : .estimated)
    }
}
