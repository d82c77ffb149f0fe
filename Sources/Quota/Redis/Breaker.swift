package import GatewayTypes

/// Whether it is worth asking the store at all. Event in, decision out; no clock, no I/O.
package struct Breaker: Sendable {
    /// Consecutive failures that open it.
    static let threshold = 3
    /// How long it stays open at first; doubles with each failed probe.
    static let shortestRest = TimeSpan.milliseconds(100)
    /// And at most, so that a store that is back serves within a second.
    static let longestRest = TimeSpan.milliseconds(800)

    private enum State: Sendable {
        /// Asks pass; successors: `closed`, `open`.
        case closed(failures: Int)
        /// Nothing passes; successor: `probing`.
        case open(until: MonotonicTime, rest: TimeSpan)
        /// One ask is on its way; successors: `closed`, `open`.
        case probing(since: MonotonicTime, rest: TimeSpan)
    }

    private var state = State.closed(failures: 0)

    package init() {}

    package var isClosed: Bool { if case .closed = self.state { true } else { false } }

    /// Whether the store may be asked now. A true answer of an open breaker is the probe: its outcome has to be told.
    package mutating func mayAsk(at now: MonotonicTime) -> Bool {
        switch self.state {
        case .closed: return true
        case .open(let end, let rest):
            guard now >= end else { return false }
            self.state = .probing(since: now, rest: rest)
            return true
        case .probing(let since, let rest):
            // A probe whose outcome nobody told would close the door for ever.
            guard now - since > .seconds(2) else { return false }
            self.state = .probing(since: now, rest: rest)
            return true
        }
    }

    package mutating func succeeded() { self.state = .closed(failures: 0) }

    /// The store answered what proves nothing of what failed: the next ask may find out.
    package mutating func provedNothing(at now: MonotonicTime) {
        if case .probing(_, let rest) = self.state { self.state = .open(until: now, rest: rest) }
    }

    package mutating func failed(at now: MonotonicTime) {
        switch self.state {
        case .closed(let failures):
            let count = failures &+ 1
            self.state =
                count >= Self.threshold
                ? .open(until: now + Self.shortestRest, rest: Self.shortestRest) : .closed(failures: count)
        case .probing(_, let rest):
            let next = min(rest + rest, Self.longestRest)
            self.state = .open(until: now + next, rest: next)
        case .open: break  // The late failure of an ask that went out before.
        }
    }
}
