import GatewayTypes

/// Why there is no answer, or no whole one. Says nothing of what the provider itself said.
public enum AskingFailure: Error, Hashable, Sendable {
    /// Nothing is left of the question once white space is trimmed.
    case emptyQuestion
    /// No provider is selected, or none by that name is registered.
    case noProvider
    /// The selected provider has no such agent.
    case unknownAgent
    /// A provider's address or name cannot be used.
    case invalidProvider
    /// `shutDown` was called before.
    case shutDown
    /// The client could not be set up: no thread, no memory.
    case unavailable
    /// `cancel` was called, or the client shut down meanwhile.
    case cancelled
    /// The provider took too long.
    case timedOut
    /// The provider is over its limit or out of order; with the seconds to wait, when they are known.
    case overloaded(retryAfterSeconds: Int?)
    /// The provider ended without a word.
    case emptyAnswer
    /// The provider failed, or its answer broke off.
    case providerFailed

    init(_ failure: ProviderFailure) {
        switch failure.code {
        case .providerTimeout: self = .timedOut
        case .providerOverloaded: self = .overloaded(retryAfterSeconds: failure.retryAfterSeconds)
        case .providerEmptyAnswer: self = .emptyAnswer
        default: self = .providerFailed
        }
    }
}
