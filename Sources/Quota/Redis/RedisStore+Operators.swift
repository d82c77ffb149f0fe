package import GatewayTypes
import RedisClient

extension RedisStore {
    package func apply(
        _ change: OperatorChange, to key: CounterKey, by order: OperatorOrder
    ) async throws(QuotaFailure) -> ChangeResult {
        let code: Int
        var quantity = 0
        switch change {
        case .override(_, let override): (code, quantity) = (0, QuotaAsk.bounded(override.quantity))
        case .clearOverride: code = 1
        case .block: code = 2
        case .unblock: code = 3
        case .reset: code = 4
        }
        var numbers = ScriptNumbers(capacity: 8)
        numbers.add(order.expectedVersion ?? -1)
        numbers.add(code)
        numbers.add(change.kind.map { ScriptCode.kind($0) } ?? -1)
        numbers.add(quantity)
        numbers.add(change.expiresAt)
        let answer = try await self.steer(key, numbers, change.action, order, request: nil)
        if answer.isConflict { return .conflict(current: answer.version) }
        return answer.changes ? .applied(version: answer.version) : .unchanged(version: answer.version)
    }

    package func dropLeases(
        of key: CounterKey, request: RequestID?, by order: OperatorOrder
    ) async throws(QuotaFailure) -> LeaseDrop {
        var numbers = ScriptNumbers(capacity: 8)
        for number in [order.expectedVersion ?? -1, 5, ScriptCode.kind(.concurrentRequests), 0, 0] {
            numbers.add(number)
        }
        let answer = try await self.steer(key, numbers, .dropLeases, order, request: request)
        return answer.isConflict
            ? .conflict(current: answer.version) : .dropped(count: answer.dropped, version: answer.version)
    }

    private func steer(
        _ key: CounterKey, _ begun: ScriptNumbers, _ action: AuditEntry.Action, _ order: OperatorOrder,
        request: RequestID?
    ) async throws(QuotaFailure) -> (isConflict: Bool, version: Int, dropped: Int, changes: Bool) {
        var numbers = begun
        numbers.add(Audit.mostEntries)
        numbers.add(Audit.mostEntriesOfHolder)
        numbers.add(Audit.memory.inMilliseconds)
        let arguments = [
            numbers.text(), ByteString(action.rawValue), order.actor, order.reason, ByteString(key.scope.rawValue),
            key.id, request.map { Self.text($0) } ?? ByteString(""), ChangeFeed.channel,
            ByteString(String(decoding: QuotaKey.encoded(key.tenant.bytes), as: UTF8.self)),
        ]
        // Void before and after, whether or not the answer comes: a change that was written is never missed here.
        defer { self.feed.changed() }
        let values = try await self.run(.steer) {
            let tag = self.tag(of: key.tenant)
            let id = QuotaKey.encoded(key.id)
            var keys = RedisWords()
            for kind in [QuotaKey.Kind.steering, .counters, .minute, .leases] {
                tag.append(kind, key.scope, id, to: &keys)
            }
            tag.appendTrail(to: &keys)
            tag.append(.trail, key.scope, id, to: &keys)
            return ScriptInput(keys: keys, tag: tag.tag, arguments: RedisWords(arguments))
        }
        guard var answer = ScriptAnswer(values), let verdict = answer.integer(), let version = answer.integer() else {
            throw .malformedAnswer
        }
        return (verdict != 0, version, answer.integer() ?? 0, answer.integer() == 1)
    }

    package func steering(of key: CounterKey) async throws(QuotaFailure) -> VersionedSteering {
        let values = try await self.run(.steering) { self.input(.steering, of: key) }
        guard var answer = ScriptAnswer(values), let version = answer.integer() else { throw .malformedAnswer }
        var steering = Steering()
        for kind in [LimitKind.requestsPerMinute, .tokensPerDay, .concurrentRequests] {
            guard let quantity = answer.integer(), let end = answer.instant() else { throw .malformedAnswer }
            if quantity >= 0 { steering[kind] = LimitOverride(quantity: quantity, expiresAt: end) }
        }
        guard let block = answer.integer() else { throw .malformedAnswer }
        if block == 0 { steering.block = .untilLifted }
        if block > 0 { steering.block = .until(WallTime(microseconds: Int64(block))) }
        return VersionedSteering(steering: steering, version: version)
    }

    /// Of a script about one key of a holder.
    private func input(_ kind: QuotaKey.Kind, of key: CounterKey, _ arguments: [ByteString] = []) -> ScriptInput {
        let tag = self.tag(of: key.tenant)
        var keys = RedisWords()
        tag.append(kind, key.scope, QuotaKey.encoded(key.id), to: &keys)
        return ScriptInput(keys: keys, tag: tag.tag, arguments: RedisWords(arguments))
    }

