package import GatewayTypes

extension Provider {
    /// How often and how fast a call is tried again at the same provider.
    package struct Retry: Hashable, Sendable {
        /// Further calls of one ask beyond the first; keys that take over from refused ones are not counted.
        package var retries: Int
        /// The bound of the first pause; each further one is twice as long. The pause is drawn evenly below its bound.
        package var backoff: TimeSpan
        /// The longest pause. A provider that asks for more is not waited for.
        package var longestPause: TimeSpan

        package init(
            retries: Int = 0, backoff: TimeSpan = .milliseconds(250), longestPause: TimeSpan = .seconds(2)
        ) {
            self.retries = min(max(0, retries), 10)
            self.backoff = backoff
            self.longestPause = longestPause
        }
    }

    /// When a provider is taken for broken, and how long it is left alone then.
    package struct BreakerPolicy: Hashable, Sendable {
        /// Failures in a row that open the breaker; 0 turns the breaker off.
        package var failures: Int
        /// The share of failed calls within `window` that opens it too, in percent.
        package var percent: Int
        /// Calls within `window` below which the share says nothing.
        package var leastCalls: Int
        package var window: TimeSpan
        /// The first time that it stays open; doubled by each probe that fails.
        package var open: TimeSpan
        package var longestOpen: TimeSpan

        package init(
            failures: Int = 10, percent: Int = 50, leastCalls: Int = 40, window: TimeSpan = .seconds(10),
            open: TimeSpan = .seconds(1), longestOpen: TimeSpan = .seconds(60)
        ) {
            self.failures = max(0, failures)
            self.percent = min(max(1, percent), 100)
            self.leastCalls = max(1, leastCalls)
            self.window = window
            self.open = open
            self.longestOpen = max(open, longestOpen)
        }

        /// A breaker that never opens.
        package static let off = BreakerPolicy(failures: 0)
    }

    /// How many calls of the whole process may be open, and who may wait for a place.
    package struct Concurrency: Hashable, Sendable {
        package var calls: Int
        /// Asks of all tenants that may wait.
        package var queue: Int
        /// The longest wait.
        package var wait: TimeSpan

        package init(calls: Int, queue: Int = 256, wait: TimeSpan = .seconds(10)) {
            self.calls = max(1, calls)
            self.queue = max(0, queue)
            self.wait = wait
        }
    }
}
