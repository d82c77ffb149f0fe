import GatewayTypes
import Quota

/// The rules of the store again, written to be read and not to be fast: every answer is counted anew from a list of
/// all asks that were ever admitted. It shares no code with the store.
struct NaiveStore {
    struct Entry {
        let ask: QuotaAsk
        let admittedAt: Int64
        let day: LocalDay
        let output: Int
        /// Kinds and scopes in which this ask counts.
        var cells: Set<Cell>
        var charged: Int?
        var leaseEnds: Int64
        var endedAt: Int64?
    }

    struct Cell: Hashable {
        let kind: LimitKind
        let scope: LimitScope
    }

    struct Reset {
        let key: CounterKey
        let kind: LimitKind?
        let entries: Int
    }

    /// Nanoseconds and calendar time; moved together.
    var now: Int64 = 1_000_000_000
    var wall: WallTime
    var entries: [Entry] = []
    var resets: [Reset] = []
    var overrides: [CounterKey: [LimitKind: LimitOverride]] = [:]
    var blocks: [CounterKey: WallTime?] = [:]

    func key(_ scope: LimitScope, _ caller: QuotaCaller) -> CounterKey {
        switch scope {
        case .subject: .subject(caller.subject, of: caller.tenant)
        case .tenant: .tenant(caller.tenant)
        case .address: .address(caller.address, of: caller.tenant)
        }
    }

    private func wasReset(_ index: Int, _ key: CounterKey, _ kind: LimitKind) -> Bool {
        self.resets.contains { $0.key == key && ($0.kind ?? kind) == kind && index < $0.entries }
    }

    private func holds(_ entry: Entry) -> Bool { entry.endedAt == nil && entry.leaseEnds > self.now }

    /// What stands against a limit, and the stamps of the minute.
    func used(_ limit: Limit, _ caller: QuotaCaller, day: LocalDay) -> (Int, stamps: [Int64]) {
        let key = self.key(limit.scope, caller)
        let cell = Cell(kind: limit.kind, scope: limit.scope)
        let mine = self.entries.indices.filter {
            self.entries[$0].cells.contains(cell) && self.key(limit.scope, self.entries[$0].ask.caller) == key
        }
        switch limit.kind {
        case .requestsPerMinute:
            let stamps = mine.filter { !self.wasReset($0, key, limit.kind) }.map { self.entries[$0].admittedAt }
                .filter { self.now - $0 < 60_000_000_000 }
            return (stamps.count, stamps.sorted())
        case .tokensPerDay:
            let sum = mine.filter { self.entries[$0].day.number == day.number }.reduce(0) { sum, index in
                let entry = self.entries[index]
                let isGone = self.wasReset(index, key, limit.kind)
                if let charged = entry.charged {
                    // Charged after the reset counts, charged before it does not.
                    let counts = !isGone || self.chargedAfterReset(index, key, limit.kind)
                    return sum + (counts ? charged : 0)
                }
                return sum + (isGone ? 0 : entry.ask.promptEstimate + entry.output)
            }
            return (sum, [])
        case .concurrentRequests:
            let running = mine.filter { self.holds(self.entries[$0]) && !self.wasReset($0, key, limit.kind) }
            return (running.count, [])
        }
    }

    /// For each entry, how many resets there were when it was charged.
    var resetsAtCharge: [Int: Int] = [:]

    private func chargedAfterReset(_ index: Int, _ key: CounterKey, _ kind: LimitKind) -> Bool {
        let seen = self.resetsAtCharge[index] ?? 0
        return !self.resets.dropFirst(seen).contains { $0.key == key && ($0.kind ?? kind) == kind }
    }

