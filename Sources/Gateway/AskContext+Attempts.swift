import Asking
import EventLoops
import GatewayTypes
import Observability

/// What the attempts of an ask tell operators.
extension AskContext {
    func measure(_ attempt: AskAttempt) {
        let labels = self.snapshot.labels
        self.loop.metrics.attemptEnded(
            AttemptMeasurement(
                provider: labels.provider(attempt.route.provider), model: labels.model(attempt.route.model),
                outcome: labels.attempt(attempt), isFailure: attempt.failure != nil, duration: attempt.duration,
                firstToken: attempt.firstText, usage: attempt.usage))
    }

    func breakerChanged(of provider: ProviderName, to state: BreakerState) {
        self.loop.metrics.providerStateChanged(self.snapshot.labels.provider(provider), to: ProviderState(state))
        let fields: [LogField] = [.identifier("provider", provider), .int("loop", self.loop.loop.index)]
        switch state {
        case .open: self.loop.operations?.warning("a provider fails and is left alone for a while", fields)
        case .closed: self.loop.operations?.info("a provider works again", fields)
        case .halfOpen: break
        }
    }

    /// A refused key is somebody's to mend, so it is told loudly; by its place in the list, which is all its name.
    func keySetAside(_ key: KeySetAside) {
        let fields: [LogField] = [
            .identifier("provider", key.provider), .int("key", key.key), .int("seconds", Int(key.span.inSeconds)),
        ]
        switch key.reason {
        case .refused: self.loop.operations?.error("a provider refuses a key, which is set aside", fields)
        case .rateLimited: self.loop.operations?.warning("a provider's key is over its limit and is set aside", fields)
        }
    }
}

extension ProviderState {
    init(_ state: BreakerState) {
        switch state {
        case .closed: self = .closed
        case .halfOpen: self = .halfOpen
        case .open: self = .open
        }
    }
}
