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
            guard let output = answer.integer(), let reserved = answer.integer(), let number = answer.integer(),
                let start = answer.integer(), let end = answer.integer(),
                let states = Self.states(ask.limits, &answer)
            else { throw .malformedAnswer }
            let day = LocalDay(number: number, startsAt: Int64(start), endsAt: Int64(end))
            return .admitted(Grant(states: states, outputTokens: output, reservedTokens: reserved, day: day))
        case 1:
            guard let place = answer.integer(), let wait = answer.integer(), let isCertain = answer.integer(),
                let states = Self.states(ask.limits, &answer), states.indices.contains(place &- 1),
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
        guard var answer = ScriptAnswer(values), let blocked = answer.integer(),
            let states = Self.states(question.limits, &answer)
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
    private static func states(_ limits: [Limit], _ answer: inout ScriptAnswer) -> [LimitState]? {
        var states: [LimitState] = []
        states.reserveCapacity(limits.count)
        while !answer.isAtEnd {
            guard let code = answer.integer(), let quantity = answer.integer(), let used = answer.integer(),
                let reset = answer.integer(), let exceeded = answer.integer(), let names = ScriptCode.names(code)
            else { return nil }
            var limit: Limit
            if states.count < limits.count {
                limit = limits[states.count]
                guard ScriptCode.limit(limit) == code else { return nil }
                limit.quantity = quantity
            } else {
                limit = Limit(names.1, scope: names.0, quantity: quantity)
            }
            states.append(
                LimitState(
                    limit: limit, remaining: max(0, quantity &- max(0, used)), resetSeconds: reset, used: used,
                    exceeded: exceeded != 0))
        }
        return states.count >= limits.count ? states : nil
    }
}
