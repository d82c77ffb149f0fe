import Authentication
package import GatewayTypes
package import Quota
import Synchronization

/// The standing orders that this process knows, for its loops to look at on every request.
///
/// One for the process: loops read it under a lock that is held for a look-up, and not even that while nothing is
/// known. What was heard goes on holding when the store is away.
package final class OrderBoard: RevocationChecking, Sendable {
    /// Guarded by the lock around it.
    private struct Tenant {
        var orders: [StandingOrder.Target: StandingOrder] = [:]
        var versions: [OrderBook: Int] = [:]
    }

    private let tenants = Mutex<[TenantID: Tenant]>([:])
    private let count = Atomic(0)
    private let loaded = Atomic(false)

    package init() {}

    /// Orders known.
    package var orderCount: Int { self.count.load(ordering: .relaxed) }

    /// Whether every tenant's orders were heard once.
    package var isLoaded: Bool { self.loaded.load(ordering: .acquiring) }

    package func markLoaded() { self.loaded.store(true, ordering: .releasing) }

    package func isRevoked(_ principal: Principal) -> Bool {
        guard self.count.load(ordering: .acquiring) > 0 else { return false }
        return self.tenants.withLock { tenants in
            guard let orders = tenants[principal.tenant]?.orders, !orders.isEmpty else { return false }
            if let id = principal.tokenID, orders[.token(id)] != nil { return true }
            if let id = principal.sessionID, orders[.session(id)] != nil { return true }
            let whole = orders[.subject(principal.subject)]
            if Self.revokes(whole, principal) { return true }
            return principal.isGuest && Self.revokes(orders[.guest(principal.subject)], principal)
        }
    }

    /// A token that does not say when it was issued may be any old one.
    private static func revokes(_ order: StandingOrder?, _ principal: Principal) -> Bool {
        guard let before = order?.issuedBefore else { return false }
        return principal.issuedAt.map { $0 < before } ?? true
    }

    /// The plan that an operator has given to a subject.
    package func plan(of subject: SubjectID, in tenant: TenantID, at now: WallTime) -> PlanName? {
        guard self.count.load(ordering: .acquiring) > 0 else { return nil }
        return self.tenants.withLock { tenants in
            guard let order = tenants[tenant]?.orders[.plan(subject)], order.isInForce(at: now) else { return nil }
            return order.plan
        }
    }

    /// The earliest `iat` with which a new token of a guest is not a revoked one; nil for any.
    package func earliestIssue(of guest: SubjectID, in tenant: TenantID) -> WallTime? {
        guard self.count.load(ordering: .acquiring) > 0 else { return nil }
        return self.tenants.withLock { tenants in
            let orders = tenants[tenant]?.orders
            let befores = [orders?[.subject(guest)]?.issuedBefore, orders?[.guest(guest)]?.issuedBefore]
            return befores.compactMap { $0 }.max()
        }
    }

    // MARK: What the store says

    /// The newest version heard of a book; 0 for none.
    func version(_ book: OrderBook, of tenant: TenantID) -> Int {
        self.tenants.withLock { $0[tenant]?.versions[book] ?? 0 }
    }

    /// Takes over what the store told; nothing older than what is known of the same target.
    package func take(_ news: [StandingOrder], _ book: OrderBook, of tenant: TenantID) {
        guard let newest = news.last else { return }
        self.tenants.withLock { tenants in
            var own = tenants[tenant] ?? Tenant()
            tenants[tenant] = nil
            for order in news {
                if let known = own.orders[order.target], known.version > order.version { continue }
                let change = (order.isLifted ? 0 : 1) - (own.orders[order.target] == nil ? 0 : 1)
                own.orders[order.target] = order.isLifted ? nil : order
                self.count.add(change, ordering: .acquiringAndReleasing)
            }
            own.versions[book] = max(own.versions[book] ?? 0, newest.version)
            tenants[tenant] = own
        }
    }

    /// Forgets what is over: the tokens concerned have expired.
    func expire(at now: WallTime) {
        guard self.count.load(ordering: .relaxed) > 0 else { return }
        self.tenants.withLock { tenants in
            for (tenant, own) in tenants {
                let over = own.orders.values.filter { !$0.isInForce(at: now) }
                for order in over { tenants[tenant]?.orders[order.target] = nil }
                self.count.subtract(over.count, ordering: .acquiringAndReleasing)
            }
        }
    }
}
