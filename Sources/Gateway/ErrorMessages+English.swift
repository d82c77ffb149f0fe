import GatewayTypes

extension ErrorMessages {
    static func english(_ code: ErrorCode) -> String {
        switch code {
        case .invalidRequest: "This request could not be understood. Please try again."
        case .unknownTask: "This feature is not available."
        case .textTooShort: "The text is too short. Please write a little more."
        case .modelNotSelectable: "The model cannot be chosen here. Please send the request without it."
        case .unauthenticated: "Please sign in again."
        case .taskNotInPlan: "Your plan does not include this feature."
        case .subjectBlocked: "Your access has been suspended. Please contact support."
        case .insufficientScope: "You do not have permission to do this."
        case .notFound: "This could not be found."
        case .methodNotAllowed: "This is not possible here."
        case .requestTimeout: "Sending took too long. Please check your connection and try again."
        case .unsupportedMediaType: "This kind of content is not supported."
        case .headersTooLarge: "The request is too large."
        case .textTooLong: "The text is too long. Please shorten it."
        case .bodyTooLarge: "The request is too large. Please shorten it."
        case .guestSessionClaimed: "This guest session belongs to another account already."
        case .questionCancelled: "This question was cancelled."
        case .questionGone: "This answer is no longer available. Please ask again."
        case .instanceUnreachable: "The answer cannot be reached at the moment. Please try again shortly."
        case .idempotencyInProgress: "This question is still being answered. Please wait a moment."
        case .idempotencyMismatch: "This request does not match the one before. Please send it again."
        case .idempotencyFinished: "This question has been answered already. Please ask again."
        case .tooManyFailedAuthentications:
            "Too many sign-in attempts came from your network. Please try again in a minute."
        case .requestsPerMinuteExceeded: "You have asked too many questions. Please try again in a minute."
        case .tokensPerDayExceeded: "Today's allowance is used up. Please come back tomorrow."
        case .concurrentRequestsExceeded: "Too many questions are running. Please wait until one has finished."
        case .providerFailed: "The AI service could not answer. Please try again later."
        case .providerEmptyAnswer: "The AI service gave no answer. Please try again."
        case .providerTimeout: "The AI service took too long to answer. Please try again."
        case .providerOverloaded: "The AI service is very busy. Please try again in a moment."
        case .quotaStoreUnavailable: "The service is briefly unavailable. Please try again in a moment."
        case .identityUnavailable: "Your account cannot be checked right now. Please try again in a moment."
        case .overloaded: "The service is very busy. Please try again in a moment."
        case .draining: "The service is restarting. Please try again in a moment."
        case .internalError: "Something went wrong on our side. Please try again."
        }
    }

    static func english(_ limit: Limit, _ wait: Wait) -> String {
        let time = self.english(wait)
        let count = limit.quantity
        return switch (limit.kind, limit.scope) {
        case (.requestsPerMinute, .subject):
            """
            You have reached your limit of \(count) \(count == 1 ? "question" : "questions") per minute. \
            Please try again in \(time).
            """
        case (.requestsPerMinute, .tenant):
            "Too many questions are being asked in this app right now. Please try again in \(time)."
        case (.requestsPerMinute, .address):
            "Too many questions came from your network in the last minute. Please try again in \(time)."
        case (.tokensPerDay, .subject): "You have used up today's allowance. It renews in \(time)."
        case (.tokensPerDay, .tenant): "This app has used up its allowance for today. It renews in \(time)."
        case (.tokensPerDay, .address): "Your network has used up its allowance for today. It renews in \(time)."
        case (.concurrentRequests, .subject):
            """
            You can have \(count) \(count == 1 ? "question" : "questions") running at a time. \
            Please wait until one has finished.
            """
        case (.concurrentRequests, .tenant):
            "Too many questions are running in this app right now. Please try again in \(time)."
        case (.concurrentRequests, .address):
            "Too many questions from your network are running right now. Please try again in \(time)."
        }
    }

    private static func english(_ wait: Wait) -> String {
        switch wait {
        case .seconds(let count): count == 1 ? "1 second" : "\(count) seconds"
        case .minutes(let count): count == 1 ? "1 minute" : "\(count) minutes"
        case .hours(let count): count == 1 ? "1 hour" : "\(count) hours"
        }
    }
}
