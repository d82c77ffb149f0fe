import AdminAPI
import Authentication
import Configuration
import EventLoops
import Gateway
import GatewayTypes
import Observability
import Synchronization

/// Puts the configuration's new content in force, or changes nothing and says why. One reload at a time.
final class Reloader: Sendable {
    private let source: ConfigurationSource
    /// What the process was started with; listeners, loops and store stay as it says, but for the store's passwords.
    private let document: ConfigurationDocument
    private let snapshots: SnapshotStore
    private let desk: AdminDesk
    private let fetcher: KeySetFetcher
    private let board: OrderBoard
    private let store: CounterStore
    private let accessLog: AccessLog
    private let operations: OperationLog
    private let metrics: MetricsRegistry
    /// Of the snapshot in force; guards the whole reload.
    private let generation = Mutex(1)

    init(
        source: ConfigurationSource, document: ConfigurationDocument, snapshots: SnapshotStore, desk: AdminDesk,
        fetcher: KeySetFetcher, board: OrderBoard, store: CounterStore, accessLog: AccessLog,
        operations: OperationLog, metrics: MetricsRegistry
    ) {
        self.source = source
        self.document = document
        self.snapshots = snapshots
        self.desk = desk
        self.fetcher = fetcher
        self.board = board
        self.store = store
        self.accessLog = accessLog
        self.operations = operations
        self.metrics = metrics
    }

    /// Reads files and parses keys: not to be called on a loop.
    ///
    /// - Parameter actor: the operator that wants it; nil for whoever sent the signal.
    @discardableResult
    func reload(by actor: String? = nil) -> ReloadOutcome {
        self.generation.withLock { generation in
            self.accessLog.reopen()
            self.operations.reopen()
            do {
                let loaded = try self.source.load()
                let fixed = self.document.restartOnlyChanges(to: loaded.document).map(\.description)
                for change in fixed { Terminal.complain("askgate: \(change)") }
                let builder = SnapshotBuilder(
                    file: self.source.name, labels: self.metrics.labels, now: SystemClock().wallTime(),
                    fetcher: self.fetcher, revocations: self.board)
                let snapshot = try builder.snapshot(of: loaded.document, generation: generation + 1)
                generation += 1
                self.snapshots.replace(with: snapshot)
                self.store.takeLogins(of: loaded.document.store)
                self.desk.replace(with: loaded.document, snapshot)
                self.metrics.background.snapshotApplied(generation: generation)
                self.metrics.providersConfigured(
                    Set(loaded.document.providers.map { self.metrics.labels.intern($0.name) }))
                self.metrics.background.configurationReloaded(.applied)
                self.operations.info(
                    "configuration reloaded",
                    [.int("generation", generation)] + (actor.map { [.configuration("actor", $0)] } ?? []))
                return .applied(generation: generation, notes: loaded.warnings.map(\.description) + fixed)
            } catch {
                return self.refuse(error, generation)
            }
        }
    }

    /// As an operator wants it, off the loop that asks.
    @concurrent
    func reloadElsewhere(by actor: String) async -> ReloadOutcome { self.reload(by: actor) }

    private func refuse(_ error: any Error, _ generation: Int) -> ReloadOutcome {
        self.metrics.background.configurationReloaded(.refused)
        let text = (error as? StartFailure)?.text ?? (error as? Configuration.ConfigurationFailure)?.description ?? ""
        Terminal.complain("askgate: the configuration was not reloaded\n\(text)")
        self.operations.error("configuration not reloaded", [.int("generation", generation)])
        return .refused(problems: text.split(separator: "\n").map(String.init))
    }
}
