package import GatewayTypes
import Synchronization

/// The embedded store: exact over all threads of one process, empty after a restart.
///
/// Never suspends and never fails. Tenants are spread over shards by hash, each behind its own lock, so that tenants
/// do not wait for each other while all limits of one tenant stay one decision. Minutes and leases run on the
/// monotonic clock, days on the calendar clock. What it remembers is bounded as `TenantBook` says.
package final class MemoryStore: QuotaStore {
    /// Guarded by the lock around it.
    private struct Books {
        var byTenant: [TenantID: Book] = [:]
        /// The newest instant seen, so that time never falls within the shard, in nanoseconds.
        var now: Int64 = .min

        /// The book that was asked for last; mostly it is the next one too.
        private var last: Book?

        mutating func book(_ tenant: TenantID) -> Book {
            if let last = self.last, last.id.bytes.hasSameBytes(as: tenant.bytes) { return last }
            let book = self.byTenant[tenant] ?? Book(tenant)
            self.byTenant[tenant] = book
            self.last = book
            return book
        }

        mutating func forget(_ tenant: TenantID) {
            self.byTenant[tenant] = nil
            self.last = nil
        }
    }

    /// Keeps a tenant's book in its place while its fields change.
    private final class Book {
        let id: TenantID
        @exclusivity(unchecked) var value = TenantBook()

        init(_ id: TenantID) { self.id = id }
    }

    private final class Shard: Sendable {
        let books = Mutex(Books())
    }

    private let shards: [Shard]
    private let clock: any GatewayTypes.Clock
    private let changes = Atomic<UInt64>(0)

    package init(clock: any GatewayTypes.Clock) {
        self.clock = clock
        self.shards = (0..<16).map { _ in Shard() }
    }

    package func admit(_ ask: QuotaAsk) -> Admission {
        let wall = self.clock.wallTime()
        let day = ask.calendar.day(at: wall)
        return self.withBook(ask.caller.tenant) { book, now in
            book.admit(ask, at: Moment(monotonic: now, wall: wall, day: day))
        }
    }

    @discardableResult
    package func settle(_ settlement: Settlement) -> SettlementResult {
        self.withBook(settlement.caller.tenant) { book, now in
            book.advance(to: now)
            return book.settle(settlement, at: now)
        }
    }

    package func submit(_ settlement: Settlement) { self.settle(settlement) }

    package func renew(_ leases: [Lease]) -> [RequestID] {
        let lost = leases.filter { lease in
            self.withBook(lease.caller.tenant) { book, now in
                book.advance(to: now)
                return !book.renew(lease.request, at: now)
            }
        }
        return lost.map(\.request)
    }

    package func look(_ question: QuotaQuestion) -> Standing {
        let wall = self.clock.wallTime()
        let day = question.calendar.day(at: wall)
        return self.withBook(question.caller.tenant) { book, now in
            book.look(question, at: Moment(monotonic: now, wall: wall, day: day))
        }
    }

    @discardableResult
    package func apply(_ change: OperatorChange, to key: CounterKey, by order: OperatorOrder) -> ChangeResult {
        let wall = self.clock.wallTime()
        let result = self.withBook(key.tenant) { book, now in
            book.advance(to: now)
            return book.apply(change, to: key, by: order, at: (now, wall))
        }
        if case .conflict = result { return result }
        self.changes.wrappingAdd(1, ordering: .releasing)
        return result
    }

    package func steering(of key: CounterKey) -> VersionedSteering {
        let wall = self.clock.wallTime()
        return self.withBook(key.tenant) { book, _ in book.steering(of: key, at: wall) }
    }

    package func audit(_ question: AuditQuestion) -> AuditPage {
        let wall = self.clock.wallTime()
        return self.withBook(question.tenant) { book, _ in
            book.audit.expire(at: wall)
            return book.audit.page(question)
        }
    }

    package func leases(of key: CounterKey) -> [LeaseRecord] {
        self.withBook(key.tenant) { book, now in
            book.advance(to: now)
            return book.leases(of: key, at: now)
        }
    }

    package func dropLeases(of key: CounterKey, request: RequestID?, by order: OperatorOrder) -> LeaseDrop {
        let wall = self.clock.wallTime()
        let result = self.withBook(key.tenant) { book, now in
            book.advance(to: now)
            return book.dropLeases(of: key, request: request, by: order, at: (now, wall))
        }
        if case .dropped = result { self.changes.wrappingAdd(1, ordering: .releasing) }
        return result
    }

    @discardableResult
    package func order(
        _ order: StandingOrder, in tenant: TenantID, by operator: OperatorOrder
    ) -> OrderResult {
        let wall = self.clock.wallTime()
        let result = self.withBook(tenant) { book, _ in book.order(order, of: tenant, by: `operator`, at: wall) }
        if case .applied = result { self.changes.wrappingAdd(1, ordering: .releasing) }
        return result
    }

    package func orders(_ book: OrderBook, of tenant: TenantID, since version: Int) -> [StandingOrder] {
        self.withBook(tenant) { own, _ in own.orders.news(book, since: version) }
    }

    package func handOver(_ handOver: HandOver) -> HandOverResult {
        let wall = self.clock.wallTime()
        let day = handOver.calendar.day(at: wall)
        let result = self.withBook(handOver.tenant) { book, now in
            book.handOver(handOver, at: Moment(monotonic: now, wall: wall, day: day))
        }
        if case .charged = result { self.changes.wrappingAdd(1, ordering: .releasing) }
        return result
    }

    package var generation: UInt64 { self.changes.load(ordering: .acquiring) }

    /// Every change is seen by `generation` at once; the bound is for a calendar clock that is turned forward.
    package var refusalMemory: TimeSpan { .seconds(60) }

    /// Lets idle subjects and silent tenants go; for a timer, since a tenant that is asked sweeps itself.
    /// - Parameter steps: accounts to look at in each tenant.
    package func sweep(steps: Int = 256) {
        let wall = self.clock.wallTime()
        for shard in self.shards {
            shard.books.withLock { books in
                let now = self.advance(&books)
                for (tenant, book) in books.byTenant {
                    if book.value.sweep(steps: steps, at: now, wall: wall) { books.forget(tenant) }
                }
            }
        }
    }

    /// Subjects and addresses that are remembered; for metrics and tests.
    package var accountCount: Int {
        self.shards.reduce(0) { sum, shard in
            sum &+ shard.books.withLock { books in books.byTenant.values.reduce(0) { $0 &+ $1.value.accounts.count } }
        }
    }

    private func withBook<Result: Sendable>(
        _ tenant: TenantID, _ body: (inout TenantBook, _ now: Int64) -> Result
    ) -> Result {
        let shard = self.shards[Self.shardIndex(of: tenant) & (self.shards.count &- 1)]
        return shard.books.withLock { books in
            let now = self.advance(&books)
            return body(&books.book(tenant).value, now)
        }
    }

    /// Tenants come from the configuration, so a hash that could be guessed does no harm.
    private static func shardIndex(of tenant: TenantID) -> Int {
        tenant.bytes.utf8.withContiguousStorageIfAvailable { bytes in
            var hash = bytes.count
            for index in 0..<min(bytes.count, 32) { hash = hash &* 31 &+ Int(bytes[index]) }
            return hash
        } ?? 0
    }

    private func advance(_ books: inout Books) -> Int64 {
        books.now = max(books.now, self.clock.monotonicTime().nanoseconds)
        return books.now
    }
}
