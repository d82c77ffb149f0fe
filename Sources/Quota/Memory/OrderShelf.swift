import GatewayTypes

/// The orders of one tenant: both books.
struct OrderShelf {
    private var operators: [StandingOrder.Target: StandingOrder] = [:]
    private var guests: [StandingOrder.Target: StandingOrder] = [:]
    /// Of the newest order; a time, as in a store that others share.
    private var newest = 0

    var isEmpty: Bool { self.operators.isEmpty && self.guests.isEmpty }

    /// The plan that an operator has given.
    func plan(of target: StandingOrder.Target, at wall: WallTime) -> PlanName? {
        self.operators[target].flatMap { $0.isInForce(at: wall) ? $0.plan : nil }
    }

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

    /// One time when an account has taken over what a guest had used and reserved.
    struct Taking {
        /// Its counters; those that are made anew once they were reset and forgotten have nothing to be corrected.
        var account: Account
        /// Asks that were admitted before have an earlier one.
        var sequence: UInt64
        /// That of the guest's last ask whose reservation was wiped out by then.
        var resetAfter: UInt64
        var day: Int
    }

    private struct Guest {
        var claims: [ByteString: Claim] = [:]
        /// The last few, oldest first.
        var takings: [Taking] = []
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

    /// Takes note of which counters have taken over what the guest's asks had reserved.
    mutating func note(_ taking: Taking, of guest: SubjectID) {
        guard self.guests[guest] != nil else { return }
        self.guests[guest]?.takings.append(taking)
        if let count = self.guests[guest]?.takings.count, count > 16 { self.guests[guest]?.takings.removeFirst() }
    }

    /// Which taking has moved the reservation of a guest's ask.
    func taking(of guest: SubjectID, _ record: Record) -> Taking? {
        let taking = self.guests[guest]?.takings.first { $0.sequence > record.sequence }
        guard let taking, taking.day == record.day.number, taking.resetAfter < record.sequence else { return nil }
        return taking
    }

    /// An ask took more or less than what it had reserved when it was handed over.
    mutating func correct(_ guest: SubjectID, on day: Int, by tokens: Int) {
        guard self.guests[guest]?.day == day else { return }
        self.guests[guest]?.tokens &+= tokens
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
        let planBefore = self.orders.plan(of: order.target, at: wall)
        let result = self.orders.revise(order, by: `operator`, at: wall)
        guard case .applied(let given) = result else { return result }
        var entry = AuditEntry(
            order.action, of: order.key(in: tenant), by: `operator`, at: wall, version: given.version)
        entry.expiresAt = order.isLifted ? nil : order.expiresAt
        entry.object = order.object
        if case .plan = order.target { entry.stateBefore = .plan(planBefore) }
        self.audit.append(entry)
        return result
    }

    mutating func handOver(_ handOver: HandOver, at moment: Moment) -> HandOverResult {
        self.advance(to: moment)
        if let earlier = self.handedOver.earlier(handOver) { return earlier }
        guard !handOver.onlyRepeats else { return .refused }
        let caller = QuotaCaller(tenant: handOver.tenant, subject: handOver.guest)
        let guest = self.account(.subject, of: caller)
        let used = guest?.tokens.day(moment.day.number).used ?? 0
        let tokens = self.handedOver.take(handOver, used: used, day: moment.day)
        if tokens > 0 {
            let account = self.openAccount(
                .subject, of: QuotaCaller(tenant: handOver.tenant, subject: handOver.account))
            account.tokens.charge(tokens, on: moment.day.number)
            // A place in the order of its own: what was admitted before, and reset, was so before this.
            self.sequence &+= 1
            let taking = HandedOver.Taking(
                account: account, sequence: self.sequence, resetAfter: guest?.resetAfter ?? 0, day: moment.day.number)
            self.handedOver.note(taking, of: handOver.guest)
        }
        self.orders.close(handOver.guest, until: handOver.forgetAt, at: moment.wall)
        return .charged(tokens)
    }
}
