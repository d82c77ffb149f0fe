import GatewayTypes

/// A bounded queue that serves tenants in turn, each tenant's own in the order of their coming. No clock, no lock.
///
/// When it is full, an ask of a tenant with few waiting takes the place of the last one of the tenant with most, so
/// that a flood of one tenant keeps nobody else out.
struct FairQueue<Element> {
    struct Ticket: Hashable, Sendable {
        fileprivate var tenant: TenantID
        fileprivate var number: UInt64
    }

    enum Entry {
        case waiting(Ticket)
        /// Waits in the place of this one, which has to go.
        case instead(of: Element, Ticket)
        case full
    }

    private struct Waiting {
        var number: UInt64
        var element: Element
    }

    private(set) var count = 0
    private var lanes: [TenantID: [Waiting]] = [:]
    /// Tenants with somebody waiting, the next to be served first.
    private var turns: [TenantID] = []
    private var lastNumber: UInt64 = 0

    mutating func enter(_ element: Element, of tenant: TenantID, atMost bound: Int) -> Entry {
        guard self.count >= bound else { return .waiting(self.append(element, to: tenant)) }
        let own = self.lanes[tenant]?.count ?? 0
        let greediest = self.lanes.max { $0.value.count < $1.value.count }
        guard let (other, lane) = greediest, lane.count > own &+ 1, let last = lane.last else { return .full }
        self.remove(Ticket(tenant: other, number: last.number))
        return .instead(of: last.element, self.append(element, to: tenant))
    }

    private mutating func append(_ element: Element, to tenant: TenantID) -> Ticket {
        self.lastNumber &+= 1
        self.count &+= 1
        if self.lanes[tenant] == nil { self.turns.append(tenant) }
        self.lanes[tenant, default: []].append(Waiting(number: self.lastNumber, element: element))
        return Ticket(tenant: tenant, number: self.lastNumber)
    }

    /// The next to be served; nil when nobody waits.
    mutating func next() -> Element? {
        guard let tenant = self.turns.first, let first = self.lanes[tenant]?.first else { return nil }
        self.remove(Ticket(tenant: tenant, number: first.number))
        if self.turns.first == tenant {
            self.turns.removeFirst()
            self.turns.append(tenant)
        }
        return first.element
    }

    /// Takes somebody out who waits no longer; false when they are not in the queue.
    @discardableResult
    mutating func remove(_ ticket: Ticket) -> Bool {
        guard let place = self.lanes[ticket.tenant]?.firstIndex(where: { $0.number == ticket.number }) else {
            return false
        }
        self.lanes[ticket.tenant]?.remove(at: place)
        self.count &-= 1
        if self.lanes[ticket.tenant]?.isEmpty == true {
            self.lanes[ticket.tenant] = nil
            self.turns.removeAll { $0 == ticket.tenant }
        }
        return true
    }
}
