import GatewayTypes

extension TenantBook {
    func isBlocked(_ caller: QuotaCaller, at time: WallTime) -> Bool {
        guard !self.steering.isEmpty else { return false }
        return LimitScope.allCases.contains { self.steering(of: $0, caller, at: time)?.isBlocked ?? false }
    }

    /// The limits in force: the plan's, with what operators have set.
    func steered(_ limits: [Limit], for caller: QuotaCaller, at time: WallTime) -> [Limit] {
        guard !self.steering.isEmpty else { return limits }
        var result = limits
        for scope in LimitScope.allCases {
            guard let steering = self.steering(of: scope, caller, at: time) else { continue }
            for kind in LimitKind.allCases {
                guard let quantity = steering[kind]?.quantity else { continue }
                let places = result.indices.filter { result[$0].scope == scope && result[$0].kind == kind }
                for place in places { result[place].quantity = quantity }
                if places.isEmpty { result.append(Limit(kind, scope: scope, quantity: quantity)) }
            }
        }
        return result
    }

    /// For how long what operators have set for a caller stays as it is; at most a day.
    func steeringHolds(for caller: QuotaCaller, at time: WallTime) -> TimeSpan {
        var end = time + .seconds(86_400)
        for scope in LimitScope.allCases {
            guard let steering = self.steering(of: scope, caller, at: time) else { continue }
            for kind in LimitKind.allCases {
                if let expiry = steering[kind]?.expiresAt { end = min(end, expiry) }
            }
        }
        return end - time
    }

    mutating func apply(
        _ change: OperatorChange, to key: CounterKey, by order: OperatorOrder, at moment: (now: Int64, wall: WallTime)
    ) -> ChangeResult {
        let (now, wall) = moment
        let place = AccountKey(key.scope, key.id)
        if let current = self.conflict(at: place, order) { return .conflict(current: current) }
        var steering = self.steering[place]?.inForce(at: wall) ?? Steering()
        let changes = self.moves(change, steering, of: key, at: now)
        let version = changes ? self.nextVersion(at: place, wall) : self.version(at: place)
        var entry = AuditEntry(change, of: key, by: order, at: wall, version: version)
        let kind = change.kind
        let blockBefore = steering.block
        entry.before = (entry.action == .reset ? self.usage(of: key, at: now) : steering.quantities).only(kind)
        switch change {
        case .override(let kind, let override):
            var override = override
            override.quantity = QuotaAsk.bounded(override.quantity)
            steering[kind] = override
        case .clearOverride(let kind?): steering[kind] = nil
        case .clearOverride(nil): for kind in LimitKind.allCases { steering[kind] = nil }
        case .block(let until): steering.block = Steering.Block(until: until)
        case .unblock: steering.block = .none
        case .reset(let kind): self.reset(key, kind)
        }
        entry.after = (entry.action == .reset ? self.usage(of: key, at: now) : steering.quantities).only(kind)
        if entry.action == .block || entry.action == .unblock {
            (entry.before, entry.after, entry.stateBefore) = (.init(), .init(), .block(blockBefore))
        }
        self.audit.append(entry)
        self.steering[place] = steering
        // Operators act seldom: a good moment to drop what has expired anywhere.
        self.steering = self.steering.filter { !$0.value.inForce(at: wall).isEmpty }
        self.versions = self.versions.filter { self.steering[$0.key] != nil || $0.value.since + Audit.memory > wall }
        return changes ? .applied(version: version) : .unchanged(version: version)
    }

    /// Whether a change finds something to change.
    private func moves(_ change: OperatorChange, _ steering: Steering, of key: CounterKey, at now: Int64) -> Bool {
        switch change {
        case .override, .block: return true
        case .clearOverride(let kind): return steering.quantities.only(kind) != KindAmounts()
        case .unblock: return steering.isBlocked
        case .reset(let kind):
            let used = self.usage(of: key, at: now).only(kind)
            let tokens = kind == nil || kind == .tokensPerDay ? self.account(key)?.tokens : nil
            return used[.requestsPerMinute] ?? 0 > 0 || used[.concurrentRequests] ?? 0 > 0 || tokens?.isEmpty == false
        }
    }

