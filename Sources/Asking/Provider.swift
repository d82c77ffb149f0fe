package import GatewayTypes

/// A configured upstream, frozen in a snapshot and shared by all loops.
package final class Provider: Sendable {
    /// How long each part of a call may take.
    package struct Deadlines: Hashable, Sendable {
        package var connect: TimeSpan
        /// From the request to the first byte of a streamed answer.
        package var firstByte: TimeSpan
        /// Between two pieces of a streamed answer.
        package var idle: TimeSpan
        /// For the whole call; the only bound on an answer that comes in one piece.
        package var total: TimeSpan

        package init(
            connect: TimeSpan = .seconds(2), firstByte: TimeSpan = .seconds(30), idle: TimeSpan = .seconds(30),
            total: TimeSpan = .seconds(90)
        ) {
            self.connect = connect
            self.firstByte = firstByte
            self.idle = idle
            self.total = total
        }
    }

    /// What a call may hold, where servers of one dialect differ.
    package struct CallOptions: Hashable, Sendable {
        /// The member that bounds the answer of a chat completion.
        package enum OutputCapMember: String, Hashable, Sendable, CaseIterable {
            case maxTokens = "max_tokens"
            /// What OpenAI's own reasoning models take instead.
            case maxCompletionTokens = "max_completion_tokens"
        }

        /// Adds `stream_options` to chat completions, which a few servers refuse.
        package var asksForUsage: Bool
        /// Of chat completions only.
        package var outputCapMember: OutputCapMember
        /// Some reasoning models refuse a temperature.
        package var sendsTemperature: Bool

        package init(
            asksForUsage: Bool = true, outputCapMember: OutputCapMember = .maxTokens, sendsTemperature: Bool = true
        ) {
            self.asksForUsage = asksForUsage
            self.outputCapMember = outputCapMember
            self.sendsTemperature = sendsTemperature
        }
    }

    /// The wire format of an upstream.
    package enum Dialect: Sendable {
        /// Chat completions.
        case openAI(Endpoints, CallOptions)
        /// The messages API.
        case anthropic(Endpoints, CallOptions)
        /// generateContent and streamGenerateContent.
        case gemini(Endpoints, CallOptions)
        /// The embedded provider: answers at once, without a network.
        case demo(wordDelay: TimeSpan)
        /// Code of the embedding app.
        case service(any AskingService, Deadlines)
    }

    package let name: ProviderName
    /// How to call with the first key, or without any.
    package let dialect: Dialect
    /// The same with each further key.
    private let spares: [Dialect]
    package let deadlines: Deadlines
    package let retry: Retry
    package let breaker: BreakerPolicy
    /// Nil when as many calls may be open as asks come.
    package let concurrency: Concurrency?

    /// - Parameter spares: how to call with keys that share the work with the first.
    package init(
        name: ProviderName, dialect: Dialect, spares: [Dialect] = [], deadlines: Deadlines = Deadlines(),
        retry: Retry = Retry(), breaker: BreakerPolicy = BreakerPolicy(), concurrency: Concurrency? = nil
    ) {
        self.name = name
        self.dialect = dialect
        self.spares = spares
        self.deadlines = deadlines
        self.retry = retry
        self.breaker = breaker
        self.concurrency = concurrency
    }

    /// At least one: a provider without a key counts as one with an empty key.
    package var keyCount: Int { self.spares.count &+ 1 }

    /// How to call with a key.
    func dialect(key: Int) -> Dialect {
        let place = key &- 1
        return self.spares.indices.contains(place) ? self.spares[place] : self.dialect
    }
}
