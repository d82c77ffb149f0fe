import Asking
import EventLoops
import GatewayTypes
import HTTPCodec
import HTTPServer

/// Gathers a question's answer and sends it over a hop in one piece, as `HopFrame` says. On the loop.
final class WholeAnswerSender: AnswerReceiver {
    private let question: Question
    private let wanted: HopForm
    private let context: AskContext
    private var text: [UInt8] = []
    private let heartbeat = LoopTimer()

    init(_ question: Question, _ wanted: HopForm, _ context: AskContext) {
        self.question = question
        self.wanted = wanted
        self.context = context
    }

    /// Sends it all, or throws when nothing was sent. To be called once.
    func run() async throws(AskFailure) {
        let (exchange, loop) = (self.context.exchange, self.context.loop.loop)
        self.context.read(self.question)
        guard let subscription = self.question.follow(from: 0, on: loop, receiver: self) else {
            throw AskFailure(.questionGone)
        }
        exchange.beginStream(200) { MessageWriter.field("content-type", HopFrame.contentType, to: &$0) }
        exchange.flush()
        exchange.onClientGone = { subscription.cancel() }
        exchange.onDeadline = { subscription.cancel() }
        self.heartbeat.action = { [unowned self] in self.beat() }
        loop.arm(self.heartbeat, after: self.context.snapshot.relay.heartbeat)
        let end = await subscription.end()
        loop.remove(self.heartbeat)
        guard !exchange.isClientGone else { return }
        let conclusion = self.question.conclusion ?? .failed(AskFailure(.internalError))
        let told = end.wasCancelled ? .failed(AskFailure(.draining)) : conclusion
        exchange.write { self.append(told, to: &$0) }
        exchange.endStream(isComplete: true)
    }

    private func append(_ conclusion: AnswerConclusion, to output: inout [UInt8]) {
        switch conclusion {
        case .failed(let failure): HopFrame.append(failure, to: &output)
        case .finished(let finish, let usage):
            var body: [UInt8] = []
            body.reserveCapacity(self.text.count &+ 400)
            self.wanted.form.appendWhole(
                WholeAnswer(
                    id: self.question.id, task: self.wanted.task, createdAt: self.question.startedAt, text: self.text,
                    finish: finish, usage: usage), to: &body)
            HopFrame.append(answer: body, to: &output)
        }
    }

    private func beat() {
        self.context.exchange.write { HopFrame.heartbeat(to: &$0) }
        self.context.exchange.flush()
        self.context.loop.loop.arm(self.heartbeat, after: self.context.snapshot.relay.heartbeat)
    }

    // MARK: From the question

    func answerStarted() {}
    func answerGrew(_ text: UnsafeBufferPointer<UInt8>) { self.text.append(contentsOf: text) }
    func answerPaused() {}
    func answerEnded(_ end: AskEnd) {}
}
