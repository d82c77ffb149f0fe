import GatewayTypes

/// What users are told, in their language: short, polite, what happened and what helps, nothing of the inside.
enum ErrorMessages {
    /// The sentence for a failure that is no limit, or whose limit is not known.
    static func message(for code: ErrorCode, in language: Language) -> String {
        switch language {
        case .english: self.english(code)
        case .persian: self.persian(code)
        case .russian: self.russian(code)
        case .korean: self.korean(code)
        }
    }

    /// The sentence for a limit that refused an ask: which one, and when to come back.
    ///
    /// - Parameter waitSeconds: at least 1.
    static func message(for limit: Limit, waitSeconds: Int, in language: Language) -> String {
        // A plan that allows none has nothing to wait for.
        guard limit.quantity > 0 else { return self.message(for: .taskNotInPlan, in: language) }
        let wait = Wait(seconds: waitSeconds)
        return switch language {
        case .english: self.english(limit, wait)
        case .persian: self.persian(limit, wait)
        case .russian: self.russian(limit, wait)
        case .korean: self.korean(limit, wait)
        }
    }

    /// A time as people say it, never shorter than it is: seconds up to two minutes, minutes up to two hours.
    enum Wait: Equatable {
        case seconds(Int)
        case minutes(Int)
        case hours(Int)

        init(seconds: Int) {
            let seconds = max(seconds, 1)
            if seconds < 120 {
                self = .seconds(seconds)
            } else if seconds <= 7200 {
                self = .minutes(seconds / 60 + (seconds % 60 == 0 ? 0 : 1))
            } else {
                self = .hours(seconds / 3600 + (seconds % 3600 == 0 ? 0 : 1))
            }
        }
    }
}
