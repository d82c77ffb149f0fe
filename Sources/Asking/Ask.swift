import EventLoops
import GatewayTypes
import HTTPClient

/// One ask on its way, over all its attempts. On its loop, all of it.
///
/// Events go to the receiver as they are decoded; `end()` waits for the last one. What follows a failure is decided by
/// `Failover`, who may be called by `ProviderStanding`; here it is only done.
package final class Ask {
    enum Phase {
        /// Between two attempts, or before the first.
        case idle
        /// Waits for a place at the provider.
        case queued(GateWaiter)
        case calling
        /// Has told its end and lets the provider close its body.
        case lingering
        case over
    }

    let loop: EventLoop
    let core: AskingCore
    let streams: Bool
    var receiver: (any AnswerReceiver)?
    var machine = AskStateMachine()
    var failover: Failover
    var phase = Phase.idle
    /// What is asked and where; let go of with the first text, behind which nobody else is asked.
    var request: AskRequest?
    var routes: AskRoutes?
    /// The call being made, or the last one.
    var attempt: Attempt?
    var decoder: (any AnswerDecoder)?
    var call: (any UpstreamCall)?
    var local: (any LocalAnswer)?
    /// What the status means, while the provider's reason for a refusal is read.
    var refusal: ProviderFailure?
    let timer = LoopTimer()
    var isPaused = false
    private var result: AskEnd?
    /// Brings no value: the end is large, and would lie twice in the frames of everybody who waits.
    private var waiter: UnsafeContinuation<Void, Never>?

    init(_ request: AskRequest, over routes: AskRoutes, core: AskingCore, receiver: any AnswerReceiver) {
        self.loop = core.loop
        self.core = core
        self.streams = request.streams
        self.request = request
        self.routes = routes
        self.receiver = receiver
        self.failover = Failover(routeCount: routes.routes.count, seed: routes.seed)
    }

    // MARK: For the caller

    /// Waits until the ask is over. To be called once.
    package func end() async -> AskEnd {
        while true {
            if let result = self.result { return result }
            await withUnsafeContinuation { self.waiter = $0 }
        }
    }

    /// Gives the ask up: the provider's call is closed now and the receiver gets its end, marked as cancelled.
    package func cancel() { self.finish(nil, cancelled: true) }

    /// Slows the provider while the reader of the answer is slow.
    package func setPaused(_ paused: Bool) {
        guard !self.machine.hasEnded else { return }
        self.isPaused = paused
        guard case .calling = self.phase else { return }
        // A pause is the client's doing: it must not count as the provider's silence.
        if paused { self.loop.cancel(self.timer) } else { self.armTimer() }
        // Last, since going on may hand over what was held, and that pause again.
        self.call?.setPaused(paused)
        self.local?.setPaused(paused)
    }

    /// Whether nothing of the ask is left, its call included.
    var isOver: Bool {
        if case .over = self.phase { return true }
        return false
    }

    // MARK: End

    func finish(_ failure: ProviderFailure?, cancelled: Bool = false) {
        self.loop.remove(self.timer)
        if case .queued(let waiter) = self.phase { self.attempt?.standing.gate?.abandon(waiter) }
        var isCalling = false
        if case .calling = self.phase { isCalling = true }
        self.stopCall()
        self.endAttempt(failure, cancelled: cancelled)
        self.phase = .over
        self.tell(failure, cancelled: cancelled, hadOpenCall: isCalling)
    }

    /// Closes the call that is being made.
    func stopCall() {
        let call = self.call
        self.call = nil
        self.decoder = nil
        self.refusal = nil
        call?.cancel()
        self.local?.cancel()
        self.local = nil
    }

    func tell(_ failure: ProviderFailure?, cancelled: Bool = false, hadOpenCall: Bool = false) {
        let end = self.machine.end(
            failure, cancelled: cancelled, attempts: self.failover.calls, route: self.attempt?.calledRoute,
            hadOpenCall: hadOpenCall)
        guard let end else { return }
        self.request = nil
        self.routes = nil
        let receiver = self.receiver
        self.receiver = nil
        receiver?.answerEnded(end)
        self.result = end
        self.waiter?.resume()
        self.waiter = nil
    }
}
