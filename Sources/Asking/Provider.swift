package import GatewayTypes
package import HTTPClient

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

    /// The wire format of an upstream.
    package enum Dialect: Sendable {
        /// Chat completions at this endpoint. `asksForUsage` adds `stream_options`, which a few servers refuse.
        case openAI(UpstreamEndpoint, asksForUsage: Bool)
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
