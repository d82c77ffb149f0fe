import Asking
import EventLoops
import GatewayTypes
import Observability

/// Tells operators of the attempts of an ask. On the loop of the ask's call.
struct AttemptReporter {
    let labels: SnapshotLabels
    let loop: GatewayLoop

    func measure(_ attempt: AskAttempt) {
        self.loop.metrics.attemptEnded(
            AttemptMeasurement(
                provider: self.labels.provider(attempt.route.provider), model: self.labels.model(attempt.route.model),
                outcome: self.labels.attempt(attempt), isFailure: attempt.failure != nil, duration: attempt.duration,
                firstToken: attempt.firstText, usage: attempt.usage))
    }

    func breakerChanged(of provider: ProviderName, to state: BreakerState, after failure: ProviderFailure?) {
        self.loop.metrics.providerStateChanged(self.labels.provider(provider), to: ProviderState(state))
        var fields: [LogField] = [.identifier("provider", provider), .int("loop", self.loop.loop.index)]
        if let failure { fields.append(.label("reason", failure)) }
        switch state {
        case .open: self.loop.operations?.warning("a provider fails and is left alone for a while", fields)
        case .closed: self.loop.operations?.info("a provider works again", fields)
        case .halfOpen: break
        }
    }

    /// A refused key is somebody's to mend, so it is told loudly; by its place in the list, which is all its name.
    func keySetAside(_ key: KeySetAside) {
        var fields: [LogField] = [
            .identifier("provider", key.provider), .int("key", key.key), .int("loop", self.loop.loop.index),
        ]
        guard let span = key.span else {
            self.loop.operations?.error("a provider refuses its only key, which is used on", fields)
            return
        }
        fields.append(.int("seconds", Int(span.inSeconds)))
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
