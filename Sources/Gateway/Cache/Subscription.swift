import Asking
import EventLoops
import GatewayTypes

/// One ask's place at a shared answer: hands its text on at the pace of its own client. On its loop, but for `tell`.
final class Subscription: @unchecked Sendable {
    // Unchecked: what changes is touched on `loop` only.
    private let shared: SharedAnswer
    private let serial: Int
    private let loop: EventLoop
    private var receiver: (any AnswerReceiver)?
    private var hasStarted = false
    private var isPaused = false
    private var isPulling = false
    private var result: AskEnd?
    private var waiter: UnsafeContinuation<AskEnd, Never>?

    init(_ shared: SharedAnswer, serial: Int, loop: EventLoop, receiver: any AnswerReceiver) {
        self.shared = shared
        self.serial = serial
        self.loop = loop
        self.receiver = receiver
    }

    /// Waits until the answer is over for this ask. To be called once.
    func end() async -> AskEnd {
        if let result = self.result { return result }
        return await withUnsafeContinuation { self.waiter = $0 }
    }

    /// Leaves; the others go on.
    func cancel() {
        guard self.result == nil else { return }
        switch self.shared.leave(self.serial) {
        case .nothing: self.finish(AskEnd(failure: nil, wasCancelled: true, finish: nil, usage: nil, attempts: 0))
        case .openCall:
            self.finish(
                AskEnd(failure: nil, wasCancelled: true, finish: nil, usage: nil, attempts: 1, hadOpenCall: true))
        case .call(let end): self.finish(end.ofLeaver)
        }
    }

    func setPaused(_ paused: Bool) {
        guard self.result == nil else { return }
        self.isPaused = paused
        if !paused { self.pull() }
    }

    /// There is more. From any loop.
    func tell(from loop: EventLoop) {
        if loop === self.loop { self.pull() } else { self.loop.submit { self.pull() } }
    }

    /// Hands on what has come, and the end behind it.
    func pull() {
        guard self.result == nil, !self.isPaused, !self.isPulling else { return }
        self.isPulling = true
        defer { self.isPulling = false }
        // More may come of one piece of news than is handed over at once; whoever reads may stop in between.
        while self.result == nil, !self.isPaused, let news = self.shared.news(for: self.serial) {
            if news.hasStarted, !self.hasStarted {
                self.hasStarted = true
                self.receiver?.answerStarted()
            }
            if !news.text.isEmpty {
                self.hand(news)
                self.receiver?.answerPaused()
            }
            guard let end = news.end else {
                if news.text.isEmpty { return }
                continue
            }
            guard self.result == nil else { return }
            _ = self.shared.leave(self.serial)
            return self.finish(end)
        }
    }

    private func hand(_ news: SharedAnswer.News) {
        news.text.withUnsafeBufferPointer { text in
            guard !news.ends.isEmpty else {
                self.receiver?.answerGrew(text)
                return
            }
            var start = 0
            for end in news.ends where end > start && end <= text.count {
                self.receiver?.answerGrew(UnsafeBufferPointer(rebasing: text[start..<end]))
                start = end
            }
        }
    }

    private func finish(_ end: AskEnd) {
        let receiver = self.receiver
        self.receiver = nil
        self.result = end
        receiver?.answerEnded(end)
        self.waiter?.resume(returning: end)
        self.waiter = nil
    }
}
