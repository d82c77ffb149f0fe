import GatewayTypes
import RedisClient

/// What is said to the scripts, and what their answers mean.
extension RedisStore {
    /// What `limits.lua` and `admit.lua` are told, written in one piece of memory.
    static func arguments(of ask: QuotaAsk, at wall: WallTime) -> RedisWords {
        let today = ask.calendar.day(at: wall)
        let yesterday = ask.calendar.day(at: WallTime(seconds: today.startsAt &- 1))
        let tomorrow = ask.calendar.day(after: today)
        let count = 11 &+ 2 &* ask.limits.count
        var words = RedisWords(capacity: 8 &* count &+ 64)
        words.append(length: 8 &* count) { bytes in
            PackedNumbers.append(ask.promptEstimate, to: &bytes)
            PackedNumbers.append(ask.outputCap, to: &bytes)
            PackedNumbers.append(ask.leastTokens, to: &bytes)
            PackedNumbers.append(Int(ask.request.low % 5), to: &bytes)
            PackedNumbers.append(yesterday.number, to: &bytes)
            PackedNumbers.append(today.number, to: &bytes)
            PackedNumbers.append(tomorrow.number, to: &bytes)
            PackedNumbers.append(Int(yesterday.startsAt), to: &bytes)
            PackedNumbers.append(Int(yesterday.endsAt), to: &bytes)
            PackedNumbers.append(Int(today.endsAt), to: &bytes)
            PackedNumbers.append(Int(tomorrow.endsAt), to: &bytes)
            for limit in ask.limits {
                PackedNumbers.append(ScriptCode.limit(limit), to: &bytes)
                PackedNumbers.append(QuotaAsk.bounded(limit.quantity), to: &bytes)
            }
        }
        words.append(length: RequestID.textLength) { ask.request.append(to: &$0) }
        return words
    }

    static func arguments(of settlement: Settlement) -> RedisWords {
        var (charge, cost, epoch) = (-1, settlement.chargedTokens, -1)
        switch settlement.charge {
        case .tokens(let count): charge = QuotaAsk.bounded(count)
        case .asReserved: break
        case .correction(let tokens, let itsEpoch): (charge, cost, epoch) = (0, tokens, itsEpoch)
        }
        var scopes = 0
        for limit in settlement.limits where limit.kind == .tokensPerDay {
            scopes |= 1 << ScriptCode.scope(limit.scope)
        }
        var words = RedisWords(capacity: 8 &* 7 &+ 64)
        words.append(length: 8 &* 7) { bytes in
            PackedNumbers.append(charge, to: &bytes)
            PackedNumbers.append(settlement.chargesUnrecorded ? 1 : 0, to: &bytes)
            PackedNumbers.append(cost, to: &bytes)
            PackedNumbers.append(scopes, to: &bytes)
            PackedNumbers.append(settlement.day.number, to: &bytes)
            PackedNumbers.append(Int(settlement.day.endsAt), to: &bytes)
            PackedNumbers.append(epoch, to: &bytes)
        }
        words.append(length: RequestID.textLength) { settlement.request.append(to: &$0) }
        return words
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
                let certain = answer.integer(),
                let states = Self.states(ask.limits, isSteered: isSteered != 0, &answer),
                states.indices.contains(place &- 1),
                (0...Self.longestWait).contains(wait), certain <= wait
            else { throw .malformedAnswer }
            return .refused(
                Refusal(
                    failing: states[place &- 1], retryAfterSeconds: max(1, (wait &+ 999_999) / 1_000_000),
                    states: states, certainFor: certain > 0 ? .microseconds(Int64(certain)) : nil))
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

    /// What became of a settlement, and what is to be settled besides: the reservation of a guest's ask had been handed
    /// over to an account meanwhile.
    static func settled(
        _ settlement: Settlement, _ values: [ScriptValue]
    ) -> Result<(result: SettlementResult, rest: Settlement?), QuotaFailure> {
        guard var answer = ScriptAnswer(values) else { return .failure(.malformedAnswer) }
        let result: SettlementResult
        switch answer.integer() {
        case 0: result = .settled
        case 1: result = .repeated
        case 2: result = .unknown
        default: return .failure(.malformedAnswer)
        }
        guard !answer.isAtEnd else { return .success((result, nil)) }
        guard let account = answer.text(), let tokens = answer.integer(), let epoch = answer.integer(),
            let number = answer.integer(), let end = answer.integer()
        else { return .failure(.malformedAnswer) }
        let rest = Settlement(
            caller: QuotaCaller(tenant: settlement.caller.tenant, subject: SubjectID(account)),
            request: settlement.request.ofCorrection, limits: [Limit(.tokensPerDay, scope: .subject, quantity: 0)],
            day: LocalDay(number: number, startsAt: 0, endsAt: Int64(end)), reservedTokens: 0,
            charge: .correction(tokens, epoch: epoch), chargesUnrecorded: true)
        return .success((result, rest))
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

extension RequestID {
    /// Always the same for one ask, so that its account is corrected once.
    fileprivate var ofCorrection: RequestID {
        RequestID(high: self.high ^ 0x6861_6E64_6564_206F, low: self.low ^ 0x7665_7220_746F_2061)
    }
}
