import GatewayTypes

/// Answers questions by code of the app's own: a model on the device, another network, a script in tests.
///
/// Register one with `AskingProvider.service`; its questions have routes, fallbacks, the breaker and `cancel` like all
/// others.
public protocol AskingService: Sendable {
    /// Answers one question; returning is the end of a whole answer.
    ///
    /// An error before the first text lets another attempt or the fallbacks answer, one behind it ends the question.
    /// `AskingFailure.overloaded` and `.timedOut` are told as they are, everything else as `.providerFailed`. Runs
    /// beside the client's thread, in a task that is cancelled with the question.
    ///
    /// - Parameter tell: takes the next piece of text, when the client is ready for it; throws once the question is
    ///   over.
    func answer(
        _ question: AskingQuestion, tell: @escaping @Sendable (_ text: String) async throws -> Void
    ) async throws
}

/// What a service is asked.
public struct AskingQuestion: Hashable, Sendable {
    /// The question, without white space at its ends.
    public var text: String
    /// The agent's model, as the agent names it.
    public var model: String
    /// The agent's system prompt.
    public var instructions: String
    /// Most tokens of the answer.
    public var maxOutputTokens: Int
    /// From 0, steady, to 2, playful.
    public var temperature: Double

    init(_ request: AskRequest) {
        self.text = String(decoding: request.prompt.user, as: UTF8.self)
        self.model = request.model.string
        self.instructions = String(decoding: request.prompt.system, as: UTF8.self)
        self.maxOutputTokens = request.outputCap
        self.temperature = request.temperature
    }
}
