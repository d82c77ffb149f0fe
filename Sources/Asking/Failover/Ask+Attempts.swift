import EventLoops
import GatewayTypes

/// One call of one ask, or the wish to make one. On the ask's loop.
final class Attempt {
    let route: ProviderRoute
    let standing: ProviderStanding
    /// The route of the last call that was really made.
    var calledRoute: ProviderRoute?
    var key = 0
    var pass = Breaker.Pass.ordinary
    var startedAt = MonotonicTime(nanoseconds: 0)
    var firstTextAt: MonotonicTime?
    var hasFirstByte = false
    /// Whether a place at the provider is held.
    var holdsPlace = false
    /// Whether a call is being made whose end nobody was told yet.
    var isOpen = false

    init(_ route: ProviderRoute, _ standing: ProviderStanding, calledRoute: ProviderRoute?) {
        self.route = route
        self.standing = standing
        self.calledRoute = calledRoute
    }

    var provider: Provider { self.standing.provider }
}

extension Ask {
    func start() {
        self.timer.action = { [unowned self] in self.timedOut() }
        self.proceed()
    }

    /// Goes to the present route, or on to one that can be asked now.
    func proceed() {
        var obstacle = self.enterRoute()
        while let failure = obstacle {
            switch self.failover.passedOver(failure, at: self.loop.turnTime) {
            case .call: obstacle = self.enterRoute()
            case .pause: return
            case .end(let reason): return self.finish(reason)
            }
        }
    }

    /// Calls the present route, or waits for a place there.
    ///
    /// - Returns: why neither is possible.
    private func enterRoute() -> ProviderFailure? {
        self.phase = .idle
        guard let routes = self.routes, routes.routes.indices.contains(self.failover.route) else { return .unusable }
        let route = routes.routes[self.failover.route]
        guard let provider = routes.providers[route.provider] else { return .unusable }
        if self.attempt == nil { self.setDeadline(provider, routes) }
        let standing = self.core.standing(of: provider)
        let called = self.attempt?.calledRoute
        self.attempt = Attempt(route, standing, calledRoute: called)
        if let obstacle = standing.obstacle(at: self.loop.turnTime) { return obstacle }
        guard let gate = standing.gate else { return self.beginCall() }
        return self.enter(gate, provider, routes.tenant)
    }

    /// The longest of the routes' deadlines is the whole ask's; each call has its own provider's besides.
    private func setDeadline(_ first: Provider, _ routes: AskRoutes) {
        var longest = first.deadlines.total
        if routes.routes.count > 1 {
            for route in routes.routes {
                longest = max(longest, routes.providers[route.provider]?.deadlines.total ?? longest)
            }
        }
        self.failover.deadline = self.loop.turnTime + longest
    }

    // MARK: Places

    private func enter(_ gate: CallGate, _ provider: Provider, _ tenant: TenantID) -> ProviderFailure? {
        let (entry, waiter) = gate.enter(GateWaiter(self, loop: self.loop), of: tenant)
        if entry == .open {
            self.attempt?.holdsPlace = true
            return self.beginCall()
        }
        guard let waiter else { return .queueFull }
        self.phase = .queued(waiter)
        let longest = provider.concurrency?.wait ?? .seconds(0)
        self.loop.arm(self.timer, at: min(self.loop.turnTime + longest, self.failover.deadline))
        return nil
    }

    /// A place came free for this ask.
    func gotPlace() {
        guard case .queued = self.phase else {
            self.attempt?.standing.gate?.leave()
            return
        }
        self.phase = .idle
        self.loop.cancel(self.timer)
        self.attempt?.holdsPlace = true
        // The provider may have failed meanwhile.
        if let obstacle = self.beginCall() { self.goOn(behind: obstacle) }
    }

    /// Another tenant, with fewer asks waiting, has taken the place in the queue.
    func lostPlace() {
        guard case .queued = self.phase else { return }
        self.phase = .idle
        self.loop.cancel(self.timer)
        self.goOn(behind: .queueFull)
    }

    func goOn(behind obstacle: ProviderFailure) {
        switch self.failover.passedOver(obstacle, at: self.loop.turnTime) {
        case .call: self.proceed()
        case .pause: break
        case .end(let reason): self.finish(reason)
        }
    }

    private func leavePlace() {
        guard self.attempt?.holdsPlace == true else { return }
        self.attempt?.holdsPlace = false
        self.attempt?.standing.gate?.leave()
    }

    // MARK: Calls

    /// Makes the call.
    ///
    /// - Returns: why it could not be made.
    private func beginCall() -> ProviderFailure? {
        guard let attempt = self.attempt else { return .unusable }
        let now = self.loop.turnTime
        let standing = attempt.standing
        guard let key = standing.keys.next(at: now) else {
            self.leavePlace()
            return standing.missingKey(at: now)
        }
        guard let pass = standing.breaker.pass(at: now) else {
            self.leavePlace()
            return standing.openBreaker(at: now)
        }
        attempt.key = key
        attempt.pass = pass
        attempt.startedAt = now
        self.phase = .calling
        if pass == .probe { self.receiver?.breakerChanged(of: standing.name, to: .halfOpen, after: nil) }
        self.request?.model = attempt.route.model
        let total = min(attempt.provider.deadlines.total, self.failover.deadline - now)
        guard let request = self.request,
            self.core.call(attempt.provider.dialect(key: key), for: self, request, deadline: total)
        else {
            standing.breaker.learntNothing(pass)
            self.leavePlace()
            return .tooManyCalls
        }
        return nil
    }

