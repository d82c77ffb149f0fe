package import EventLoops
package import GatewayTypes
package import Quota

/// Keeps a process' board of orders up to date: soon after a change was heard of, and every second in any case.
package struct OrderKeeper: Sendable {
    package let board: OrderBoard
    private let store: any QuotaStore
    private let loop: EventLoop
    private let snapshots: SnapshotStore

    /// Between two looks at whether something has changed.
    private static let glance = TimeSpan.milliseconds(100)
    /// Longest time without asking the store.
    private static let period = TimeSpan.seconds(1)
    /// Versions are times, and a server of the store that took over may be behind the one before it: orders of this
    /// long are read again.
    private static let overlap = TimeSpan.seconds(5)
    /// Between two walks over all orders for those that are over.
    private static let expiry = TimeSpan.seconds(30)

    /// - Parameter store: as the loop sees it.
    package init(board: OrderBoard, store: any QuotaStore, loop: EventLoop, snapshots: SnapshotStore) {
        self.board = board
        self.store = store
        self.loop = loop
        self.snapshots = snapshots
    }

    /// Until the task is cancelled. On the loop.
    package func run() async {
        var seen: UInt64?
        var due = self.loop.clock.monotonicTime()
        var expiry = due
        while !Task.isCancelled {
            // Read before the orders, so that a change in between is looked for again.
            let generation = self.store.generation
            let now = self.loop.clock.monotonicTime()
            if generation != seen || now >= due {
                due = now + Self.period
                if await self.refresh(all: self.snapshots.current.tenants.keys) { seen = generation }
            }
            if now >= expiry {
                expiry = now + Self.expiry
                self.board.expire(at: self.loop.clock.wallTime())
            }
            await self.loop.sleep(for: Self.glance)
        }
    }

    /// Asks for what is new of every tenant; false when that of some is not known.
    package func refresh(all tenants: some Sequence<TenantID>) async -> Bool {
        var isWhole = true
        for tenant in tenants {
            do throws(QuotaFailure) {
                try await self.refresh(tenant)
            } catch {
                // What is known goes on holding, and in a cluster others are well; the store's state is told elsewhere.
                isWhole = false
            }
        }
        if isWhole { self.board.markLoaded() }
        return isWhole
    }

    /// Asks for what is new of one tenant.
    package func refresh(_ tenant: TenantID) async throws(QuotaFailure) {
        for book in OrderBook.allCases { try await Self.refresh(book, of: tenant, self.board, self.store) }
    }

    /// As above, from any loop with its own view of the store.
    package static func refresh(
        _ book: OrderBook, of tenant: TenantID, _ board: OrderBoard, _ store: any QuotaStore
    ) async throws(QuotaFailure) {
        var since = max(0, board.version(book, of: tenant) &- Int(self.overlap.nanoseconds / 1000))
        while true {
            let news = try await store.orders(book, of: tenant, since: since)
            board.take(news, book, of: tenant)
            guard news.count >= StandingOrder.mostOnPage, let last = news.last, last.version > since else { return }
            since = last.version
        }
    }
}