    func steering(of key: CounterKey, at time: WallTime) -> VersionedSteering {
        let place = AccountKey(key.scope, key.id)
        return VersionedSteering(
            steering: self.steering[place]?.inForce(at: time) ?? Steering(),
            version: self.version(at: place))
    }

    mutating func dropLeases(
        of key: CounterKey, request: RequestID?, by order: OperatorOrder, at moment: (now: Int64, wall: WallTime)
    ) -> LeaseDrop {
        let (now, wall) = moment
        let place = AccountKey(key.scope, key.id)
        if let current = self.conflict(at: place, order) { return .conflict(current: current) }
        let before = self.usage(of: key, at: now).only(.concurrentRequests)
        let count = self.dropLeases(of: key, request: request)
        let version = count > 0 ? self.nextVersion(at: place, wall) : self.version(at: place)
        var entry = AuditEntry(.dropLeases, of: key, by: order, at: wall, version: version)
        entry.before = before
        entry.after = self.usage(of: key, at: now).only(.concurrentRequests)
        self.audit.append(entry)
        return .dropped(count: count, version: version)
    }

    /// The holder's version, when it is not the one that was expected.
    private func conflict(at place: AccountKey, _ order: OperatorOrder) -> Int? {
        let current = self.version(at: place)
        return order.expectedVersion.map { $0 == current } ?? true ? nil : current
    }

    private func version(at place: AccountKey) -> Int { self.versions[place]?.number ?? 0 }

    private mutating func nextVersion(at place: AccountKey, _ wall: WallTime) -> Int {
        let version = self.version(at: place) &+ 1
        self.versions[place] = (version, wall)
        return version
    }

    /// What stands in a holder's counters, of the newest day; zero where nothing is known.
    private func usage(of key: CounterKey, at now: Int64) -> KindAmounts {
        let account = self.account(key)
        account?.minute.expire(at: now)
        return KindAmounts(
            requestsPerMinute: account?.minute.count ?? 0, tokensPerDay: account?.tokens.newest.used ?? 0,
            concurrentRequests: account?.running ?? 0)
    }

    func leases(of key: CounterKey, at now: Int64) -> [LeaseRecord] {
        self.running(in: key).map { record in
            LeaseRecord(
                request: record.request, ageSeconds: Int((now &- record.startedAt) / 1_000_000_000),
                expiresInSeconds: LimitDecision.seconds(record.leaseEndsAt &- now))
        }
    }

    private func dropLeases(of key: CounterKey, request: RequestID?) -> Int {
        let records = self.running(in: key).filter { request == nil || $0.request == request }
        for record in records { record.leave(key.scope) }
        return records.count
    }

    /// Operators ask for this, no request does: it walks over the tenant's asks, oldest first.
    private func running(in key: CounterKey) -> [Record] {
        guard let account = self.account(key) else { return [] }
        var found: [Record] = []
        self.records.forEach { record in
            if record.runs[key.scope] && record.accounts[key.scope] === account { found.append(record) }
        }
        return found.sorted { $0.sequence < $1.sequence }
    }

    private mutating func reset(_ key: CounterKey, _ kind: LimitKind?) {
        guard let account = self.account(key) else { return }
        if kind == nil || kind == .requestsPerMinute { account.minute.clear() }
        if kind == nil || kind == .tokensPerDay {
            account.tokens.clear()
            account.resetAfter = self.sequence
        }
        if kind == nil || kind == .concurrentRequests { _ = self.dropLeases(of: key, request: nil) }
    }

    private func steering(of scope: LimitScope, _ caller: QuotaCaller, at time: WallTime) -> Steering? {
        let key =
            switch scope {
            case .subject: AccountKey(.subject, caller.subject.bytes)
            case .tenant: self.own.key
            case .address: AccountKey(.address, caller.address)
            }
        return self.steering[key]?.inForce(at: time)
    }
}