    package func leases(of key: CounterKey) async throws(QuotaFailure) -> [LeaseRecord] {
        let values = try await self.run(.leases) { self.input(.leases, of: key) }
        guard var answer = ScriptAnswer(values) else { throw .malformedAnswer }
        var leases: [LeaseRecord] = []
        while !answer.isAtEnd {
            guard let request = answer.text().flatMap({ RequestID(hexadecimal: $0) }), let age = answer.integer(),
                let left = answer.integer()
            else { throw .malformedAnswer }
            leases.append(
                LeaseRecord(
                    request: request, ageSeconds: age, expiresInSeconds: max(0, (left &+ 999_999) / 1_000_000)))
        }
        return leases.sorted { $0.ageSeconds > $1.ageSeconds }
    }

    package func audit(_ question: AuditQuestion) async throws(QuotaFailure) -> AuditPage {
        var numbers = ScriptNumbers(capacity: 2)
        // One more than asked for tells whether there are older ones.
        numbers.add(question.limit &+ 1)
        numbers.add(Audit.memory.inMilliseconds)
        let arguments = [numbers.text(), ByteString(question.before.map { "(\($0)" } ?? "+")]
        let values = try await self.run(.audit) {
            guard case .holder(let key) = question.subject else {
                let tag = self.tag(of: question.tenant)
                var keys = RedisWords()
                tag.appendTrail(to: &keys)
                return ScriptInput(keys: keys, tag: tag.tag, arguments: RedisWords(arguments))
            }
            return self.input(.trail, of: key, arguments)
        }
        guard var answer = ScriptAnswer(values) else { throw .malformedAnswer }
        var entries: [AuditEntry] = []
        while !answer.isAtEnd {
            guard let entry = AuditEntry(of: question.tenant, &answer) else { throw .malformedAnswer }
            entries.append(entry)
        }
        let hasMore = entries.count > question.limit
        if hasMore { entries.removeLast() }
        return AuditPage(entries: entries, next: hasMore ? entries.last?.cursor : nil)
    }
}

extension AuditEntry {
    /// As `audit.lua` tells it: id, numbers, action, actor, reason, scope and id of the holder, object, state before.
    fileprivate init?(of tenant: TenantID, _ answer: inout ScriptAnswer) {
        guard let cursor = answer.text().flatMap({ AuditCursor($0) }), let numbers = answer.text(),
            let action = answer.text().flatMap({ Action(rawValue: $0.string) }), let actor = answer.text(),
            let reason = answer.text(), let scope = answer.text().flatMap({ LimitScope(rawValue: $0.string) }),
            let id = answer.text(), let object = answer.text(), let state = answer.text()
        else { return nil }
        let list = numbers.utf8.split(separator: 0x20).map { Int(Substring($0)) }
        guard list.count == 9, let at = list[0], let end = list[1], let version = list[2] else { return nil }
        func amounts(_ from: Int) -> KindAmounts {
            let known = list[from..<(from + 3)].map { number in number.flatMap { $0 < 0 ? nil : $0 } }
            return KindAmounts(requestsPerMinute: known[0], tokensPerDay: known[1], concurrentRequests: known[2])
        }
        self.init(
            cursor: cursor, at: WallTime(microseconds: Int64(at)), actor: actor, action: action,
            key: CounterKey(tenant: tenant, scope: scope, id: id), before: amounts(3), after: amounts(6),
            expiresAt: end == 0 ? nil : WallTime(microseconds: Int64(end)), reason: reason, version: version,
            object: object)
        self.stateBefore = Self.state(state)
    }

    /// `b` and a block as `steering.lua` tells it, or `p` and the name of a plan; empty where nothing was kept.
    private static func state(_ text: ByteString) -> State {
        let rest = ByteString(String(text.string.unicodeScalars.dropFirst()))
        switch text.utf8.first {
        case UInt8(ascii: "b"):
            guard let block = Int64(rest.string) else { return .untold }
            return .block(block < 0 ? .none : Steering.Block(until: block == 0 ? nil : WallTime(microseconds: block)))
        case UInt8(ascii: "p"): return .plan(rest.isEmpty ? nil : PlanName(rest))
        default: return .untold
        }
    }
}

extension RequestID {
    /// Reads the 32 digits that `append(to:)` writes.
    init?(hexadecimal text: ByteString) {
        let digits = Array(text.utf8)
        guard digits.count == 32 else { return nil }
        var words: [UInt64] = []
        for half in [digits[..<16], digits[16...]] {
            var word: UInt64 = 0
            for digit in half {
                switch digit {
                case 48...57: word = word << 4 | UInt64(digit &- 48)
                case 97...102: word = word << 4 | UInt64(digit &- 87)
                default: return nil
                }
            }
            words.append(word)
        }
        self.init(high: words[0], low: words[1])
    }
}
