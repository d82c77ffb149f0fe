import AdminAPI
import Asking
import Authentication
import Configuration
import EventLoops
import Gateway
import GatewayTypes
import HTTPCodec
import HTTPServer
import Observability
import Quota
import Synchronization

/// The running gateway: its loops, its listeners and what they share, from start to stop.
final class GatewayProcess: Sendable {
    let group: EventLoopGroup
    let document: ConfigurationDocument
    let operations: OperationLog
    let accessLog: AccessLog
    let metrics: MetricsRegistry
    let fetcher: KeySetFetcher
    let snapshots: SnapshotStore
    let readiness: ServingState
    let loops: [GatewayLoop]
    let store: CounterStore
    let board = OrderBoard()
    let reloader: Reloader
    let api: WebServer
    let admin: WebServer?
    /// For other instances; nil where hops are not configured.
    let hop: WebServer?
    let source: ConfigurationSource
    private let clock = SystemClock()

    /// Where the listeners are, for people.
    var apiAddress: String { Self.spell(self.document.listeners.api, port: self.api.port) }
    var adminAddress: String? {
        self.admin.map { Self.spell(self.document.listeners.admin, port: $0.port) }
    }

    /// Where other instances are told that they reach this one; empty where they can't.
    private var hopAddress: ByteString {
        guard let hop = self.hop, let settings = self.document.listeners.hop else { return "" }
        return ByteString(settings.advertised ?? Self.spell(settings.listener, port: hop.port))
    }

    private static func spell(_ address: ListenerAddress?, port: Int) -> String {
        var address = address ?? ListenerAddress(address: "127.0.0.1", port: 0)
        address.port = UInt16(clamping: port)
        return address.description
    }

    /// Binds everything; requests are answered once `run` is called.
    init(source: ConfigurationSource, loaded: LoadedConfiguration) throws(StartFailure) {
        let document = loaded.document
        self.source = source
        self.document = document
        try? ProcessHardening.apply()
        do {
            self.group = try Self.group(count: document.loops)
            self.operations = try Self.operationLog()
            self.metrics = MetricsRegistry(
                loops: self.group.loops.count, version: Program.version, startTime: SystemClock().wallTime())
            self.accessLog = try Self.accessLog(document.log.access, self.metrics, self.operations)
            let operations = self.operations
            self.fetcher = KeySetFetcher(
                loop: self.group.loops[0], stateDirectory: document.identity.stateDirectory
            ) { IdentityMetrics.tell($0, operations) }
            let builder = SnapshotBuilder(
                file: source.name, labels: self.metrics.labels, now: SystemClock().wallTime(), fetcher: self.fetcher,
                revocations: self.board)
            let snapshot = try builder.snapshot(of: document, generation: 1)
            self.snapshots = SnapshotStore(snapshot)
            let desk = AdminDesk(document, snapshot)
            let store = try CounterStore(
                document.store, document.questions, file: source.name, group: self.group, metrics: self.metrics,
                operations: self.operations)
            self.store = store
            self.reloader = Reloader(
                source: source, document: document, snapshots: self.snapshots, desk: desk, fetcher: self.fetcher,
                board: self.board, store: store, accessLog: self.accessLog, operations: self.operations,
                metrics: self.metrics)
            let snapshots = self.snapshots
            self.readiness = ServingState(
                snapshots: snapshots, isStoreAwaited: { store.isAwaited(by: snapshots.current) },
                storeDegradation: { store.degradation })
            self.loops = try Self.loops(
                self.group, store, self.metrics, self.board, self.operations,
                hops: document.listeners.hop != nil)
            let isDevelopment = source.isDevelopment
            self.api = try Self.apiServer(
                document, self.group, self.loops, self.snapshots, self.accessLog, isDevelopment: isDevelopment)
            let plane = Self.adminPlane(
                document, self.readiness, self.metrics, store, self.loops, desk, self.reloader, self.board,
                self.fetcher)
            let group = self.group
            self.admin = try document.listeners.admin.map {
                try Self.bind("admin", $0, group, document.http.adminServer, plane, isDevelopment: isDevelopment)
            }
            let hopPlane = HopPlane(loops: self.loops, snapshots: self.snapshots, accessLog: self.accessLog)
            self.hop = try document.listeners.hop.map {
                try Self.bind(
                    "internal", $0.listener, group, document.http.hopServer, hopPlane, isDevelopment: isDevelopment)
            }
        } catch let failure as StartFailure {
            throw failure
        } catch {
            throw StartFailure(String(describing: error))
        }
        self.metrics.background.snapshotApplied(generation: 1)
    }

