import Asking
import GatewayTypes

/// What happens when a call fails, for the effective text.
extension ProviderSettings {
    var effectiveRetry: EffectiveValue {
        .object([
            ("retries", .integer(self.retry.retries)), ("backoff", .span(self.retry.backoff)),
            ("max_pause", .span(self.retry.longestPause)),
        ])
    }

    var effectiveBreaker: EffectiveValue {
        guard self.breaker != .off else { return .string("off") }
        return .object([
            ("failures", .integer(self.breaker.failures)), ("percent", .integer(self.breaker.percent)),
            ("least_calls", .integer(self.breaker.leastCalls)), ("window", .span(self.breaker.window)),
            ("open", .span(self.breaker.open)), ("max_open", .span(self.breaker.longestOpen)),
        ])
    }

    var effectiveConcurrency: EffectiveValue {
        guard let cap = self.concurrency else { return .null }
        return .object([
            ("calls", .integer(cap.calls)), ("queue", .integer(cap.queue)), ("wait", .span(cap.wait)),
        ])
    }
}
