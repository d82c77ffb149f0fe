import EventLoops
import GatewayTypes
package import HTTPClient

/// One ask on its way. On its loop, all of it.
///
/// Events go to the receiver as they are decoded; `end()` waits for the last one.
package final class Ask: UpstreamReceiver, DecodedAnswer {
    private let loop: EventLoop
    private let deadlines: Provider.Deadlines
    private let streams: Bool
    private var receiver: (any AnswerReceiver)?
    private var machine = AskStateMachine()
    private var decoder: (any AnswerDecoder)?
    private var call: UpstreamCall?
    private var demo: DemoAnswer?
    private let timer = LoopTimer()
    private var hasFirstByte = false
    private var isPaused = false
    private var result: AskEnd?
    private var waiter: UnsafeContinuation<AskEnd, Never>?

    init(loop: EventLoop, deadlines: Provider.Deadlines, streams: Bool, receiver: any AnswerReceiver) {
        self.loop = loop
        self.deadlines = deadlines
        self.streams = streams
        self.receiver = receiver
    }

    // MARK: For the caller

    /// Waits until the ask is over. To be called once.
    package func end() async -> AskEnd {
        if let result = self.result { return result }
        return await withUnsafeContinuation { self.waiter = $0 }
    }

    /// Gives the ask up: the provider's call is closed now and the receiver gets its end, marked as cancelled.
    package func cancel() { self.finish(nil, cancelled: true) }

    /// Slows the provider while the reader of the answer is slow.
    package func setPaused(_ paused: Bool) {
        guard !self.machine.hasEnded else { return }
        self.isPaused = paused
        // A pause is the client's doing: it must not count as the provider's silence.
        if paused { self.loop.cancel(self.timer) } else { self.armTimer() }
        // Last, since going on may hand over what was held, and that pause again.
        self.call?.setPaused(paused)
        self.demo?.setPaused(paused)
    }

    // MARK: Start

    func start(_ endpoint: UpstreamEndpoint, body: [UInt8], decoder: any AnswerDecoder, client: UpstreamClient) {
        self.decoder = decoder
        self.timer.action = { [unowned self] in self.timedOut() }
        self.call = client.start(
            endpoint, body: body, expectsStream: self.streams, deadline: self.deadlines.total, receiver: self)
        guard self.call != nil else { return self.finish(.tooManyCalls) }
        self.armTimer()
    }

    func start(_ demo: DemoAnswer) {
        self.demo = demo
        demo.start(into: self)
    }

    private func armTimer() {
        guard self.streams, self.call != nil, !self.isPaused, !self.machine.hasEnded else { return }
        let span = self.hasFirstByte ? self.deadlines.idle : self.deadlines.firstByte
        self.loop.arm(self.timer, at: self.loop.turnTime + span)
    }

    private func timedOut() {
        // Silence after the finish reason is an end that the provider forgot to mark.
        if self.machine.isComplete { return self.finish(nil) }
        self.finish(self.hasFirstByte ? .idleTimeout : .firstByteTimeout)
    }

    // MARK: From the provider

    package func upstreamAnswered(_ head: UpstreamHead) {
        guard let decoder = self.decoder else { return }
        if let failure = decoder.receive(head: head) { self.finish(failure) }
    }

    package func upstreamReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !self.machine.hasEnded, let decoder = self.decoder else { return false }
        self.hasFirstByte = true
        self.armTimer()
        if let failure = decoder.receive(bytes, into: self) {
            self.finish(failure)
            return false
        }
        self.receiver?.answerPaused()
        return true
    }

    /// The embedded provider has no more words for now.
    func pausedWords() { self.receiver?.answerPaused() }

    package func upstreamEnded(_ failure: HTTPClientFailure?) {
        self.call = nil
        guard let decoder = self.decoder else { return }
        if let failure {
            // A connection that breaks after the finish reason took nothing from the answer.
            self.finish(self.machine.isComplete ? nil : ProviderFailure(failure))
        } else {
            self.finish(decoder.finish(into: self))
        }
    }

    func decodedText(_ text: UnsafeBufferPointer<UInt8>) {
        guard !text.isEmpty else { return }
        if self.machine.started() { self.receiver?.answerStarted() }
        let isBlank = { text.allSatisfy { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) } }
        if self.machine.text(bytes: text.count, isBlank: isBlank) { self.receiver?.answerGrew(text) }
    }

    func decodedUsage(_ usage: TokenUsage) { self.machine.reported(usage) }
    func decodedFinish(_ reason: FinishReason) { self.machine.finished(reason) }

    /// The answer is whole; the receiver need not wait for the provider to close its body.
    func decodedEnd() {
        self.tell(self.machine.end(nil, attempts: 1))
    }

    // MARK: End

    private func finish(_ failure: ProviderFailure?, cancelled: Bool = false) {
        self.loop.remove(self.timer)
        let call = self.call
        self.call = nil
        self.decoder = nil
        call?.cancel()
        self.demo?.cancel()
        self.demo = nil
        self.tell(self.machine.end(failure, cancelled: cancelled, attempts: 1))
    }

    private func tell(_ end: AskEnd?) {
        guard let end else { return }
        let receiver = self.receiver
        self.receiver = nil
        receiver?.answerEnded(end)
        self.result = end
        self.waiter?.resume(returning: end)
        self.waiter = nil
        self.linger()
    }

    /// Lets the provider close its body for a second, so that the connection can be used again.
    private func linger() {
        guard self.call != nil else { return }
        self.timer.action = { [unowned self] in self.finish(nil) }
        self.loop.arm(self.timer, after: .seconds(1))
    }
}

extension ProviderFailure {
    init(_ failure: HTTPClientFailure) {
        switch failure {
        case .unreachable: self = .unreachable
        case .connectTimeout: self = .connectTimeout
        case .timeout: self = .totalTimeout
        case .tls: self = .tls
        case .broken, .cancelled: self = .incomplete
        case .headTooLarge, .coding: self = .unusableAnswer
        case .unusable: self = .unusable
        }
    }
}
