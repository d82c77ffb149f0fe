import GatewayTypes

/// All counters of one tenant: one value, so that an ask over all its scopes is one decision. Guarded by the lock of
/// its shard.
///
/// Memory: about 300 bytes for each subject or address with usage in the last minute or the current day, 8 to 16 for
/// each admission of the last minute where `requests_per_minute` applies, about 250 for each running ask, and as much
/// for each of the last `mostRemembered` ended ones, for at most five minutes. Every admission looks at four accounts
/// and lets idle ones go; `sweep` does the same for tenants that have fallen silent.
struct TenantBook {
    /// Ended asks whose id is remembered, at most; when more end within five minutes the oldest are forgotten. A
    /// settlement that is repeated after that still moves nothing.
    static let mostRemembered = 65_536

    let id: TenantID
    var accounts = AccountTable()
    /// The tenant's own counters.
    let own: Account
    var records = StripedTable<RequestID, Record>()
    var steering: [AccountKey: Steering] = [:]
    /// The newest admission's place in the order.
    var sequence: UInt64 = 0
    private var days = DaysInUse()
    /// Ends of leases in their order; a renewed lease stands in it again, and its earlier entry says nothing.
    private var leaseEnds = Queue<(at: Int64, record: Record)>()
    private var livingLeases = 0
    private var departures = Queue<(at: Int64, record: Record)>()

    init(id: TenantID) {
        self.id = id
        self.own = Account(key: AccountKey(.tenant, ByteString("")))
    }

    /// Lets time pass: leases end, ended asks are forgotten, a few accounts are looked at.
    mutating func advance(to moment: Moment, steps: Int = 4) {
        self.days.see(moment.day)
        self.advance(to: moment.monotonic)
        self.accounts.sweep(steps: steps, at: moment.monotonic, days: self.days.numbers(at: moment.wall))
    }

    /// As above where no ask says which day it is and no account is looked at.
    mutating func advance(to now: Int64) {
        self.endLeases(at: now)
        self.forgetRecords(at: now)
    }

    /// Looks at more accounts than an ask does. True when nothing would be lost by forgetting the whole tenant.
    mutating func sweep(steps: Int, at now: Int64, wall: WallTime) -> Bool {
        self.advance(to: now)
        let days = self.days.numbers(at: wall)
        self.accounts.sweep(steps: steps, at: now, days: days)
        return self.accounts.count == 0 && self.records.count == 0 && self.steering.isEmpty
            && self.own.isIdle(at: now, days: days)
    }

    /// The account of a scope, when it has one.
    func account(_ scope: LimitScope, of caller: QuotaCaller) -> Account? {
        switch scope {
        case .subject: self.accounts.find(AccountKey(.subject, caller.subject.bytes))
        case .tenant: self.own
        case .address: self.accounts.find(AccountKey(.address, caller.address))
        }
    }

    mutating func openAccount(_ scope: LimitScope, of caller: QuotaCaller) -> Account {
        switch scope {
        case .subject: self.accounts.open(AccountKey(.subject, caller.subject.bytes))
        case .tenant: self.own
        case .address: self.accounts.open(AccountKey(.address, caller.address))
        }
    }

    func account(_ key: CounterKey) -> Account? {
        key.scope == .tenant ? self.own : self.accounts.find(AccountKey(key.scope, key.id))
    }

    /// What is known of an ask, as long as it is to be remembered: the queue may hold it a little longer.
    mutating func remembered(_ request: RequestID, at now: Int64) -> Record? {
        guard let record = self.records[request] else { return nil }
        guard let end = record.forgetAt, end <= now else { return record }
        self.forget(record)
        return nil
    }

    /// A lease was granted.
    mutating func expectLeaseEnd(of record: Record) {
        self.livingLeases &+= 1
        self.leaseEnds.append((at: record.leaseEndsAt, record: record))
        // Most asks end long before their lease would. Their entries go before they outnumber the living.
        if self.leaseEnds.count > 4 &* self.livingLeases &+ 1024 {
            self.leaseEnds.keep { $0.record.holdsLease && $0.record.leaseEndsAt == $0.at }
        }
    }

    mutating func renewLease(of record: Record, at now: Int64) {
        record.leaseEndsAt = now &+ Lease.length.nanoseconds
        self.leaseEnds.append((at: record.leaseEndsAt, record: record))
    }

    /// The ask has ended, or its lease has: from now on only its id is remembered.
    mutating func expectDeparture(of record: Record, at now: Int64) {
        if record.holdsLease { self.livingLeases &-= 1 }
        let end = now &+ requestMemory.nanoseconds
        record.forgetAt = end
        self.departures.append((at: end, record: record))
    }

    private mutating func endLeases(at now: Int64) {
        while let next = self.leaseEnds.first, next.at <= now {
            self.leaseEnds.popFirst()
            guard next.record.holdsLease, next.record.leaseEndsAt <= now else { continue }
            next.record.leave()
            self.expectDeparture(of: next.record, at: next.record.leaseEndsAt)
        }
    }

    private mutating func forgetRecords(at now: Int64) {
        while let next = self.departures.first, next.at <= now || self.departures.count > Self.mostRemembered {
            self.departures.popFirst()
            // An ask that settled after its lease had died stands here twice; the second entry counts.
            guard next.record.forgetAt == next.at, self.records[next.record.request] === next.record else { continue }
            self.forget(next.record)
        }
    }

    private mutating func forget(_ record: Record) {
        record.abandon()
        self.records.remove(record.request)
    }
}
