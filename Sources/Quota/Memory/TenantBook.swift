import GatewayTypes

/// All counters of one tenant: one value, so that an ask over all its scopes is one decision. Guarded by the lock of
/// its shard.
///
/// Memory: about 300 bytes for each subject or address with usage in the last minute or the current day, 8 to 16 for
/// each admission of the last minute where `requests_per_minute` applies, about 250 for each running ask, and about 100
/// for each ended one that `EndedAsks` remembers. Every account that is opened pays for a look at four others, of which
/// the idle ones go; `sweep` does the same where no new ones come.
struct TenantBook {
    var accounts = AccountTable()
    /// The tenant's own counters.
    let own = Account(key: AccountKey(.tenant, ByteString("")))
    /// Asks that have not settled.
    var records = StripedTable<RequestID, Record>()
    var ended = EndedAsks()
    var steering: [AccountKey: Steering] = [:]
    /// How often operators have changed each holder; beside `steering`, since it outlives what was set and no ask
    /// reads it.
    var versions: [AccountKey: (number: Int, since: WallTime)] = [:]
    var audit = AuditTrail()
    /// The newest admission's place in the order.
    var sequence: UInt64 = 0
    private var days = DaysInUse()
    /// Accounts opened since the last sweep. The next ask pays for them and not the one that opened them, since a
    /// sweep must not take an account away between the judgement and the writing.
    private var opened = 0
    /// Ends of leases in their order; a renewed lease stands in it again, and its earlier entry says nothing.
    private var leaseEnds = Queue<LeaseEnd>()
    /// Of the queue's first entry, or earlier: most asks look no further.
    private var firstLeaseEnd = Int64.max
    private var livingLeases = 0
    /// Unsettled asks whose lease has ended, in the order in which they are given up.
    private var abandoned = Queue<Record>()

    /// Lets time pass: leases end, and asks that nobody will settle any more are given up.
    mutating func advance(to moment: Moment) {
        self.days.see(moment.day)
        self.advance(to: moment.monotonic)
        guard self.opened > 0 else { return }
        self.accounts.sweep(
            steps: 4 &* self.opened, at: moment.monotonic, days: self.days.numbers(at: moment.wall))
        self.opened = 0
    }

    /// As above where no ask says which day it is.
    mutating func advance(to now: Int64) {
        if self.firstLeaseEnd <= now { self.endLeases(at: now) }
        while let record = self.abandoned.first, record.isSettled || record.isForgotten(at: now) {
            self.abandoned.popFirst()
            if !record.isSettled { self.giveUp(record) }
        }
    }

    /// Looks at some accounts and lets idle ones go. True when nothing would be lost by forgetting the whole tenant.
    mutating func sweep(steps: Int, at now: Int64, wall: WallTime) -> Bool {
        self.advance(to: now)
        self.ended.turnGenerations(at: now)
        let days = self.days.numbers(at: wall)
        self.accounts.sweep(steps: steps, at: now, days: days)
        self.audit.expire(at: wall)
        return self.accounts.count == 0 && self.records.count == 0 && self.ended.isEmpty && self.steering.isEmpty
            && self.audit.isEmpty && self.own.isIdle(at: now, days: days)
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
        let id: ByteString
        switch scope {
        case .subject: id = caller.subject.bytes
        case .tenant: return self.own
        case .address: id = caller.address
        }
        let key = AccountKey(scope, id)
        if let account = self.accounts.find(key) { return account }
        self.opened &+= 1
        return self.accounts.open(key)
    }

    func account(_ key: CounterKey) -> Account? {
        key.scope == .tenant ? self.own : self.accounts.find(AccountKey(key.scope, key.id))
    }

    /// The unsettled ask of this id, as long as it may still settle.
    mutating func unsettled(_ request: RequestID, at now: Int64) -> Record? {
        guard let record = self.records[request] else { return nil }
        guard record.isForgotten(at: now) else { return record }
        self.giveUp(record)
        return nil
    }

    /// A lease was granted.
    mutating func leaseGranted(to record: Record) {
        self.livingLeases &+= 1
        self.firstLeaseEnd = min(self.firstLeaseEnd, record.leaseEndsAt)
        self.leaseEnds.append(LeaseEnd(at: record.leaseEndsAt, record: record))
        // Most asks end long before their lease would. Their entries go before they outnumber the living.
        if self.leaseEnds.count > 4 &* self.livingLeases &+ 4096 {
            self.leaseEnds.keep { $0.record.holdsLease && $0.record.leaseEndsAt == $0.at }
        }
    }

    mutating func renewLease(of record: Record, at now: Int64) {
        record.leaseEndsAt = now &+ Lease.length.nanoseconds
        self.firstLeaseEnd = min(self.firstLeaseEnd, record.leaseEndsAt)
        self.leaseEnds.append(LeaseEnd(at: record.leaseEndsAt, record: record))
    }

    /// The ask has settled: from now on only its id is remembered.
    mutating func remove(_ record: Record, at now: Int64) {
        if record.holdsLease { self.livingLeases &-= 1 }
        record.holdsLease = false
        self.records.remove(record.request)
        self.ended.remember(record.request, record.ended(at: now), at: now)
    }

    private mutating func endLeases(at now: Int64) {
        while let next = self.leaseEnds.first {
            self.firstLeaseEnd = next.at
            guard next.at <= now else { return }
            self.leaseEnds.popFirst()
            if next.record.holdsLease && next.record.leaseEndsAt <= now { self.endLease(of: next.record) }
        }
        self.firstLeaseEnd = .max
    }

    private mutating func endLease(of record: Record) {
        self.livingLeases &-= 1
        record.holdsLease = false
        record.leave()
        self.abandoned.append(record)
    }

    private mutating func giveUp(_ record: Record) {
        record.abandon()
        self.records.remove(record.request)
    }
}

/// When a lease ends, unless it is renewed or freed before.
private struct LeaseEnd {
    let at: Int64
    let record: Record
}
