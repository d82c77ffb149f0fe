import GatewayTypes

/// The orders of one tenant: both books.
struct OrderShelf {
    private var operators: [StandingOrder.Target: StandingOrder] = [:]
    private var guests: [StandingOrder.Target: StandingOrder] = [:]
    /// Of the newest order; a time, as in a store that others share.
    private var newest = 0

    var isEmpty: Bool { self.operators.isEmpty && self.guests.isEmpty }

    /// Gives or lifts an order of an operator.
    mutating func revise(_ order: StandingOrder, by operator: OperatorOrder, at wall: WallTime) -> OrderResult {
        self.expire(at: wall)
        let old = self.operators[order.target].flatMap { $0.isInForce(at: wall) ? $0 : nil }
        if order.isLifted, old == nil { return .unknown }
        if self.operators[order.target] == nil, self.operators.count >= StandingOrder.mostOfOperators { return .full }
        var order = order
        order.at = wall
        order.actor = `operator`.actor
        order.reason = `operator`.reason
        if order.isLifted {
            order.issuedBefore = nil
            order.plan = nil
            order.expiresAt = wall + StandingOrder.afterlife
        } else if let old, let before = order.issuedBefore {
            order.issuedBefore = max(before, old.issuedBefore ?? before)
            if let end = order.expiresAt { order.expiresAt = old.expiresAt.map { max($0, end) } }
        }
        order.version = self.nextVersion(wall)
        self.operators[order.target] = order
        return .applied(order)
    }

    /// Closes a guest.
    mutating func close(_ guest: SubjectID, until end: WallTime, at wall: WallTime) {
        self.expire(at: wall)
        let target = StandingOrder.Target.guest(guest)
        self.guests[target] = StandingOrder(
            target, issuedBefore: wall, expiresAt: end, at: wall, version: self.nextVersion(wall))
        guard self.guests.count > StandingOrder.mostOfGuests,
            let oldest = self.guests.min(by: { $0.value.version < $1.value.version })
        else { return }
        self.guests[oldest.key] = nil
    }

    func news(_ book: OrderBook, since version: Int) -> [StandingOrder] {
        guard version < self.newest else { return [] }
        let orders = book == .operators ? self.operators : self.guests
        let news = orders.values.filter { $0.version > version }.sorted { $0.version < $1.version }
        return Array(news.prefix(StandingOrder.mostOnPage))
    }

    /// Forgets what is over.
    mutating func expire(at wall: WallTime) {
        func isOver(_ order: StandingOrder) -> Bool { order.expiresAt.map { $0 <= wall } ?? false }
        if self.operators.values.contains(where: isOver) { self.operators = self.operators.filter { !isOver($1) } }
        if self.guests.values.contains(where: isOver) { self.guests = self.guests.filter { !isOver($1) } }
    }

    private mutating func nextVersion(_ wall: WallTime) -> Int {
        self.newest = max(Int(wall.microseconds), self.newest &+ 1)
        return self.newest
    }
}

/// What guests have handed over.
struct HandedOver {
    private struct Claim {
        var account: SubjectID
        var tokens: Int
    }

    private struct Guest {
        var claims: [ByteString: Claim] = [:]
        /// The newest day and how much of it was handed over.
        var day = 0
        var tokens = 0
        var forgetAt: WallTime
    }

    private var guests: [SubjectID: Guest] = [:]

    var isEmpty: Bool { self.guests.isEmpty }

    /// Of an earlier hand-over of this token; nil when there was none.
    func earlier(_ handOver: HandOver) -> HandOverResult? {
        guard let claim = self.guests[handOver.guest]?.claims[handOver.token] else { return nil }
        return claim.account == handOver.account ? .repeated(claim.tokens) : .taken
    }

    /// Takes note of a hand-over; answers what is to be charged.
    mutating func take(_ handOver: HandOver, used: Int, day: LocalDay) -> Int {
        var guest = self.guests[handOver.guest] ?? Guest(forgetAt: handOver.forgetAt)
        if guest.day != day.number { (guest.day, guest.tokens) = (day.number, 0) }
        let tokens = max(0, used &- guest.tokens)
        guest.tokens &+= tokens
        guest.claims[handOver.token] = Claim(account: handOver.account, tokens: tokens)
        guest.forgetAt = max(guest.forgetAt, handOver.forgetAt, WallTime(seconds: day.endsAt &+ 7200))
        self.guests[handOver.guest] = guest
        return tokens
    }

    mutating func expire(at wall: WallTime) {
        guard self.guests.values.contains(where: { $0.forgetAt <= wall }) else { return }
        self.guests = self.guests.filter { $1.forgetAt > wall }
    }
}

extension TenantBook {
    mutating func order(
        _ order: StandingOrder, of tenant: TenantID, by operator: OperatorOrder, at wall: WallTime
    ) -> OrderResult {
        let result = self.orders.revise(order, by: `operator`, at: wall)
        guard case .applied(let given) = result else { return result }
        var entry = AuditEntry(
            order.action, of: order.key(in: tenant), by: `operator`, at: wall, version: given.version)
        entry.expiresAt = order.isLifted ? nil : order.expiresAt
        entry.object = order.object
        self.audit.append(entry)
        return result
    }

    mutating func handOver(_ handOver: HandOver, at moment: Moment) -> HandOverResult {
        self.advance(to: moment)
        if let earlier = self.handedOver.earlier(handOver) { return earlier }
        guard !handOver.onlyRepeats else { return .refused }
        let caller = QuotaCaller(tenant: handOver.tenant, subject: handOver.guest)
        let used = self.account(.subject, of: caller)?.tokens.day(moment.day.number).used ?? 0
        let tokens = self.handedOver.take(handOver, used: used, day: moment.day)
        if tokens > 0 {
            let account = QuotaCaller(tenant: handOver.tenant, subject: handOver.account)
            self.openAccount(.subject, of: account).tokens.charge(tokens, on: moment.day.number)
        }
        self.orders.close(handOver.guest, until: handOver.forgetAt, at: moment.wall)
        return .charged(tokens)
    }
}
