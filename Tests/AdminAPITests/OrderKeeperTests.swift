import Authentication
import EventLoops
import Gateway
import GatewayTypes
import Observability
import Quota
import Synchronization
import Testing

@Suite struct OrderKeeperTests {
    @Test func `A tenant whose part of the store is away keeps nobody from hearing of the others' orders`() async throws
    {
        let store = AwayStore(.notServing)
        let board = OrderBoard()
        let snapshots = SnapshotStore(
            GatewaySnapshot(
                generation: 1, authenticator: try .init(.init(issuers: [])), tenants: [], providers: [],
                relay: RelayConfiguration(), labels: LabelTable()))
        let keeper = OrderKeeper(board: board, store: store, loop: try EventLoop(index: 0), snapshots: snapshots)
        let tenants: Set<TenantID> = ["a", "b", "c", "d"]
        #expect(await keeper.refresh(all: tenants) == false)
        #expect(store.asked.withLock { $0 } == tenants)
    }
}
