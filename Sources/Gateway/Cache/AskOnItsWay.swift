import Asking

/// What an ask waits for.
enum AskOnItsWay {
    /// A provider call of its own.
    case own(Ask)
    /// A call that others wait for too.
    case shared(Subscription)
    /// Nothing: the answer was kept, and has been handed on.
    indirect case kept(AskEnd)

    /// Waits for the end. To be called once.
    func end() async -> AskEnd {
        switch self {
        case .own(let ask): await ask.end()
        case .shared(let subscription): await subscription.end()
        case .kept(let end): end
        }
    }

    func cancel() {
        switch self {
        case .own(let ask): ask.cancel()
        case .shared(let subscription): subscription.cancel()
        case .kept: break
        }
    }

    func setPaused(_ paused: Bool) {
        switch self {
        case .own(let ask): ask.setPaused(paused)
        case .shared(let subscription): subscription.setPaused(paused)
        case .kept: break
        }
    }
}