    func limits(_ limits: [Limit], _ caller: QuotaCaller) -> [Limit] {
        var result = limits
        for scope in LimitScope.allCases {
            for kind in LimitKind.allCases {
                guard let override = self.overrides[self.key(scope, caller)]?[kind],
                    override.expiresAt.map({ $0 > self.wall }) ?? true
                else { continue }
                var found = false
                for index in result.indices where result[index].kind == kind && result[index].scope == scope {
                    result[index].quantity = override.quantity
                    found = true
                }
                if !found { result.append(Limit(kind, scope: scope, quantity: override.quantity)) }
            }
        }
        return result
    }

    func isBlocked(_ caller: QuotaCaller) -> Bool {
        LimitScope.allCases.contains { scope in
            guard let until = self.blocks[self.key(scope, caller)] else { return false }
            return until.map { $0 > self.wall } ?? true
        }
    }

    /// What the store should say: nil for blocked, else the states' usage, what would refuse, the seconds to wait (0
    /// passes, -1 any of 1 to 5) and the output.
    struct Answer: Equatable {
        var used: [Int]
        var exceeded: [Bool]
        var wait: Int
        var output: Int
    }

    mutating func admit(_ ask: QuotaAsk) -> Answer? {
        if let old = self.entries.first(where: { $0.ask.request == ask.request }) {
            let limits = self.limits(ask.limits, ask.caller)
            let used = limits.map { self.used($0, ask.caller, day: ask.calendar.day(at: self.wall)).0 }
            return Answer(used: used, exceeded: limits.map { _ in false }, wait: 0, output: old.output)
        }
        guard !self.isBlocked(ask.caller) else { return nil }
        let day = ask.calendar.day(at: self.wall)
        let limits = self.limits(ask.limits, ask.caller)
        var answer = Answer(used: [], exceeded: [], wait: 0, output: ask.outputCap)
        var longest: Int64 = 0
        for limit in limits {
            let (used, stamps) = self.used(limit, ask.caller, day: day)
            var wait: Int64 = 0
            switch limit.kind {
            case .requestsPerMinute:
                if limit.quantity == 0 { wait = 60_000_000_000 }
                if limit.quantity > 0, used >= limit.quantity {
                    wait = stamps[used - limit.quantity] + 60_000_000_000 - self.now
                }
            case .tokensPerDay:
                let left = limit.quantity - used
                if left < max(1, ask.promptEstimate + min(16, ask.outputCap)) {
                    wait = (day.endsAt * 1_000_000 - self.wall.microseconds) * 1000
                } else if !limit.observe {
                    answer.output = min(answer.output, left - ask.promptEstimate)
                }
            case .concurrentRequests: if used >= limit.quantity { wait = 1 }
            }
            answer.used.append(used)
            answer.exceeded.append(wait > 0)
            if !limit.observe { longest = max(longest, wait) }
        }
        if longest > 0 {
            answer.wait = longest == 1 ? -1 : Int((longest + 999_999_999) / 1_000_000_000)
            return answer
        }
        let counted = zip(limits, answer.exceeded).filter { !$0.1 }.map { Cell(kind: $0.0.kind, scope: $0.0.scope) }
        self.entries.append(
            Entry(
                ask: ask, admittedAt: self.now, day: day, output: answer.output, cells: Set(counted),
                leaseEnds: self.now + 30_000_000_000))
        answer.used = limits.map { self.used($0, ask.caller, day: day).0 }
        return answer
    }

    mutating func settle(_ request: RequestID, _ charge: Int?) -> SettlementResult {
        guard let index = self.entries.firstIndex(where: { $0.ask.request == request }) else { return .unknown }
        guard self.entries[index].charged == nil else { return .repeated }
        let entry = self.entries[index]
        self.entries[index].charged = charge ?? (entry.ask.promptEstimate + entry.output)
        self.entries[index].endedAt = self.now
        self.resetsAtCharge[index] = self.resets.count
        return .settled
    }

    mutating func renew(_ request: RequestID) -> Bool {
        guard let index = self.entries.firstIndex(where: { $0.ask.request == request }), self.holds(self.entries[index])
        else { return false }
        self.entries[index].leaseEnds = self.now + 30_000_000_000
        return true
    }
}
