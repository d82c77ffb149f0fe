import GatewayTypes

/// What the store knows of one admitted ask, from admission until five minutes after its end. Guarded by the lock of
/// its shard.
final class Record {
    let request: RequestID
    /// Place in the order of the tenant's admissions.
    let sequence: UInt64
    let day: LocalDay
    let outputTokens: Int
    let reservedTokens: Int
    let startedAt: Int64
    /// Nanoseconds of the monotonic clock.
    var leaseEndsAt: Int64
    /// When the record may go; nil while the lease lives.
    var forgetAt: Int64?
    var isSettled = false
    /// Where it counts; let go at settlement, so that idle accounts can be swept.
    private(set) var accounts = ByScope<Account?>(repeating: nil)
    /// Where it reserved tokens, and where it holds a place among the running.
    var reserves = ByScope(repeating: false)
    var runs = ByScope(repeating: false)

    init(ask: QuotaAsk, sequence: UInt64, outputTokens: Int, reservedTokens: Int, moment: Moment) {
        self.request = ask.request
        self.sequence = sequence
        self.day = moment.day
        self.outputTokens = outputTokens
        self.reservedTokens = reservedTokens
        self.startedAt = moment.monotonic
        self.leaseEndsAt = moment.monotonic &+ Lease.length.nanoseconds
    }

    /// An ask that is over before the store first hears of it.
    init(settled settlement: Settlement, at now: Int64) {
        self.request = settlement.request
        self.sequence = 0
        self.day = settlement.day
        self.outputTokens = 0
        self.reservedTokens = 0
        self.startedAt = now
        self.leaseEndsAt = now
        self.forgetAt = now
        self.isSettled = true
    }

    var holdsLease: Bool { self.forgetAt == nil }

    /// Counts in an account until settlement.
    func enter(_ account: Account, _ scope: LimitScope) {
        guard self.accounts[scope] == nil else { return }
        self.accounts[scope] = account
        account.unsettled &+= 1
    }

    /// Charges, gives up its places and lets the accounts go.
    func settle(charged: Int) { self.end(charged: charged) }

    /// Nobody will settle it any more: what is reserved stays charged.
    func abandon() { if !self.isSettled { self.end(charged: nil) } }

    private func end(charged: Int?) {
        self.isSettled = true
        self.leave()
        self.exit(.subject, charged: charged)
        self.exit(.tenant, charged: charged)
        self.exit(.address, charged: charged)
    }

    private func exit(_ scope: LimitScope, charged: Int?) {
        guard let account = self.accounts[scope] else { return }
        if self.reserves[scope] {
            // Of what a reset has wiped out nothing is left to give back, and an abandoned ask adds nothing to it.
            let reserved = self.sequence <= account.resetAfter ? 0 : self.reservedTokens
            account.tokens.settle(reserved: reserved, charged: charged ?? reserved, on: self.day.number)
        }
        account.unsettled &-= 1
        self.accounts[scope] = nil
    }

    /// Gives up the places among the running asks.
    func leave() {
        self.leave(.subject)
        self.leave(.tenant)
        self.leave(.address)
    }

    func leave(_ scope: LimitScope) {
        guard self.runs[scope] else { return }
        self.accounts[scope]?.running &-= 1
        self.runs[scope] = false
    }
}

/// One value for each scope.
struct ByScope<Value> {
    private var subject: Value
    private var tenant: Value
    private var address: Value

    init(repeating value: Value) {
        self.subject = value
        self.tenant = value
        self.address = value
    }

    subscript(scope: LimitScope) -> Value {
        get {
            switch scope {
            case .subject: self.subject
            case .tenant: self.tenant
            case .address: self.address
            }
        }
        set {
            switch scope {
            case .subject: self.subject = newValue
            case .tenant: self.tenant = newValue
            case .address: self.address = newValue
            }
        }
    }
}