    private static func loops(
        _ group: EventLoopGroup, _ store: CounterStore, _ metrics: MetricsRegistry, _ board: OrderBoard,
        _ operations: OperationLog, hops: Bool
    ) throws -> [GatewayLoop] {
        let (failedCallers, calls) = (FailedCallers(), CallGates())
        return try group.loops.map { loop in
            let gate = QuotaGate(
                store: store.stores[loop.index], local: store.local, outage: store.outage, clock: SystemClock())
            let hopClient = hops ? store.instances[loop.index].flatMap { HopClient(loop: loop, book: $0) } : nil
            let made = GatewayLoop(
                loop: loop, gate: gate, metrics: metrics.shards[loop.index], board: board,
                failedCallers: failedCallers, calls: calls, questions: store.questionBoard,
                keys: store.keys[loop.index], instances: store.instances[loop.index], hops: hopClient,
                operations: operations)
            guard let own = made else {
                throw StartFailure("the HTTP client cannot be set up")
            }
            return own
        }
    }

    private static func apiServer(
        _ document: ConfigurationDocument, _ group: EventLoopGroup, _ loops: [GatewayLoop],
        _ snapshots: SnapshotStore, _ accessLog: AccessLog, isDevelopment: Bool
    ) throws -> WebServer {
        guard let address = document.listeners.api else { throw StartFailure("listeners: there is no `api`") }
        let handler = DataPlane(loops: loops, snapshots: snapshots, accessLog: accessLog)
        return try self.bind("api", address, group, document.http.server, handler, isDevelopment: isDevelopment)
    }

    private static func adminPlane(
        _ document: ConfigurationDocument, _ readiness: ServingState, _ metrics: MetricsRegistry,
        _ store: CounterStore, _ loops: [GatewayLoop], _ desk: AdminDesk, _ reloader: Reloader, _ board: OrderBoard,
        _ fetcher: KeySetFetcher
    ) -> AdminPlane {
        let steering = AdminSteering(
            storeKind: document.store.kind, store: { store.stores[$0] }, view: { desk.view },
            reload: { await reloader.reloadElsewhere(by: $0) },
            givenPlan: { tenant, subject in board.plan(of: subject, in: tenant, at: SystemClock().wallTime()) },
            orderGiven: { loop, tenant in
                // A failure leaves it to the keeper, which asks again and again.
                try? await OrderKeeper.refresh(.operators, of: tenant, board, store.stores[loop])
            })
        return AdminPlane(readiness: readiness, metrics: metrics, steering: steering) {
            store.sample(loops, labels: metrics.labels, background: metrics.background)
            IdentityMetrics.sample(fetcher, board, metrics)
            metrics.background.connectionsSampled(
                loops.reduce(0) { $0 + $1.loop.connectionCount.load(ordering: .relaxed) })
        }
    }

    private static func bind(
        _ key: String, _ address: ListenerAddress, _ group: EventLoopGroup, _ configuration: HTTPServerConfiguration,
        _ handler: any HTTPHandler, isDevelopment: Bool
    ) throws(StartFailure) -> WebServer {
        do {
            return try WebServer(
                address: address.address, port: Int(address.port), group: group, configuration: configuration,
                handler: handler)
        } catch {
            throw StartFailure(listener: key, address, error, isDevelopment: isDevelopment)
        }
    }

    private static func group(count: Int?) throws(StartFailure) -> EventLoopGroup {
        do {
            return try EventLoopGroup(count: count)
        } catch {
            throw StartFailure("loops: an event loop cannot start (\(error))")
        }
    }

