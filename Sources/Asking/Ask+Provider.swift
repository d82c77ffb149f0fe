import EventLoops
import GatewayTypes
package import HTTPClient

extension Ask: UpstreamReceiver, DecodedAnswer {
    /// Makes a call over the network; false when there is no place for it.
    ///
    /// - Parameter start: tells nothing of the call before it has returned.
    func begin(_ decoder: any AnswerDecoder, _ start: () -> (any UpstreamCall)?) -> Bool {
        guard let call = start() else { return false }
        self.decoder = decoder
        self.call = call
        self.began()
        if self.isPaused { call.setPaused(true) }
        self.armTimer()
        return true
    }

    /// Somebody in this process answers.
    func begin(_ local: any LocalAnswer) -> Bool {
        self.local = local
        self.began()
        local.start(into: self)
        if self.isPaused { local.setPaused(true) }
        return true
    }

    // MARK: Time

    func armTimer() {
        guard self.streams, self.call != nil, !self.isPaused, !self.machine.hasEnded, let attempt = self.attempt else {
            return
        }
        let deadlines = attempt.provider.deadlines
        let span = attempt.hasFirstByte ? deadlines.idle : deadlines.firstByte
        self.loop.arm(self.timer, at: self.loop.turnTime + span)
    }

    /// The timer's only meaning is the phase's.
    func timedOut() {
        switch self.phase {
        case .idle: self.proceed()
        case .queued(let waiter):
            self.attempt?.standing.gate?.abandon(waiter)
            self.phase = .idle
            self.goOn(behind: .queueTimeout)
        case .calling:
            if let refusal = self.refusal { return self.fail(refusal) }
            // Silence after the finish reason is an end that the provider forgot to mark.
            if self.machine.isComplete { return self.closeAndSucceed() }
            self.fail(self.attempt?.hasFirstByte == true ? .idleTimeout : .firstByteTimeout)
        case .lingering: self.release()
        case .over: break
        }
    }

    private func closeAndSucceed() {
        self.stopCall()
        self.succeed()
    }

    /// Lets the provider close its body for a second, so that the connection can be used again.
    func linger() {
        guard self.call != nil else { return self.release() }
        self.loop.arm(self.timer, at: self.loop.turnTime + .seconds(1))
    }

    /// Nothing is left to be done.
    private func release() {
        self.loop.remove(self.timer)
        self.stopCall()
        self.phase = .over
    }

    // MARK: From the provider

    package func upstreamAnswered(_ head: UpstreamHead) {
        guard let decoder = self.decoder else { return }
        if let failure = decoder.receive(head: head) { return self.fail(failure) }
        // The body says why, and that decides whether another route is asked; it is not waited for long.
        guard head.status != 200, let refusal = ProviderFailure(head) else { return }
        self.refusal = refusal
        self.loop.arm(self.timer, at: self.loop.turnTime + .seconds(2))
    }

    package func upstreamReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !self.machine.hasEnded, let decoder = self.decoder else { return false }
        if self.refusal == nil {
            self.attempt?.hasFirstByte = true
            self.armTimer()
        }
        if let failure = decoder.receive(bytes, into: self) {
            self.fail(failure)
            return false
        }
        self.receiver?.answerPaused()
        return true
    }

    /// Who answers in this process has no more words for now.
    func pausedWords() { self.receiver?.answerPaused() }

    package func upstreamEnded(_ failure: HTTPClientFailure?) {
        self.call = nil
        guard case .calling = self.phase else {
            if case .lingering = self.phase { self.release() }
            return
        }
        if let failure {
            if let refusal = self.refusal { return self.fail(refusal) }
            // A connection that breaks after the finish reason took nothing from the answer.
            return self.machine.isComplete ? self.succeed() : self.fail(ProviderFailure(failure))
        }
        if let decoder = self.decoder, let failure = decoder.finish(into: self) { return self.fail(failure) }
        self.succeed()
    }

    func decodedText(_ text: UnsafeBufferPointer<UInt8>) {
        guard case .calling = self.phase, !text.isEmpty else { return }
        if self.machine.started() {
            self.firstTextCame()
            self.receiver?.answerStarted()
        }
        let isBlank = { text.allSatisfy { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) } }
        if self.machine.text(bytes: text.count, isBlank: isBlank) { self.receiver?.answerGrew(text) }
    }

    func decodedUsage(_ usage: TokenUsage) { self.machine.reported(usage) }
    func decodedFinish(_ reason: FinishReason) { self.machine.finished(reason) }

    /// The answer is whole; the receiver need not wait for the provider to close its body.
    func decodedEnd() { self.succeed() }
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
