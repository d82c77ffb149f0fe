package import GatewayTypes
import RedisClient

/// Orders and hand-overs.
extension RedisStore {
    package func order(
        _ order: StandingOrder, in tenant: TenantID, by operator: OperatorOrder
    ) async throws(QuotaFailure) -> OrderResult {
        let key = order.key(in: tenant)
        let arguments = Self.arguments(of: order, key: key, by: `operator`)
        defer { self.feed.changed() }
        let values = try await self.run(.revise) {
            let tag = self.tag(of: tenant)
            var keys = RedisWords()
            tag.append(.operators, to: &keys)
            tag.appendTrail(to: &keys)
            if key.scope == .tenant {
                tag.appendTrail(to: &keys)
            } else {
                tag.append(.trail, key.scope, QuotaKey.encoded(key.id), to: &keys)
            }
            return ScriptInput(keys: keys, tag: tag.tag, arguments: RedisWords(arguments))
        }
        guard var answer = ScriptAnswer(values), let verdict = answer.integer() else { throw .malformedAnswer }
        switch verdict {
        case 0:
            guard let order = StandingOrder(&answer) else { throw .malformedAnswer }
            return .applied(order)
        case 1: return .full
        case 2: return .unknown
        default: throw .malformedAnswer
        }
    }

    private static func arguments(
        of order: StandingOrder, key: CounterKey, by operator: OperatorOrder
    ) -> [ByteString] {
        var numbers = ScriptNumbers(capacity: 8)
        numbers.add(order.isLifted ? 1 : 0)
        numbers.add(order.expiresAt)
        numbers.add(order.issuedBefore)
        numbers.add(StandingOrder.mostOfOperators)
        numbers.add(StandingOrder.afterlife.nanoseconds / 1000)
        numbers.add(Audit.mostEntries)
        numbers.add(Audit.mostEntriesOfHolder)
        numbers.add(Audit.memory.inMilliseconds)
        return [
            numbers.text(), order.field, order.plan?.bytes ?? "", ByteString(order.action.rawValue), `operator`.actor,
            `operator`.reason, ByteString(key.scope.rawValue), key.id, order.object, ChangeFeed.channel,
            ByteString(String(decoding: QuotaKey.encoded(key.tenant.bytes), as: UTF8.self)),
            key.scope == .tenant ? "0" : "1",
        ]
    }

    package func orders(
        _ book: OrderBook, of tenant: TenantID, since version: Int
    ) async throws(QuotaFailure) -> [StandingOrder] {
        var numbers = ScriptNumbers(capacity: 2)
        numbers.add(max(0, version))
        numbers.add(StandingOrder.mostOnPage)
        let arguments = [numbers.text()]
        let values = try await self.run(.orders) {
            let tag = self.tag(of: tenant)
            var keys = RedisWords()
            tag.append(book, withEnds: false, to: &keys)
            return ScriptInput(keys: keys, tag: tag.tag, arguments: RedisWords(arguments))
        }
        guard var answer = ScriptAnswer(values) else { throw .malformedAnswer }
        var orders: [StandingOrder] = []
        while !answer.isAtEnd {
            guard let order = StandingOrder(&answer) else { throw .malformedAnswer }
            orders.append(order)
        }
        return orders
    }

    package func handOver(_ handOver: HandOver) async throws(QuotaFailure) -> HandOverResult {
        defer { self.feed.changed() }
        let values = try await self.run(.handOver) {
            let tag = self.tag(of: handOver.tenant)
            let arguments = RedisWords(self.arguments(of: handOver))
            return ScriptInput(keys: Self.keys(of: handOver, tag), tag: tag.tag, arguments: arguments)
        }
        guard var answer = ScriptAnswer(values), let verdict = answer.integer() else { throw .malformedAnswer }
        switch (verdict, answer.integer()) {
        case (0, let tokens?): return .charged(tokens)
        case (1, let tokens?): return .repeated(tokens)
        case (2, _): return .taken
        case (3, _): return .refused
        default: throw .malformedAnswer
        }
    }

    private static func keys(of handOver: HandOver, _ tag: QuotaKey) -> RedisWords {
        let guest = QuotaKey.encoded(handOver.guest.bytes)
        var keys = RedisWords()
        tag.append(.handedOver, .subject, guest, to: &keys)
        tag.append(.counters, .subject, guest, to: &keys)
        tag.append(.counters, .subject, QuotaKey.encoded(handOver.account.bytes), to: &keys)
        tag.append(.guests, to: &keys)
        return keys
    }

    private func arguments(of handOver: HandOver) -> [ByteString] {
        let today = handOver.calendar.day(at: self.wallTime)
        let yesterday = handOver.calendar.day(at: WallTime(seconds: today.startsAt &- 1))
        let tomorrow = handOver.calendar.day(after: today)
        var numbers = ScriptNumbers(capacity: 10)
        for day in [yesterday, today, tomorrow] { numbers.add(day.number) }
        numbers.add(yesterday.startsAt)
        for day in [yesterday, today, tomorrow] { numbers.add(day.endsAt) }
        numbers.add(handOver.forgetAt)
        numbers.add(StandingOrder.mostOfGuests)
        numbers.add(handOver.onlyRepeats ? 1 : 0)
        return [
            numbers.text(), handOver.token, handOver.account.bytes, StandingOrder(.guest(handOver.guest)).field,
            ChangeFeed.channel,
            ByteString(String(decoding: QuotaKey.encoded(handOver.tenant.bytes), as: UTF8.self)),
        ]
    }
}

extension StandingOrder {
    /// Its name in a book: a letter and what it is about.
    fileprivate var field: ByteString {
        switch self.target {
        case .token(let id): ByteString("j" + id.string)
        case .session(let id): ByteString("s" + id.string)
        case .subject(let subject): ByteString("u" + subject.string)
        case .plan(let subject): ByteString("p" + subject.string)
        case .guest(let subject): ByteString("g" + subject.string)
        }
    }

    private static func target(of field: ByteString) -> Target? {
        let id = ByteString(String(field.string.unicodeScalars.dropFirst()))
        return switch field.utf8.first {
        case 0x6A: .token(id)
        case 0x73: .session(id)
        case 0x75: .subject(SubjectID(id))
        case 0x70: .plan(SubjectID(id))
        case 0x67: .guest(SubjectID(id))
        default: nil
        }
    }

    /// As `orders.lua` tells it.
    fileprivate init?(_ answer: inout ScriptAnswer) {
        guard let target = answer.text().flatMap(Self.target), let version = answer.integer(),
            let end = answer.instant(), let before = answer.instant(), let at = answer.integer(),
            let plan = answer.text(), let actor = answer.text(), let reason = answer.text(),
            let lifted = answer.integer()
        else { return nil }
        self.init(
            target, issuedBefore: before, plan: plan.isEmpty ? nil : PlanName(plan), expiresAt: end,
            at: WallTime(microseconds: Int64(at)), actor: actor, reason: reason, version: version,
            isLifted: lifted != 0)
    }
}
