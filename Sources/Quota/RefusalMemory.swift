package import GatewayTypes

/// Remembers certain refusals, so that whoever comes back too early is refused without asking the store.
///
/// Bounded: two halves of `capacity` each, the older of which is dropped when the newer is full. Void as soon as an
/// operator changes anything; an entry holds only for the very limit that refused, so a new plan is never held up.
package struct RefusalMemory: Sendable {
    private struct Entry: Sendable {
        var refusal: Refusal
        /// The plan's own words for the failing limit.
        var limit: Limit
        var since: MonotonicTime
        /// When the failing limit lets an ask pass.
        var endsAt: MonotonicTime
        /// When the entry is no longer believed; not after `endsAt`.
        var trustedUntil: MonotonicTime
    }

    private let capacity: Int
    private var newer: [CounterKey: Entry] = [:]
    private var older: [CounterKey: Entry] = [:]
    private var generation: UInt64 = 0

    /// - Parameter capacity: refusals in each half.
    package init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    package var count: Int { self.newer.count + self.older.count }

    /// - Parameters:
    ///   - generation: the store's, as it was before it decided.
    ///   - longest: the store's `refusalMemory`.
    package mutating func remember(
        _ refusal: Refusal, of ask: QuotaAsk, generation: UInt64, longest: TimeSpan, at now: MonotonicTime
    ) {
        let failing = refusal.failing.limit
        guard let certain = refusal.certainFor,
            let limit = ask.limits.first(where: { Self.decides($0, failing) }), self.keepUp(with: generation)
        else { return }
        if self.newer.count >= self.capacity {
            self.older = self.newer
            self.newer = [:]
        }
        let told = TimeSpan.seconds(Int64(refusal.retryAfterSeconds))
        // The wait to the nanosecond is known where all of it is certain.
        let wait = certain + .seconds(1) > told ? certain : told
        self.newer[Self.key(failing.scope, ask.caller)] = Entry(
            refusal: refusal, limit: limit, since: now, endsAt: now + wait, trustedUntil: now + min(certain, longest))
    }

    /// The refusal that still holds for a caller, told as of now.
    package mutating func refusal(
        of caller: QuotaCaller, limits: [Limit], generation: UInt64, at now: MonotonicTime
    ) -> Refusal? {
        guard self.keepUp(with: generation), !self.newer.isEmpty || !self.older.isEmpty else { return nil }
        for scope in LimitScope.allCases {
            let key = Self.key(scope, caller)
            guard let entry = self.newer[key] ?? self.older[key] else { continue }
            if entry.trustedUntil <= now {
                self.newer[key] = nil
                self.older[key] = nil
            } else if limits.contains(entry.limit) {
                return Self.told(entry, at: now)
            }
        }
        return nil
    }

    /// Forgets everything when an operator may have acted. False for a generation that is past already.
    private mutating func keepUp(with generation: UInt64) -> Bool {
        if generation > self.generation {
            self.generation = generation
            self.newer = [:]
            self.older = [:]
        }
        return generation == self.generation
    }

    private static func decides(_ limit: Limit, _ failing: Limit) -> Bool {
        limit.scope == failing.scope && limit.kind == failing.kind && !limit.observe
    }

    private static func key(_ scope: LimitScope, _ caller: QuotaCaller) -> CounterKey {
        let id =
            switch scope {
            case .subject: caller.subject.bytes
            case .address: caller.address
            case .tenant: ByteString("")
            }
        return CounterKey(tenant: caller.tenant, scope: scope, id: id)
    }

    private static func told(_ entry: Entry, at now: MonotonicTime) -> Refusal {
        var refusal = entry.refusal
        let left = (entry.endsAt - now).nanoseconds
        let passed = Int((now - entry.since).nanoseconds / 1_000_000_000)
        refusal.retryAfterSeconds = max(1, LimitDecision.seconds(left))
        refusal.failing.resetSeconds = refusal.retryAfterSeconds
        refusal.certainFor = entry.trustedUntil - now
        for index in refusal.states.indices {
            let state = refusal.states[index]
            let isFailing = state.limit == refusal.failing.limit
            refusal.states[index].resetSeconds =
                isFailing ? refusal.retryAfterSeconds : max(min(state.resetSeconds, 1), state.resetSeconds &- passed)
        }
        return refusal
    }
}
