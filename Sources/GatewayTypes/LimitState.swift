/// Where one limit stands for the caller, as headers, `GET /v1/quota` and the 429 body tell it.
package struct LimitState: Hashable, Sendable {
    /// The limit in force: an operator's override, when there is one, has already replaced the plan's quantity.
    package var limit: Limit
    /// What is left in the unit of the limit; never negative.
    package var remaining: Int
    /// Whole seconds, rounded up, until more is available: the oldest admission leaves the minute, the day turns,
    /// or a running ask ends (then at most the lease). 0 when nothing is used.
    package var resetSeconds: Int
    /// What counts against the limit now: admissions of the minute, tokens charged and reserved today, running asks.
    /// Larger than the quantity when the limit was lowered or a provider reported more than was reserved.
    package var used: Int
    /// The ask does not fit: it was refused for this, or would have been when the limit only observes.
    package var exceeded: Bool

    package init(limit: Limit, remaining: Int, resetSeconds: Int, used: Int = 0, exceeded: Bool = false) {
        self.limit = limit
        self.remaining = remaining
        self.resetSeconds = resetSeconds
        self.used = used
        self.exceeded = exceeded
    }
}
