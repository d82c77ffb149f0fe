import GatewayTypes

/// What one loop knows of a provider: its breaker and its keys. On the loop.
///
/// Of the loop and not of the process, so that a call takes no lock and no line of memory is passed between cores; a
/// broken provider shows itself to each loop soon enough. Only places are counted over all loops.
final class ProviderStanding {
    private(set) var provider: Provider
    var breaker: Breaker
    var keys: KeyRing
    let gate: CallGate?
    /// Counts the provider objects of this name.
    let generation: Int

    /// - Parameter earlier: what was known of the provider by this name before a reload.
    init(_ provider: Provider, gate: CallGate?, earlier: ProviderStanding?) {
        self.provider = provider
        self.gate = gate
        self.generation = (earlier?.generation ?? 0) &+ 1
        self.breaker = earlier?.breaker ?? Breaker(provider.breaker)
        self.breaker.adopt(provider.breaker)
        // Keys may be others now, and a reload is how an operator mends one.
        self.keys = KeyRing(count: provider.keyCount)
    }

    var name: ProviderName { self.provider.name }

    /// Whether no configuration and no ask names this provider object any more.
    func isAbandoned() -> Bool { isKnownUniquelyReferenced(&self.provider) }

    /// Why the provider cannot be called now; nil when it can.
    func obstacle(at now: MonotonicTime) -> ProviderFailure? {
        guard self.breaker.mayPass(at: now) else { return self.openBreaker(at: now) }
        return self.keys.hasKey(at: now) ? nil : self.missingKey(at: now)
    }

    func openBreaker(at now: MonotonicTime) -> ProviderFailure {
        .breakerOpen(retryAfterSeconds: Self.seconds(self.breaker.wait(at: now)))
    }

    func missingKey(at now: MonotonicTime) -> ProviderFailure {
        if self.keys.areAllRefused { return .credentialsRefused }
        return .keysSetAside(retryAfterSeconds: Self.seconds(self.keys.wait(at: now)))
    }

    /// Whole seconds, rounded up, at least 1.
    private static func seconds(_ span: TimeSpan) -> Int {
        Int(clamping: max(1, (span.nanoseconds &+ 999_999_999) / 1_000_000_000))
    }
}
