import Configuration
import EventLoops
import Gateway
import GatewayTypes
import Observability
import Quota
import RedisClient
import Synchronization

/// The store of the running gateway: one view of it for each loop, and what keeps it connected.
final class CounterStore: Sendable {
    /// By the index of the loop.
    let stores: [any QuotaStore]
    /// What idempotency keys stand for, by the index of the loop.
    let keys: [any KeyBook]
    /// Who lives among those that share the store, by the index of the loop; nil where it is not shared.
    let instances: [(any InstanceBook)?]
    /// Questions of this process; other instances find it by their identifiers where the store is shared.
    let questionBoard: QuestionBoard
    /// Counts alone, for limits of stance `local`, while the store does not answer.
    let local: MemoryStore
    let outage: Outage
    private let redisStores: [RedisStore]
    private let isLeaving = Atomic(false)
    private let firstAnswer = Mutex(FirstAnswer(start: SystemClock().monotonicTime()))
    private let clients: [Redis]
    private let subscriber: RedisSubscriber?
    /// What all of them log in with; nil in memory.
    private let settings: RedisSettings?

    init(
        _ settings: StoreSettings, _ questions: QuestionSettings, file: String, group: EventLoopGroup,
        metrics: MetricsRegistry,
        operations: OperationLog
    ) throws(ConfigurationFailure) {
        let clock = SystemClock()
        let local = MemoryStore(clock: clock)
        self.local = local
        guard case .redis(let redis) = settings else {
            self.stores = group.loops.map { _ in local }
            let keys = MemoryKeyBook(clock: clock, mostOfTenant: questions.tenantKeys)
            self.keys = group.loops.map { _ in keys }
            self.instances = group.loops.map { _ in nil }
            self.questionBoard = QuestionBoard()
            self.redisStores = []
            self.clients = []
            self.subscriber = nil
            self.settings = nil
            self.outage = Outage()
            return
        }
        let settings = try StoreBuilder(file: file).redis(redis)
        self.settings = settings
        let feed = ChangeFeed()
        let isCluster = if case .cluster = settings.topology { true } else { false }
        let clients = group.loops.map { Redis(settings, loop: $0) }
        let stores = zip(group.loops, clients).map { loop, client in
            let shard = metrics.shards[loop.index]
            let runner = RedisRunner(client, clock: clock) { script, span in
                shard.storeAnswered(script.operation, after: span)
            }
            return RedisStore(loop: loop, runner: runner, feed: feed, isCluster: isCluster) { degradation in
                Self.tell(degradation, of: loop, operations)
            }
        }
        self.clients = clients
        self.redisStores = stores
        self.stores = stores
        self.keys = stores
        self.instances = stores
        self.questionBoard = QuestionBoard(instance: UInt32.random(in: .min ... .max))
        self.outage = Outage(expectedInstances: redis.instances)
        self.subscriber = RedisSubscriber(settings, channels: [ChangeFeed.channel], loop: group.loops[0]) { event in
            switch event {
            case .established: feed.established()
            case .message: feed.changed()
            case .lost: feed.lost()
            }
        }
    }

    private static func tell(_ degradation: StoreHealth.Degradation?, of loop: EventLoop, _ operations: OperationLog) {
        guard let degradation else { return operations.info("store answers again", [.int("loop", loop.index)]) }
        var fields: [LogField] = [.int("loop", loop.index), .label("reason", degradation.reason)]
        if let trouble = degradation.trouble {
            fields += [.label("detail", trouble), .configuration("address", trouble.address)]
        }
        operations.error("store does not answer; each limit's stance decides", fields)
    }

    /// Takes users and passwords of a new configuration, for connections that are made from now on.
    func takeLogins(of settings: StoreSettings) {
        guard let own = self.settings, case .redis(let redis) = settings else { return }
        let logins = StoreBuilder.logins(redis)
        own.login.change(to: logins.store)
        own.sentinelLogin.change(to: logins.sentinels)
    }

    /// Keeps the connections until the task is cancelled.
    func run() async {
        await withTaskGroup { tasks in
            for client in self.clients { tasks.addTask(executorPreference: client.loop) { await client.run() } }
            if let subscriber = self.subscriber { tasks.addTask { await subscriber.run() } }
        }
    }

    /// Says again and again that this instance lives, until the task is cancelled. On the first loop.
    ///
    /// - Parameter address: where others reach it; empty where it can't be reached.
    func keepRegistered(at address: ByteString) async {
        guard let instance = self.questionBoard.instance, let store = self.redisStores.first else { return }
        while !Task.isCancelled, !self.isLeaving.load(ordering: .relaxed) {
            // What fails is tried again soon: others take an instance for gone when its word is too old.
            let isDone = (try? await store.register(instance, at: address, lifetime: .seconds(30))) != nil
            await store.loop.sleep(for: isDone ? .seconds(10) : .seconds(1))
        }
    }

    /// Says that this instance lives no more, so that others need not wait for its lease to run out.
    func leave() async {
        guard let instance = self.questionBoard.instance, let store = self.redisStores.first else { return }
        self.isLeaving.store(true, ordering: .relaxed)
        await withTaskGroup { tasks in
            tasks.addTask(executorPreference: store.loop) {
                // A store that is away forgets it by itself.
                try? await store.register(instance, at: "", lifetime: .milliseconds(1))
            }
        }
    }

    /// Why the store does not answer, and since when; nil while it does.
    var degradation: StoreHealth.Degradation? { self.redisStores.lazy.compactMap { $0.health.degraded }.first }

    /// Whether this instance should take no traffic yet, since the store has not answered since the start.
    func isAwaited(by snapshot: GatewaySnapshot) -> Bool {
        guard !self.redisStores.isEmpty else { return false }
        let health = self.redisStores.map(\.health)
        let canServeAlone = snapshot.tenants.values.contains { tenant in
            tenant.plans.values.contains { self.outage.localLimits($0.limits) != nil }
        }
        return self.firstAnswer.withLock { answer in
            answer.isAwaited(
                hasAnswered: health.contains { $0.answers > 0 }, failure: self.degradation?.reason,
                canServeAlone: canServeAlone, at: SystemClock().monotonicTime())
        }
    }

    /// Brings the gauges of every loop up to date.
    func sample(_ loops: [GatewayLoop], labels: LabelTable, background: MetricsShard) {
        background.questionsSampled(count: self.questionBoard.keptCount, bytes: self.questionBoard.heldBytes)
        for loop in loops {
            let counts = loop.gate.counts
            var sample = QuotaSample()
            sample.leases = counts.livingLeases
            sample.leaked = counts.leakedReservations
            sample.lostLeases = counts.lostLeases
            sample.admittedWithoutStore = counts.admittedWithoutStore
            sample.failures = counts.failures.map { (labels.intern(ByteString($0.key.metricLabel)), $0.value) }
            if self.redisStores.indices.contains(loop.loop.index) {
                let health = self.redisStores[loop.loop.index].health
                sample.isDegraded = health.degraded != nil
                sample.waitingSettlements = health.waitingSettlements
                sample.droppedSettlements = health.droppedSettlements
                sample.failures = health.failures.map { (labels.intern(ByteString($0.key.metricLabel)), $0.value) }
            }
            loop.metrics.quotaSampled(sample)
        }
    }
}

extension QuotaScript {
    fileprivate var operation: StoreOperation {
        switch self {
        case .admit: .admit
        case .settle: .settle
        case .renew: .renew
        case .look, .steering, .leases, .audit, .orders, .locate: .read
        case .steer, .revise, .handOver, .claim, .conclude, .register: .change
        }
    }
}
