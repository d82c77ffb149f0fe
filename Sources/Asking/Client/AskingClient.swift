import GatewayTypes
import Synchronization

/// Asks questions of AI providers from inside an app; the gateway asks with the same core.
///
/// Register providers, select one, send questions. All callbacks of a client come in order on one thread of its own,
/// which they must not block; each question gets exactly one of `onFinishAnswering` and `onError`. Safe to use from any
/// thread. A client that is let go of shuts down.
public final class AskingClient: Sendable {
    fileprivate struct Registry {
        var providers: [String: AskingProvider] = [:]
        var built: [ProviderName: Provider] = [:]
        /// The selected provider and those that stand in for it.
        var selected: [String] = []
        var isShutDown = false
    }

    private let registry = Mutex(Registry())
    private let engine: ClientEngine

    /// - Throws: `AskingFailure.unavailable` when there is no thread or memory to be had.
    public init() throws(AskingFailure) { self.engine = try ClientEngine() }

    deinit { self.shutDown() }

    /// Makes a provider known; one of the same name is replaced, and questions on their way keep the old one.
    ///
    /// - Throws: `AskingFailure.invalidProvider` for an address that is none or a default agent that is missing.
    public func register(_ provider: AskingProvider) throws(AskingFailure) {
        guard let built = provider.built() else { throw .invalidProvider }
        self.registry.withLock { registry in
            registry.providers[provider.name] = provider
            registry.built[built.name] = built
        }
    }

    /// Chooses who answers from now on.
    ///
    /// - Parameter fallbacks: who stands in, in this order, when the provider fails before its first word. One that
    ///   does not have the agent of a question is passed over.
    /// - Throws: `AskingFailure.noProvider` when one of them is not registered.
    public func select(_ name: String, fallbacks: [String] = []) throws(AskingFailure) {
        let names = [name] + fallbacks
        let isKnown = self.registry.withLock { registry in
            guard names.allSatisfy({ registry.providers[$0] != nil }) else { return false }
            registry.selected = names
            return true
        }
        guard isKnown else { throw .noProvider }
    }

    /// Sends a question.
    ///
    /// What is wrong before a question exists (nothing in it but white space, no provider selected, no such agent) is
    /// told to `onError` before this returns, with an empty identifier.
    ///
    /// - Parameters:
    ///   - onStartAnswering: the provider begins to answer.
    ///   - onAnswer: identifier, what is new, the whole text so far, and whether this is the last update; which is not
    ///     yet the end.
    /// - Returns: the question's identifier; nil when there is no question.
    @discardableResult
    public func send(
        question: String, config: AskingConfig = .default,
        onStartAnswering: @escaping @Sendable (_ questionId: String?) -> Void = { _ in },
        onAnswer:
            @escaping @Sendable (_ questionId: String, _ deltaText: String?, _ fullText: String?, _ isFinal: Bool) ->
            Void,
        onFinishAnswering: @escaping @Sendable (_ questionId: String) -> Void,
        onError: @escaping @Sendable (_ questionId: String, _ error: any Error) -> Void
    ) -> String? {
        let number = RequestID.random()
        let id = number.description
        let callbacks = AskingCallbacks(
            onStart: onStartAnswering, onAnswer: onAnswer, onFinish: onFinishAnswering, onError: onError)
        // Handed over under the lock: what begins before the end of the client is told of that end.
        let failure = self.registry.withLock { registry -> AskingFailure? in
            do throws(AskingFailure) {
                let order = try registry.order(question, config, seed: number.low)
                self.engine.start(order, id: id, callbacks)
                return nil
            } catch {
                return error
            }
        }
        guard let failure else { return id }
        onError("", failure)
        return nil
    }

    /// Asks, and gives the updates one by one. Leaving the loop early cancels the question; a failure is thrown.
    public func answers(
        to question: String, config: AskingConfig = .default
    ) -> AsyncThrowingStream<AskingUpdate, any Error> {
        let (stream, continuation) = AsyncThrowingStream<AskingUpdate, any Error>.makeStream()
        let id = self.send(
            question: question, config: config,
            onAnswer: { id, delta, full, isFinal in
                continuation.yield(
                    AskingUpdate(questionId: id, deltaText: delta, fullText: full, isFinal: isFinal))
            },
            onFinishAnswering: { _ in continuation.finish() },
            onError: { _, error in continuation.finish(throwing: error) })
        if let id {
            continuation.onTermination = { [engine] reason in if case .cancelled = reason { engine.cancel(id) } }
        }
        return stream
    }

    /// Gives a question up: its call is closed and `onError` tells `AskingFailure.cancelled`, unless it has ended
    /// before. Unknown identifiers are ignored.
    public func cancel(_ questionId: String) { self.engine.cancel(questionId) }

    /// Cancels every question and ends the client's thread. Waits for it, except on that thread itself.
    public func shutDown() {
        let isFirst = self.registry.withLock { registry in
            defer { registry.isShutDown = true }
            return !registry.isShutDown
        }
        if isFirst { self.engine.stop() }
    }
}

extension AskingClient.Registry {
    /// Checks a question and makes it ready.
    fileprivate func order(
        _ question: String, _ config: AskingConfig, seed: UInt64
    ) throws(AskingFailure) -> ClientEngine.Order {
        let trimmed = Self.trimmed(question)
        guard !trimmed.isEmpty else { throw .emptyQuestion }
        guard !self.isShutDown else { throw .shutDown }
        let chosen = self.selected.compactMap { self.providers[$0] }
        guard let first = chosen.first else { throw .noProvider }
        guard let agent = first.agent(config.specifiedAgent) else { throw .unknownAgent }
        let routes = chosen.compactMap { provider in
            provider.agent(config.specifiedAgent).map {
                ProviderRoute(provider: ProviderName(provider.name), model: ModelName($0.model))
            }
        }
        let prompt = Prompt(system: Array(agent.instructions.utf8), user: Array(trimmed.utf8))
        let request = AskRequest(
            task: "answer", prompt: prompt, model: ModelName(agent.model), outputCap: agent.maxOutputTokens,
            temperature: agent.temperature, streams: true)
        return ClientEngine.Order(
            request: request, routes: AskRoutes(routes, of: self.built, tenant: "", seed: seed))
    }

    /// Without white space and line breaks at both ends.
    private static func trimmed(_ text: String) -> Substring {
        var rest = text.drop { $0.isWhitespace }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
