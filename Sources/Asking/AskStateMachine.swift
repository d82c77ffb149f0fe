import GatewayTypes

/// The life of an ask: events in, what to tell the receiver out. No clock, no socket.
///
/// waiting → answering → ended; waiting → ended. Nothing leaves `ended`, so there is one start at most and one end.
struct AskStateMachine {
    private enum State {
        case waiting
        case answering
        case ended
    }

    private var state = State.waiting
    private(set) var usage: TokenUsage?
    /// What earlier attempts reported.
    private(set) var spent: TokenUsage?
    private(set) var finish: FinishReason?
    /// Bytes of text handed on.
    private(set) var textBytes = 0
    private var hasWords = false

    var hasEnded: Bool { self.state == .ended }
    /// Whether the provider said that its answer is complete, by a finish reason.
    var isComplete: Bool { self.finish != nil }
    /// Whether text was handed on, so that no other attempt may follow.
    var hasText: Bool { self.textBytes > 0 }

    /// The answer has begun; true when the receiver is to be told.
    mutating func started() -> Bool {
        guard self.state == .waiting else { return false }
        self.state = .answering
        return true
    }

    /// Text came; true when it is to be handed on.
    ///
    /// - Parameter isBlank: asked until a piece holds more than white space.
    mutating func text(bytes: Int, isBlank: () -> Bool) -> Bool {
        guard self.state == .answering, bytes > 0 else { return false }
        self.textBytes += bytes
        if !self.hasWords { self.hasWords = !isBlank() }
        return true
    }

    mutating func reported(_ usage: TokenUsage) { if self.state != .ended { self.usage = usage } }

    mutating func finished(_ reason: FinishReason) { if self.state != .ended { self.finish = reason } }

    /// Whether an answer that ended now would be of no use: without a word, and nobody saying why it is withheld.
    var isEmpty: Bool { !self.hasWords && self.finish != .contentFilter && self.finish != .refusal }

    /// Another attempt begins; what the last one took is kept apart.
    mutating func attemptAgain() {
        guard self.state == .waiting else { return }
        if let usage = self.usage { self.spent = usage.adding(self.spent) }
        self.usage = nil
        self.finish = nil
    }

    /// The ask is over; the end to tell, or nil when it was told before.
    mutating func end(
        _ failure: ProviderFailure?, cancelled: Bool = false, attempts: Int, route: ProviderRoute? = nil,
        hadOpenCall: Bool = false
    ) -> AskEnd? {
        guard self.state != .ended else { return nil }
        self.state = .ended
        let isUseless = failure == nil && !cancelled && self.isEmpty
        return AskEnd(
            failure: isUseless ? .emptyAnswer : failure, wasCancelled: cancelled, finish: self.finish,
            usage: self.usage, spent: self.spent, attempts: attempts, route: route,
            hadOpenCall: hadOpenCall)
    }
}
