import Asking
import EventLoops
import GatewayTypes
import HTTPCodec
import HTTPServer
import Quota

/// Takes an answer from the asking core to the client: gathered for a JSON answer, event by event for a stream.
///
/// A stream's head goes out with the first text, so that a failure before it can still be an error with its own
/// status. While the model is silent, comments show the client that the connection lives. On the loop.
final class AnswerRelay: AnswerReceiver {
    private let context: AskContext
    private let exchange: Exchange
    private let form: WireForm
    /// Nil for an answer in one piece.
    private let stream: AnswerStream?
    private(set) var text: [UInt8] = []
    /// Tokens of the text so far, for answers whose provider reports none.
    private(set) var meter = TokenMeter()
    private(set) var hasBegun = false
    private var ask: AskOnItsWay?
    private var isPaused = false
    private var lastWrite = MonotonicTime(nanoseconds: 0)
    private let heartbeat = LoopTimer()
    /// Of the next event; nil where events have no numbers.
    private var number: Int?

    /// - Parameter number: of the first event that the client is to get, for answers that can be come back to.
    init(_ context: AskContext, form: WireForm, from number: Int? = nil) {
        self.number = number
        self.context = context
        self.exchange = context.exchange
        self.form = form
        self.stream = context.streams ? form.stream(context) : nil
    }

    /// Binds the ask to the client: its going away, its slowness and a drain's deadline.
    func attach(_ ask: AskOnItsWay, policy: DisconnectPolicy) {
        self.ask = ask
        self.exchange.onDrained = { [unowned self] in self.clientCaughtUp() }
        self.exchange.onDeadline = { [unowned self] in self.stop() }
        if policy == .abort { self.exchange.onClientGone = { [unowned self] in self.ask?.cancel() } }
        guard self.context.streams else { return }
        self.heartbeat.action = { [unowned self] in self.beat() }
        self.lastWrite = self.context.now()
        self.context.loop.loop.arm(self.heartbeat, after: self.context.snapshot.relay.heartbeat)
    }

    /// A drain's deadline has come: ends the ask, or the reading of another one's answer.
    private func stop() {
        if let question = self.context.question { question.cancel(.drain) } else { self.ask?.cancel() }
    }

    /// Waits until the client has had all of an answer that is read from a question, or has left. To be called once.
    func caughtUp() async {
        if let ask = self.ask { _ = await ask.end() }
    }

    /// Lets go of ask and exchange; nothing is relayed any more.
    func detach() {
        self.ask = nil
        self.exchange.onClientGone = nil
        self.exchange.onDrained = nil
        self.exchange.onDeadline = nil
        self.context.loop.loop.remove(self.heartbeat)
    }

    /// The owner cancels the ask.
    func cancel() {
        guard let ask = self.ask else { return }
        self.context.isCancelled = true
        ask.cancel()
    }

    // MARK: From the core

    func answerStarted() {
        self.context.firstTextAt = self.context.now()
        if self.context.streams { self.begin() }
    }

    func answerGrew(_ text: UnsafeBufferPointer<UInt8>) {
        let span = Span(_unsafeElements: text)
        self.meter.add(span)
        guard let stream = self.stream else { return self.text.append(contentsOf: text) }
        self.exchange.write {
            self.appendNumber(to: &$0)
            stream.appendAnswer(delta: span, to: &$0)
        }
    }

    func answerPaused() {
        guard self.hasBegun else { return }
        self.exchange.flushSoon()
        self.lastWrite = self.context.loop.loop.turnTime
        guard !self.isPaused, self.exchange.pendingBytes > self.context.snapshot.relay.pauseAboveBytes else { return }
        // The client may take all of it at once, and is then not heard of again.
        self.exchange.flush()
        guard self.exchange.pendingBytes > self.context.snapshot.relay.pauseAboveBytes else { return }
        self.isPaused = true
        self.ask?.setPaused(true)
    }

    func answerEnded(_ end: AskEnd) {
        // The end of an answer that is kept comes after that of its call.
        if self.context.providerDoneAt == nil { self.context.providerDoneAt = self.context.now() }
    }

    func attemptEnded(_ attempt: AskAttempt) { self.context.reporter.measure(attempt) }

    func breakerChanged(of provider: ProviderName, to state: BreakerState, after failure: ProviderFailure?) {
        self.context.reporter.breakerChanged(of: provider, to: state, after: failure)
    }

    func keySetAside(_ key: KeySetAside) { self.context.reporter.keySetAside(key) }

    // MARK: To the client

    private func appendNumber(to output: inout [UInt8]) {
        guard let number = self.number else { return }
        self.stream?.appendNumber(number, to: &output)
        self.number = number &+ 1
    }

    /// Sends the head of the stream at once, for a client that comes back.
    func beginNow() {
        self.begin()
        self.exchange.flush()
    }

    /// Sends the head of the stream and its `start` event, once.
    private func begin() {
        guard !self.hasBegun else { return }
        self.hasBegun = true
        self.context.status = 200
        self.exchange.beginStream(200) { head in
            MessageWriter.field("content-type", "text/event-stream; charset=utf-8", to: &head)
            MessageWriter.field("x-accel-buffering", "no", to: &head)
            self.context.appendFields(to: &head)
            LimitHeaders.append(self.context.states, to: &head)
        }
        guard self.number ?? 0 == 0 else { return }
        self.exchange.write {
            self.appendNumber(to: &$0)
            self.stream?.appendStart(to: &$0)
        }
    }

    private func beat() {
        let silence = self.context.now() - self.lastWrite
        let limit = self.context.snapshot.relay.heartbeat
        if silence >= limit {
            self.begin()
            // A client that is behind with reading needs no sign of life.
            if self.exchange.pendingBytes == 0 { self.exchange.write { EventWriter.heartbeat(to: &$0) } }
            self.exchange.flush()
            self.lastWrite = self.context.now()
        }
        self.context.loop.loop.arm(self.heartbeat, at: self.lastWrite + limit)
    }

    private func clientCaughtUp() {
        guard self.isPaused else { return }
        self.isPaused = false
        self.ask?.setPaused(false)
    }

    /// Ends a stream whose answer is whole.
    func finish(_ finish: FinishWord, usage: TokenUsage) {
        self.begin()
        self.exchange.write {
            self.appendNumber(to: &$0)
            self.stream?.appendFinish(finish, usage: usage, to: &$0)
        }
        self.exchange.endStream(isComplete: true)
    }

    /// Sends an answer that is whole and was asked for in one piece.
    func respond(_ finish: FinishWord, usage: TokenUsage) {
        guard let task = self.context.task?.task else { return }
        self.context.status = 200
        var body: [UInt8] = []
        body.reserveCapacity(self.text.count + 400)
        let answer = WholeAnswer(
            id: self.context.questionID, task: task, createdAt: self.context.askedAt, text: self.text, finish: finish,
            usage: usage)
        self.form.appendWhole(answer, to: &body)
        self.exchange.respond(200, body: body) { head in
            MessageWriter.field("content-type", "application/json", to: &head)
            self.context.appendFields(to: &head)
            LimitHeaders.append(self.context.states, to: &head)
        }
    }

    /// Ends a stream that broke: the client sees an error event and a body without its end.
    ///
    /// - Parameter isLast: no event of the question follows; else the client may come back for more.
    func fail(_ answer: ErrorAnswer, language: Language, isLast: Bool = true) {
        let id = self.context.questionID
        self.exchange.write {
            if isLast { self.appendNumber(to: &$0) }
            answer.appendEvent(to: &$0, format: self.context.format, language: language, questionID: id)
        }
        self.exchange.endStream(isComplete: false)
    }
}
