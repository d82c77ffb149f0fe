import EventLoops
import GatewayTypes
import Synchronization

/// One answer of an `AskingService`: runs it in a task beside the loop and brings its words there.
///
/// Words go to the loop one piece at a time, each once the reader is ready for it, so that a slow reader slows the
/// service. On its loop, but for what the task calls.
final class ServiceAnswer: LocalAnswer, @unchecked Sendable {
    // Unchecked: all but `isOpen` is touched on the loop's thread only.
    private let loop: EventLoop
    private let service: any AskingService
    private let question: AskingQuestion
    private let deadlines: Provider.Deadlines
    /// Whether the loop may be called: it lives until then.
    private let isOpen = Mutex(true)
    private weak var ask: Ask?
    private var task: Task<Void, Never>?
    private var isPaused = false
    private var hasText = false
    /// A service whose last words are taken and that waits for the reader.
    private var waiters: [UnsafeContinuation<Bool, Never>] = []
    private let timer = LoopTimer()
    private var end: MonotonicTime

    /// - Parameter deadline: for the whole answer.
    init(
        _ service: any AskingService, to request: AskRequest, deadlines: Provider.Deadlines, deadline: TimeSpan,
        loop: EventLoop
    ) {
        self.loop = loop
        self.service = service
        self.question = AskingQuestion(request)
        self.deadlines = deadlines
        self.end = loop.turnTime + deadline
    }

    func start(into ask: Ask) {
        self.ask = ask
        self.timer.action = { [weak self] in self?.timedOut() }
        self.watch()
        self.task = Task { await self.run() }
    }

    func setPaused(_ paused: Bool) {
        guard paused != self.isPaused else { return }
        self.isPaused = paused
        self.watch()
        if !paused { self.resumeAll(isOpen: true) }
    }

    func cancel() {
        self.ask = nil
        self.isOpen.withLock { $0 = false }
        self.task?.cancel()
        self.task = nil
        self.loop.remove(self.timer)
        self.resumeAll(isOpen: false)
    }

    private func resumeAll(isOpen: Bool) {
        let waiters = self.waiters
        self.waiters = []
        for waiter in waiters { waiter.resume(returning: isOpen) }
    }

    // MARK: Time

    /// Silence is measured while the service has the word, and never while the reader is behind.
    private func watch() {
        guard !self.isPaused else { return self.loop.cancel(self.timer) }
        let silence = self.hasText ? self.deadlines.idle : self.deadlines.firstByte
        self.loop.arm(self.timer, at: min(self.loop.turnTime + silence, self.end))
    }

    private func timedOut() {
        if self.loop.turnTime >= self.end { return self.fail(.totalTimeout) }
        self.fail(self.hasText ? .idleTimeout : .firstByteTimeout)
    }

    // MARK: In the task

    private func run() async {
        do {
            try await self.service.answer(self.question) { text in try await self.tell(text) }
            self.onLoop { $0.finish() }
        } catch {
            let failure = ProviderFailure(ofService: error)
            self.onLoop { $0.fail(failure) }
        }
    }

    private func tell(_ text: String) async throws {
        let isOpen = await withUnsafeContinuation { waiter in
            if !self.onLoop({ $0.deliver(text, waiter) }) { waiter.resume(returning: false) }
        }
        guard isOpen else { throw CancellationError() }
    }

    /// Calls on the loop; false when the answer is over.
    @discardableResult
    private func onLoop(_ body: @escaping @Sendable (ServiceAnswer) -> Void) -> Bool {
        // Under the lock, so that the loop is not gone meanwhile.
        self.isOpen.withLock { isOpen in
            if isOpen { self.loop.submit { body(self) } }
            return isOpen
        }
    }

    // MARK: On the loop

    private func deliver(_ text: String, _ waiter: UnsafeContinuation<Bool, Never>) {
        guard let ask = self.ask else { return waiter.resume(returning: false) }
        self.waiters.append(waiter)
        self.hasText = self.hasText || !text.isEmpty
        var text = text
        text.withUTF8 { ask.decodedText($0) }
        ask.pausedWords()
        // The reader may have cancelled or paused inside.
        guard self.ask != nil, !self.isPaused else { return }
        self.watch()
        self.resumeAll(isOpen: true)
    }

    private func finish() {
        guard let ask = self.ask else { return }
        ask.decodedFinish(.stop)
        ask.decodedEnd()
    }

    private func fail(_ failure: ProviderFailure) { self.ask?.fail(failure) }
}

extension ProviderFailure {
    /// What an error of a service means.
    fileprivate init(ofService error: any Error) {
        switch error as? AskingFailure {
        case .overloaded(let seconds)?: self = .overloaded(retryAfterSeconds: seconds)
        case .timedOut?: self = .totalTimeout
        case .emptyAnswer?: self = .emptyAnswer
        default: self = .serverError
        }
    }
}
