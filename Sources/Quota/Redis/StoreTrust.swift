import GatewayTypes

/// What is believed of one part of the store: of all of it, or in a cluster of what holds one tenant. Event in,
/// decision out.
struct StoreTrust {
    private(set) var breaker = Breaker()
    /// When it last refused to write; nil once it has written again.
    private(set) var refusedWriting: MonotonicTime?

    /// For how long a store that refused to write has to write before it is believed; then any answer will do, since
    /// nobody may ask for anything to be written.
    private static let writingDoubt = TimeSpan.seconds(30)
    private var failedAt: MonotonicTime?
    /// After so long without a failure nobody asks, and nothing is known.
    private static let concern = TimeSpan.seconds(60)

    var isWhole: Bool { self.breaker.isClosed }

    /// Whether it is known to fail now.
    func fails(at now: MonotonicTime) -> Bool {
        guard !self.isWhole, let failedAt else { return false }
        return now - failedAt < Self.concern
    }

    mutating func mayAsk(at now: MonotonicTime) -> Bool { self.breaker.mayAsk(at: now) }

    /// An answer came. False when it proves nothing, since it was only read and writing is what fails.
    mutating func answered(_ script: QuotaScript, now: () -> MonotonicTime) -> Bool {
        if !script.mayWrite, let refusal = self.refusedWriting {
            let now = now()
            if now - refusal < Self.writingDoubt {
                self.breaker.provedNothing(at: now)
                return false
            }
        }
        self.refusedWriting = nil
        self.breaker.succeeded()
        return true
    }

    mutating func failed(_ failure: QuotaFailure, of script: QuotaScript, at now: MonotonicTime) {
        if script.mayWrite, failure == .notServing || failure == .notPermitted { self.refusedWriting = now }
        self.failedAt = now
        self.breaker.failed(at: now)
    }
}

/// The parts of a store that can fail apart from each other.
struct StoreTrusts {
    /// Whether tenants lie in different places, so that one of them says nothing of another.
    let isByTenant: Bool
    private var whole = StoreTrust()
    private var tenants: [ByteString: StoreTrust] = [:]

    init(isByTenant: Bool) { self.isByTenant = isByTenant }

    /// - Parameter tag: that all keys of a tenant share.
    subscript(tag: ByteString) -> StoreTrust {
        get { self.isByTenant ? self.tenants[tag] ?? StoreTrust() : self.whole }
        _modify {
            if self.isByTenant {
                yield &self.tenants[tag, default: StoreTrust()]
            } else {
                yield &self.whole
            }
        }
    }

    /// No part is known to fail.
    func areWhole(at now: MonotonicTime) -> Bool {
        !self.whole.fails(at: now) && !self.tenants.values.contains { $0.fails(at: now) }
    }

    /// Operators may ask for tenants that are not there; what they leave behind stays small.
    mutating func forgetStrangers() { if self.tenants.count >= 1024 { self.tenants = [:] } }
}