    private static func operationLog() throws(StartFailure) -> OperationLog {
        do {
            return try OperationLog(clock: SystemClock())
        } catch {
            throw StartFailure(log: "the log on standard error", .stderr, error)
        }
    }

    private static func accessLog(
        _ sink: LogSettings.Sink, _ metrics: MetricsRegistry, _ operations: OperationLog
    ) throws(StartFailure) -> AccessLog {
        do {
            return try AccessLog(sink.sink, metrics: metrics.background, operations: operations)
        } catch {
            throw StartFailure(log: "log.access", sink, error)
        }
    }

    /// Lets nobody in before it is known who must not be, but waits for no store that is away.
    private func awaitOrders() async {
        let end = self.clock.monotonicTime() + .seconds(1)
        while !self.board.isLoaded, self.clock.monotonicTime() < end { try? await Task.sleep(for: .milliseconds(2)) }
    }

    /// Runs until a stop was asked for and every answer has ended.
    func run() async {
        await withTaskGroup { tasks in
            tasks.addTask { await self.store.run() }
            tasks.addTask(executorPreference: self.group.loops[0]) {
                await self.store.keepRegistered(at: self.hopAddress)
            }
            let keeper = OrderKeeper(
                board: self.board, store: self.store.stores[0], loop: self.group.loops[0], snapshots: self.snapshots)
            tasks.addTask(executorPreference: self.group.loops[0]) { await keeper.run() }
            await self.awaitOrders()
            tasks.addTask(executorPreference: self.group.loops[0]) { await self.api.run() }
            if let admin = self.admin {
                tasks.addTask(executorPreference: self.group.loops[0]) { await admin.run() }
            }
            if let hop = self.hop {
                tasks.addTask(executorPreference: self.group.loops[0]) { await hop.run() }
            }
            tasks.addTask(executorPreference: self.group.loops[0]) { await self.fetcher.run() }
            for loop in self.loops { tasks.addTask(executorPreference: loop.loop) { await loop.renewLeases() } }
            self.readiness.enter(.serving)
            self.operations.info("serving", [.int("loops", self.group.loops.count), .int("port", self.api.port)])
            await Supervisor(process: self).superviseUntilStopped()
            tasks.cancelAll()
        }
        _ = self.accessLog.stop()
        _ = self.operations.stop()
        self.group.shutDown()
    }
}

extension LogSettings.Sink {
    var sink: LogSink {
        switch self {
        case .stdout: .standardOutput
        case .stderr: .standardError
        case .file(let path): .file(path: path)
        case .none: .none
        }
    }
}

extension HTTPSettings {
    /// Of the listener for other instances: what they send is ours, so that the limits are not the operator's to set.
    var hopServer: HTTPServerConfiguration {
        var server = HTTPServerConfiguration()
        // Connections of all listeners count together; a full api must not keep those away who come for its answers.
        server.maxConnections = self.maxConnections + 4096
        server.writeTimeout = self.writeStallTimeout
        return server
    }

    /// Of the operators' listener. A full api must not keep away those who ask whether the process lives, or who are to
    /// end the flood.
    var adminServer: HTTPServerConfiguration {
        var server = self.server
        server.maxConnections = self.hopServer.maxConnections + 1024
        return server
    }

    var server: HTTPServerConfiguration {
        var server = HTTPServerConfiguration()
        server.limits.requestLineBytes = self.maxRequestLine
        server.limits.fields = self.maxHeaderFields
        server.limits.headBytes = self.maxHeaderBytes
        server.limits.nameBytes = self.maxHeaderName
        server.limits.valueBytes = self.maxHeaderValue
        server.maxConnections = self.maxConnections
        server.bodyMinimumRate = self.minBodyRate
        server.headTimeout = self.headTimeout
        server.idleTimeout = self.idleTimeout
        server.bodyGrace = self.bodyGrace
        server.writeTimeout = self.writeStallTimeout
        return server
    }
}
