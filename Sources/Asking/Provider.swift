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
    }

    package let name: ProviderName
    package let dialect: Dialect
    package let deadlines: Deadlines

    package init(name: ProviderName, dialect: Dialect, deadlines: Deadlines = Deadlines()) {
        self.name = name
        self.dialect = dialect
        self.deadlines = deadlines
    }
}
