package import EventLoops
internal import GatewayTypes
internal import HTTPClient
internal import JOSE
internal import Synchronization

/// Keeps every remote key set of a process fresh; one for the process, whatever configurations come and go.
///
/// `run` on one loop does the fetching; everything else may be called from anywhere.
package final class KeySetFetcher: Sendable {
    private struct Entry {
        weak var set: RemoteKeySet?
    }

    private let loop: EventLoop
    private let archive: KeySetArchive?
    private let alarm: Alarm
    private let observer: @Sendable (KeySetNews) -> Void
    private let sets = Mutex<[RemoteKeySource: Entry]>([:])
    private let isRunning = Atomic(false)

    /// - Parameters:
    ///   - loop: the one that `run` will be on.
    ///   - stateDirectory: where the last good sets are kept for the next start; nil keeps none.
    ///   - observer: told when fetches of a set begin to fail, fail in another way, and are good again; on the loop.
    package init(
        loop: EventLoop, stateDirectory: String? = nil, observer: @escaping @Sendable (KeySetNews) -> Void = { _ in }
    ) {
        self.observer = observer
        self.loop = loop
        self.archive = stateDirectory.map { KeySetArchive(directory: $0) }
        self.alarm = Alarm(loop: loop)
    }

    /// The set of a source: the one in use, or a new one with what the last process left of it.
    func set(for source: RemoteKeySource) -> RemoteKeySet {
        let (set, isNew) = self.sets.withLock { sets -> (RemoteKeySet, Bool) in
            if let known = sets[source]?.set { return (known, false) }
            let set = RemoteKeySet(source, clock: self.loop.clock) { [alarm = self.alarm] in alarm.ring() }
            sets[source] = Entry(set: set)
            return (set, true)
        }
        guard isNew else { return set }
        if let found = self.archive?.load(source, now: self.loop.clock.wallTime()) {
            set.restore(found.keys, age: found.age)
        }
        set.setFetched(by: self.isRunning.load(ordering: .acquiring))
        self.alarm.ring()
        return set
    }

    /// How every set fares that a configuration in use names.
    package var reports: [KeySetReport] {
        self.living().map(\.report).sorted { $0.issuer < $1.issuer }
    }

    /// Fetches what is due until the task is cancelled. On the loop, with the loop as executor preference.
    package func run() async {
        guard let client = UpstreamClient(loop: self.loop) else { return }
        let confined = LoopConfined(client)
        self.isRunning.store(true, ordering: .releasing)
        for set in self.living() { set.setFetched(by: true) }
        await withDiscardingTaskGroup { tasks in
            while !Task.isCancelled {
                await self.alarm.wait(until: self.tick(confined, &tasks))
            }
            self.isRunning.store(false, ordering: .releasing)
            for set in self.living() { set.setFetched(by: false) }
            tasks.cancelAll()
        }
    }

    private func tick(_ client: LoopConfined, _ tasks: inout DiscardingTaskGroup) -> MonotonicTime {
        var next = MonotonicTime(nanoseconds: .max)
        for set in self.living() {
            if let memory = set.beginIfDue() { tasks.addTask { await self.fetch(set, memory, client) } }
            next = min(next, set.tick())
        }
        return next
    }

    private func fetch(_ set: RemoteKeySet, _ memory: KeySetFlight.Memory, _ client: LoopConfined) async {
        let flight = KeySetFlight(source: set.source, client: client.client, loop: self.loop, memory: memory)
        let landing = await flight.run()
        let (text, news) = set.landed(landing)
        self.alarm.ring()
        // A fetch that the end of the process breaks off tells nothing of the issuer.
        if let news, !Task.isCancelled { self.observer(news) }
        guard landing.outcome.isGood, let archive = self.archive else { return }
        let source = set.source
        let now = self.loop.clock.wallTime()
        // Disks may be slow, and the loop has asks to serve.
        await withTaskExecutorPreference(globalConcurrentExecutor) { await archive.save(text, of: source, at: now) }
    }

    private func living() -> [RemoteKeySet] {
        self.sets.withLock { sets in
            let living = sets.values.compactMap(\.set)
            if living.count < sets.count { sets = sets.filter { $0.value.set != nil } }
            return living
        }
    }
}

/// Passes the client through tasks of its loop, which are the only ones to touch it; hence unchecked.
private struct LoopConfined: @unchecked Sendable {
    let client: UpstreamClient
    init(_ client: UpstreamClient) { self.client = client }
}

/// Wakes the fetcher at a time, or before when it rings. The members belong to the loop's thread, hence unchecked.
private final class Alarm: @unchecked Sendable {
    private static let longest = TimeSpan.seconds(3600)
    private let loop: EventLoop
    private let timer = LoopTimer()
    private var sleeper: UnsafeContinuation<Void, Never>?
    private var hasRung = false
    /// Many may ring before the loop hears the first.
    private let isRinging = Atomic(false)

    init(loop: EventLoop) { self.loop = loop }

    /// Returns at the time, when it rings, or when the task is cancelled. On the loop.
    func wait(until time: MonotonicTime) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                guard !self.hasRung, !Task.isCancelled else {
                    self.hasRung = false
                    return continuation.resume()
                }
                self.sleeper = continuation
                self.timer.action = { [unowned self] in self.rang() }
                let latest = self.loop.clock.monotonicTime() + Self.longest
                self.loop.arm(self.timer, at: min(time, latest))
            }
        } onCancel: {
            self.loop.submit { self.rang() }
        }
    }

    /// From any thread.
    func ring() {
        guard self.isRinging.exchange(true, ordering: .acquiringAndReleasing) == false else { return }
        self.loop.submit {
            self.isRinging.store(false, ordering: .releasing)
            self.rang()
        }
    }

    private func rang() {
        guard let sleeper = self.sleeper else {
            self.hasRung = true
            return
        }
        self.sleeper = nil
        self.loop.remove(self.timer)
        sleeper.resume()
    }
}
