import GatewayTypes

/// What the store knows of one admitted ask until it settles. Guarded as `Account` is.
final class Record {
    let request: RequestID
    /// Place in the order of the tenant's admissions.
    let sequence: UInt64
    let day: LocalDay
    let outputTokens: Int
    let reservedTokens: Int
    let startedAt: Int64
    /// Nanoseconds of the monotonic clock.
    @exclusivity(unchecked) var leaseEndsAt: Int64
    @exclusivity(unchecked) var holdsLease = true
    /// Settled or given up.
    @exclusivity(unchecked) private(set) var isSettled = false
    /// Where it counts; let go at settlement, so that idle accounts can be swept.
    @exclusivity(unchecked) private(set) var accounts = ByScope<Account?>(repeating: nil)
    /// Where it counts in the minute, where it reserved tokens, and where it holds a place among the running.
    @exclusivity(unchecked) private var arrives = ByScope(repeating: false)
    @exclusivity(unchecked) private var reserves = ByScope(repeating: false)
    @exclusivity(unchecked) private(set) var runs = ByScope(repeating: false)

    init(ask: QuotaAsk, sequence: UInt64, outputTokens: Int, reservedTokens: Int, moment: Moment) {
        self.request = ask.request
        self.sequence = sequence
        self.day = moment.day
        self.outputTokens = outputTokens
        self.reservedTokens = reservedTokens
        self.startedAt = moment.monotonic
        self.leaseEndsAt = moment.monotonic &+ Lease.length.nanoseconds
    }

    /// Nobody is expected to settle it any more.
    func isForgotten(at now: Int64) -> Bool {
        !self.holdsLease && now >= self.leaseEndsAt &+ requestMemory.nanoseconds
    }

    /// The counters that hold its reservation for the subject.
    var subjectsReservation: Account? { self.reserves[.subject] ? self.accounts[.subject] : nil }

    func ended(at now: Int64) -> EndedAsk {
        EndedAsk(
            outputTokens: self.outputTokens, reservedTokens: self.reservedTokens, day: self.day,
            forgetAt: now &+ requestMemory.nanoseconds)
    }

    /// Counts in an account until settlement.
    func enter(_ account: Account, _ scope: LimitScope) {
        guard self.accounts[scope] == nil else { return }
        self.accounts[scope] = account
        account.unsettled &+= 1
    }

    /// Counts in one counter of an account it has entered; once, though two limits may stand on that counter, such as
    /// an observed beside an enforced one.
    func count(_ kind: LimitKind, _ scope: LimitScope, at moment: Moment) {
        guard let account = self.accounts[scope] else { return }
        switch kind {
        case .requestsPerMinute:
            if !self.arrives[scope] { account.minute.append(moment.monotonic) }
            self.arrives[scope] = true
        case .tokensPerDay:
            if !self.reserves[scope] { account.tokens.reserve(self.reservedTokens, on: self.day.number) }
            self.reserves[scope] = true
        case .concurrentRequests:
            if !self.runs[scope] { account.running &+= 1 }
            self.runs[scope] = true
        }
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