    /// A call goes out.
    func began() {
        self.failover.called()
        guard let attempt = self.attempt else { return }
        attempt.isOpen = true
        attempt.calledRoute = attempt.route
    }

    /// The answer is whole.
    func succeed() {
        guard case .calling = self.phase else { return }
        // A complete answer without a word is of no use, unless the provider says why it is withheld.
        if self.machine.isEmpty { return self.fail(.emptyAnswer) }
        self.endAttempt(nil)
        self.phase = .lingering
        self.tell(nil)
        self.linger()
    }

    /// The call failed: somebody else is asked, or nobody.
    func fail(_ failure: ProviderFailure) {
        guard case .calling = self.phase, let attempt = self.attempt else { return }
        self.loop.cancel(self.timer)
        self.stopCall()
        self.endAttempt(failure)
        self.phase = .idle
        let now = self.loop.turnTime
        let step = self.failover.failed(
            failure, hasText: self.machine.hasText, spareKeys: attempt.standing.keys.spares(at: now),
            retry: attempt.provider.retry, at: now)
        switch step {
        case .end(let reason): self.finish(reason)
        case .pause(let span): self.rest(for: span)
        // On the next turn: this may be inside what the provider's own bytes have called.
        case .call: self.rest(for: .seconds(0))
        }
    }

    private func rest(for span: TimeSpan) {
        self.machine.attemptAgain()
        guard span.nanoseconds > 0 else {
            return self.loop.later {
                if case .idle = self.phase { self.proceed() }
            }
        }
        self.loop.arm(self.timer, at: self.loop.turnTime + span)
    }

    /// Tells what a call was like: to the breaker, the keys, the queue and the receiver.
    func endAttempt(_ failure: ProviderFailure?, cancelled: Bool = false) {
        guard let attempt = self.attempt, attempt.isOpen else { return }
        attempt.isOpen = false
        let now = self.loop.turnTime
        self.leavePlace()
        self.judge(attempt, failure, cancelled: cancelled, at: now)
        self.receiver?.attemptEnded(
            AskAttempt(
                route: attempt.route, failure: failure, wasCancelled: cancelled, usage: self.machine.usage,
                duration: now - attempt.startedAt, firstText: attempt.firstTextAt.map { $0 - attempt.startedAt }))
    }

    private func judge(_ attempt: Attempt, _ failure: ProviderFailure?, cancelled: Bool, at now: MonotonicTime) {
        let standing = attempt.standing
        let before = standing.breaker.state
        if cancelled {
            standing.breaker.learntNothing(attempt.pass)
        } else if let failure {
            switch failure.verdict {
            case .broken: standing.breaker.failed(attempt.pass, at: now)
            case .alive: standing.breaker.succeeded(attempt.pass, at: now)
            case .unknown: standing.breaker.learntNothing(attempt.pass)
            }
            self.judgeKey(attempt, failure, at: now)
        } else {
            standing.breaker.succeeded(attempt.pass, at: now)
            standing.keys.worked(attempt.key)
        }
        self.tellBreaker(standing, before, failure)
    }

    private func judgeKey(_ attempt: Attempt, _ failure: ProviderFailure, at now: MonotonicTime) {
        let standing = attempt.standing
        let span: TimeSpan?
        let reason: KeySetAside.Reason
        switch failure {
        case .credentialsRefused:
            let isNews = !standing.keys.isRefused(attempt.key)
            reason = .refused
            span = standing.keys.refused(attempt.key, at: now)
            // Told once and not by every ask: it stays so until somebody mends it.
            guard isNews else { return }
        case .rateLimited(let seconds):
            reason = .rateLimited
            span = standing.keys.limited(attempt.key, seconds: seconds, at: now)
            guard span != nil else { return }
        default: return
        }
        self.receiver?.keySetAside(
            KeySetAside(provider: standing.name, key: attempt.key &+ 1, reason: reason, span: span))
    }

    /// The first text has come: a probe has shown enough, and nobody else will be asked.
    func firstTextCame() {
        guard let attempt = self.attempt else { return }
        self.request = nil
        self.routes = nil
        attempt.firstTextAt = self.loop.turnTime
        guard attempt.pass == .probe else { return }
        attempt.pass = .ordinary
        let before = attempt.standing.breaker.state
        attempt.standing.breaker.succeeded(.probe, at: self.loop.turnTime)
        self.tellBreaker(attempt.standing, before, nil)
    }

    private func tellBreaker(_ standing: ProviderStanding, _ before: BreakerState, _ failure: ProviderFailure?) {
        let state = standing.breaker.state
        if state != before { self.receiver?.breakerChanged(of: standing.name, to: state, after: failure) }
    }
}
