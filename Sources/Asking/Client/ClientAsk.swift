import GatewayTypes

/// What an app wants to hear of one question.
struct AskingCallbacks: Sendable {
    var onStart: @Sendable (String?) -> Void
    var onAnswer: @Sendable (String, String?, String?, Bool) -> Void
    var onFinish: @Sendable (String) -> Void
    var onError: @Sendable (String, any Error) -> Void
}

/// Turns what the core tells of one ask into an app's callbacks. On the loop.
final class ClientAsk: AnswerReceiver {
    private let id: String
    private let callbacks: AskingCallbacks
    private let onEnd: () -> Void
    /// Bytes that no update has told yet.
    private var fresh: [UInt8] = []
    private var text = ""
    private var hasStarted = false
    var ask: Ask?

    init(id: String, callbacks: AskingCallbacks, onEnd: @escaping () -> Void) {
        self.id = id
        self.callbacks = callbacks
        self.onEnd = onEnd
    }

    func answerStarted() {
        self.hasStarted = true
        self.callbacks.onStart(self.id)
    }

    func answerGrew(_ text: UnsafeBufferPointer<UInt8>) { self.fresh.append(contentsOf: text) }

    func answerPaused() {
        guard let delta = self.take(self.fresh.count - UTF8Tail.length(of: self.fresh)) else { return }
        self.callbacks.onAnswer(self.id, delta, self.text, false)
    }

    func answerEnded(_ end: AskEnd) {
        let isWhole = end.failure == nil && !end.wasCancelled
        let delta = self.take(self.fresh.count)
        if isWhole {
            if !self.hasStarted { self.answerStarted() }
            self.callbacks.onAnswer(self.id, delta, self.text, true)
            self.callbacks.onFinish(self.id)
        } else {
            if let delta { self.callbacks.onAnswer(self.id, delta, self.text, false) }
            let failure = end.failure.map { AskingFailure($0) } ?? .cancelled
            self.callbacks.onError(self.id, end.wasCancelled ? .cancelled : failure)
        }
        self.onEnd()
        self.ask = nil
    }

    /// Moves so many fresh bytes to the text.
    private func take(_ count: Int) -> String? {
        guard count > 0 else { return nil }
        let delta = String(decoding: self.fresh.prefix(count), as: UTF8.self)
        self.fresh.removeFirst(count)
        self.text += delta
        return delta
    }
}

/// The start of a character at the end of a piece, whose rest is still to come.
enum UTF8Tail {
    /// Bytes at the end that begin a scalar and do not end it; 0 to 3.
    static func length(of bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return wanted > back ? back : 0
        }
        return 0
    }
}
