/// Where one limit stands for the caller, as headers, `GET /v1/quota` and the 429 body tell it.
package struct LimitState: Hashable, Sendable {
    package var limit: Limit
    /// What is left in the unit of the limit; never negative.
    package var remaining: Int
    /// Whole seconds, rounded up, until more is available: the oldest admission leaves the minute, the day turns,
    /// or a running ask ends (then at most the lease). 0 when nothing is used.
    package var resetSeconds: Int

    package init(limit: Limit, remaining: Int, resetSeconds: Int) {
        self.limit = limit
        self.remaining = remaining
        self.resetSeconds = resetSeconds
    }
}
