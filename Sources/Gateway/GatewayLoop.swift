package import Asking
import Authentication
package import EventLoops
import GatewayTypes
package import Observability
package import Quota

/// What one loop holds for the requests of its connections. On the loop, but for `gate` and `metrics`, which may be
/// read from anywhere.
package final class GatewayLoop: @unchecked Sendable {
    // Unchecked: `core`, `hops`, `tokens`, `words` and `keyEnds` are touched on the loop's thread only.
    package let loop: EventLoop
    package let gate: QuotaGate
    package let metrics: MetricsShard
    /// What operators and hand-overs have said of tokens and subjects; the process' own.
    package let board: OrderBoard
    /// Addresses whose authentications failed of late; the process' own.
    let failedCallers: FailedCallers
    /// Questions that can be found by their identifier; the process' own.
    package let questions: QuestionBoard
    /// What clients' idempotency keys stand for; the store's.
    package let keys: any KeyBook
    /// Who lives among the instances that share the store; nil for a process that is alone.
    let instances: (any InstanceBook)?
    /// Calls to the other instances; nil where there are none, or this one has no internal listener.
    let hops: HopClient?
    let core: AskingCore
    let operations: OperationLog?
    let tokens = TokenCache()
    let keyEnds = KeyEnds()
    private var words = RandomWords()

    /// - Parameters:
    ///   - calls: those of the process, so that providers' caps hold over all its loops.
    ///   - operations: told of what operators have to mend.
    /// - Returns: nil when the provider client can't be set up.
    package init?(
        loop: EventLoop, gate: QuotaGate, metrics: MetricsShard, board: OrderBoard = OrderBoard(),
        failedCallers: FailedCallers = FailedCallers(), calls: CallGates = CallGates(),
        questions: QuestionBoard = QuestionBoard(),
        keys: any KeyBook = MemoryKeyBook(), instances: (any InstanceBook)? = nil,
        hops: HopClient? = nil,
        operations: OperationLog? = nil
    ) {
        guard let core = AskingCore(loop: loop, gates: calls) else { return nil }
        self.operations = operations
        self.loop = loop
        self.gate = gate
        self.metrics = metrics
        self.core = core
        self.board = board
        self.questions = questions
        self.keys = keys
        self.instances = instances
        self.hops = hops
        self.failedCallers = failedCallers
    }

    /// A new identifier of an ask.
    func newID() -> RequestID { self.questions.newID(using: &self.words) }

    /// Keeps the leases of running asks alive until the task is cancelled, and tells the store what it has missed of
    /// keys. On the loop.
    package func renewLeases() async {
        while !Task.isCancelled {
            await self.loop.sleep(for: Lease.renewal)
            await self.gate.renewLeases()
            await self.keyEnds.tell(self.keys)
        }
    }
}
