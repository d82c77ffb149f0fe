import GatewayTypes

/// What is said to the scripts, and what their answers mean.
extension RedisStore {
    static func numbers(of ask: QuotaAsk, at wall: WallTime) -> ByteString {
        let today = ask.calendar.day(at: wall)
        let yesterday = ask.calendar.day(at: WallTime(seconds: today.startsAt &- 1))
        let tomorrow = ask.calendar.day(after: today)
        var numbers = ScriptNumbers(capacity: 11 &+ 2 &* ask.limits.count)
        numbers.add(ask.promptEstimate)
        numbers.add(ask.outputCap)
        numbers.add(ask.leastTokens)
        numbers.add(Int(ask.request.low % 5))
        for day in [yesterday, today, tomorrow] { numbers.add(day.number) }
        numbers.add(yesterday.startsAt)
        for day in [yesterday, today, tomorrow] { numbers.add(day.endsAt) }
        for limit in ask.limits {
            numbers.add(ScriptCode.limit(limit))
            numbers.add(QuotaAsk.bounded(limit.quantity))
        }
        return numbers.text()
    }

    static func arguments(of settlement: Settlement) -> [ByteString] {
        var numbers = ScriptNumbers(capacity: 6)
        switch settlement.charge {
        case .tokens(let count): numbers.add(QuotaAsk.bounded(count))
        case .asReserved: numbers.add(-1)
        }
        numbers.add(settlement.chargesUnrecorded ? 1 : 0)
        numbers.add(settlement.chargedTokens)
        var scopes = 0
        for limit in settlement.limits where limit.kind == .tokensPerDay {
            scopes |= 1 << ScriptCode.scope(limit.scope)
        }
        numbers.add(scopes)
        numbers.add(settlement.day.number)
        numbers.add(settlement.day.endsAt)
        return [numbers.text(), Self.text(settlement.request)]
    }

    static func admission(of ask: QuotaAsk, _ values: [ScriptValue]) throws(QuotaFailure) -> Admission {
        guard var answer = ScriptAnswer(values), let verdict = answer.integer() else { throw .malformedAnswer }
        switch verdict {
        case 0:
            guard let isSteered = answer.integer(), let output = answer.integer(), let reserved = answer.integer(),
                let number = answer.integer(),
                let start = answer.integer(), let end = answer.integer(),
                let states = Self.states(ask.limits, isSteered: isSteered != 0, &answer)
            else { throw .malformedAnswer }
            let day = LocalDay(number: number, startsAt: Int64(start), endsAt: Int64(end))
            return .admitted(Grant(states: states, outputTokens: output, reservedTokens: reserved, day: day))
        case 1:
            guard let isSteered = answer.integer(), let place = answer.integer(), let wait = answer.integer(),
                let isCertain = answer.integer(),
                let states = Self.states(ask.limits, isSteered: isSteered != 0, &answer),
                states.indices.contains(place &- 1),
                (0...Self.longestWait).contains(wait)
            else { throw .malformedAnswer }
            return .refused(
                Refusal(
                    failing: states[place &- 1], retryAfterSeconds: max(1, (wait &+ 999_999) / 1_000_000),
                    states: states, certainFor: isCertain == 1 ? .microseconds(Int64(wait)) : nil))
        case 2: return .blocked
        default: throw .malformedAnswer
        }
    }

    static func standing(_ question: QuotaQuestion, _ values: [ScriptValue]) throws(QuotaFailure) -> Standing {
        guard var answer = ScriptAnswer(values), let blocked = answer.integer(), let isSteered = answer.integer(),
            let states = Self.states(question.limits, isSteered: isSteered != 0, &answer)
        else { throw .malformedAnswer }
        return Standing(states: states, isBlocked: blocked != 0)
    }

    static func settlementResult(_ values: [ScriptValue]) -> Result<SettlementResult, QuotaFailure> {
        guard var answer = ScriptAnswer(values) else { return .failure(.malformedAnswer) }
        switch answer.integer() {
        case 0: return .success(.settled)
        case 1: return .success(.repeated)
        case 2: return .success(.unknown)
        default: return .failure(.malformedAnswer)
        }
    }

    static func lives(_ values: [ScriptValue]) -> Result<Bool, QuotaFailure> {
        guard var answer = ScriptAnswer(values), let lives = answer.integer() else {
            return .failure(.malformedAnswer)
        }
        return .success(lives != 0)
    }

    /// A year, in microseconds: no wait is longer, and no sum with it overflows.
    private static let longestWait = 366 * 86_400 * 1_000_000

    /// The plan's limits come back in their order, those that only operators have set after them.
    /// - Parameter isSteered: code and quantity of each limit are told, since operators have set some.
    private static func states(
        _ limits: [Limit], isSteered: Bool, _ answer: inout ScriptAnswer
    ) -> [LimitState]? {
        var states: [LimitState] = []
        states.reserveCapacity(limits.count)
        while !answer.isAtEnd {
            var limit: Limit? = limits.indices.contains(states.count) ? limits[states.count] : nil
            if isSteered {
                guard let code = answer.integer(), let quantity = answer.integer(), let names = ScriptCode.names(code)
                else { return nil }
                if let limit, ScriptCode.limit(limit) != code { return nil }
                limit = limit ?? Limit(names.1, scope: names.0, quantity: quantity)
                limit?.quantity = quantity
            }
            guard let limit, let used = answer.integer(), let reset = answer.integer(), reset >= 0 else { return nil }
            states.append(
                LimitState(
                    limit: limit, remaining: max(0, limit.quantity &- max(0, used)), resetSeconds: reset / 2,
                    used: used, exceeded: reset % 2 == 1))
        }
        return states.count >= limits.count ? states : nil
    }
}
