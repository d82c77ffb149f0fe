import Asking
import EventLoops
import GatewayTypes
import Quota
import Synchronization

/// One ask whose answer outlives its connection: every connection of its owner reads it from where it is.
///
/// While nobody reads, it goes on for its task's grace; after its end it is kept for as long as the task says. It is
/// settled once, by the request that began it.
final class Question: SharedAnswer, @unchecked Sendable {
    // Unchecked: `meter`, `timer`, `paidBytes` and `isAskEnded` are touched on `loop` only; `told` guards itself.

    /// Why its call was given up.
    enum Cancellation: Sendable {
        /// The owner said so, or nobody came back in time.
        case owner
        /// The process stops.
        case drain
    }

    private struct Told {
        var conclusion: AnswerConclusion?
        var cancellation: Cancellation?
    }

    let id: RequestID
    let owner: QuestionOwner
    let startedAt: WallTime
    let policy: ResumePolicy
    private let disconnect: DisconnectPolicy
    private let board: QuestionBoard
    private let timer = LoopTimer()
    private let told = Mutex(Told())
    /// Tokens of the text so far.
    private(set) var meter = TokenMeter()
    /// Bytes that the board has granted.
    private(set) var paidBytes: Int

    init(
        _ id: RequestID, of owner: QuestionOwner, startedAt: WallTime, policy: ResumePolicy,
        disconnect: DisconnectPolicy, board: QuestionBoard, loop: EventLoop, reporter: AttemptReporter?
    ) {
        self.id = id
        self.owner = owner
        self.startedAt = startedAt
        self.policy = policy
        self.disconnect = disconnect
        self.board = board
        self.paidBytes = QuestionBoard.leastBytes
        super.init(loop: loop, keepsPieces: true, reporter: reporter)
    }

    /// How it ended; nil while it runs.
    var conclusion: AnswerConclusion? { self.told.withLock { $0.conclusion } }

    /// Whether all of its text can be read.
    var isHeld: Bool { self.state.withLock { $0.isOpen } }

    var cancellation: Cancellation? { self.told.withLock { $0.cancellation } }

    /// Events so far, the end among them once there is one.
    var eventCount: Int {
        // In this order: behind the end no text comes.
        let ends = self.conclusion == nil ? 0 : 1
        return 1 &+ self.state.withLock { $0.pieces } &+ ends
    }

    // MARK: Readers

    /// A connection that reads on.
    ///
    /// - Parameter event: the first event that it wants.
    /// - Returns: nil when the text isn't held any more, or there are fewer events.
    func follow(from event: Int, on loop: EventLoop, receiver: any AnswerReceiver) -> Subscription? {
        let subscription = self.join(behind: max(0, event &- 1), on: loop, receiver: receiver)
        if subscription != nil { self.onLoop { if self.conclusion == nil { self.loop.cancel(self.timer) } } }
        return subscription
    }

    override func emptied() { self.onLoop { self.awaitReader() } }

    private func awaitReader() {
        guard self.isLonely else { return }
        self.timer.action = { [weak self] in self?.graceIsOver() }
        self.loop.arm(self.timer, after: self.policy.grace)
    }

    private func graceIsOver() {
        if self.isLonely, self.disconnect == .abort { self.cancel(.owner) }
    }

    private var isLonely: Bool { self.conclusion == nil && self.state.withLock { $0.members.isEmpty } }

    // MARK: Text

    override func answerGrew(_ text: UnsafeBufferPointer<UInt8>) {
        self.meter.add(Span(_unsafeElements: text))
        super.answerGrew(text)
    }

    override func mayHold(text: Int, pieces: Int) -> Bool {
        guard text <= self.policy.bytes else { return false }
        let needed = QuestionBoard.overhead &+ text &+ pieces &* 4
        guard needed > self.paidBytes else { return true }
        // Arrays grow by doubling, so what they may hold is counted, not what they do.
        let more = max(self.paidBytes, needed &- self.paidBytes)
        guard self.board.grow(self, by: more) else { return false }
        self.paidBytes &+= more
        return true
    }

    // MARK: The end

    /// Gives the call up. From any loop; what is over stays as it is.
    func cancel(_ cancellation: Cancellation) {
        self.told.withLock { told in
            if told.conclusion == nil, told.cancellation == nil { told.cancellation = cancellation }
        }
        self.onLoop { self.ask?.cancel() }
    }

    /// What comes behind the call's end waits for the settlement.
    override func callEnded(_ end: AskEnd) {}

    /// Tells every reader how it ended, once. On `loop`.
    func conclude(_ conclusion: AnswerConclusion) {
        let isFirst = self.told.withLock { told in
            guard told.conclusion == nil else { return false }
            told.conclusion = conclusion
            return true
        }
        guard isFirst else { return }
        let isHeld = self.state.withLock { $0.isOpen }
        self.loop.cancel(self.timer)
        if isHeld {
            self.paidBytes = self.board.keep(self, bytes: self.trim())
            self.timer.action = { [weak self] in self?.expire() }
            self.loop.arm(self.timer, after: self.policy.keep)
        } else {
            self.board.remove(self)
        }
        self.tell(AskEnd(failure: nil, wasCancelled: false, finish: nil, usage: nil, attempts: 0))
    }

    /// Gives back the room that the text did not need; what is held from here on, in bytes.
    private func trim() -> Int {
        self.state.withLock { state in
            state.text = Array(state.text[...])
            state.ends = Array(state.ends[...])
            return QuestionBoard.overhead &+ state.text.count &+ state.ends.count &* 4
        }
    }

    private func expire() {
        self.board.remove(self)
        self.forget()
    }

    /// Nobody can find it any more. From any loop.
    func forget() { self.onLoop { self.loop.remove(self.timer) } }
}

/// Whose a question is: nobody else is told that it exists.
struct QuestionOwner: Hashable, Sendable {
    let tenant: TenantID
    let subject: SubjectID
}

/// How an ask ended, as each of its readers is told.
enum AnswerConclusion: Sendable {
    case finished(FinishWord, TokenUsage)
    case failed(AskFailure)
}
