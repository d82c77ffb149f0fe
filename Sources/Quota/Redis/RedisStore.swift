package import EventLoops
package import GatewayTypes
import RedisClient
import Synchronization

/// The store in Redis: exact over all instances that share it.
///
/// One for each loop, over that loop's client. Every decision is one script on the node that holds the tenant, on that
/// node's clock. Calls from other threads are taken over to the loop. While the store does not answer, a breaker fails
/// calls at once and settlements wait in a bounded queue; the first answer closes it again.
package final class RedisStore: QuotaStore, @unchecked Sendable {
    // Unchecked: `runner`, `trusts`, `queue`, `tags` and `timer` are touched on the loop's thread only; the rest is
    // constant or guards itself.

    /// Where scripts take the time from.
    package enum ScriptClock: Sendable {
        /// The node's own, which all instances share.
        case server
        /// Told with each call; for tests that turn the clock. The runner's scripts have to match.
        case told(any GatewayTypes.Clock)
    }

    package let loop: EventLoop
    private let runner: any ScriptRunner
    private let clock: any GatewayTypes.Clock
    private let scriptClock: ScriptClock
    let feed: ChangeFeed
    private let healthNow = Mutex(StoreHealth())
    private let observer: @Sendable (StoreHealth.Degradation?) -> Void
    private var trusts: StoreTrusts
    private var queue: SettlementQueue
    private let timer = LoopTimer()
    /// Prefixes of keys by tenant; tenants come from the configuration and are few.
    private var tags: [TenantID: QuotaKey] = [:]

    /// Settlements sent in one go when the store is back.
    private static let batch = 64
    private static let retryPeriod = TimeSpan.milliseconds(200)

    /// - Parameters:
    ///   - runner: this loop's client.
    ///   - feed: the process' ear for changes made elsewhere.
    ///   - isCluster: tenants lie on different nodes, which fail apart from each other.
    ///   - queueCapacity: settlements that may wait for the store on this loop.
    ///   - observer: told when the store becomes degraded and, with nil, when it is well again; on the loop.
    package init(
        loop: EventLoop, runner: any ScriptRunner, feed: ChangeFeed, isCluster: Bool = false,
        queueCapacity: Int = 16_384,
        scriptClock: ScriptClock = .server, clock: (any GatewayTypes.Clock)? = nil,
        observer: @escaping @Sendable (StoreHealth.Degradation?) -> Void = { _ in }
    ) {
        self.loop = loop
        self.runner = runner
        self.feed = feed
        self.trusts = StoreTrusts(isByTenant: isCluster)
        self.queue = SettlementQueue(capacity: queueCapacity)
        self.scriptClock = scriptClock
        self.clock = clock ?? loop.clock
        self.observer = observer
    }

    /// From any thread.
    package var health: StoreHealth { self.healthNow.withLock { $0 } }

    package var generation: UInt64 { self.feed.generation }

    /// The wait of a refusal is believed only while changes made elsewhere are heard of.
    package var refusalMemory: TimeSpan { self.feed.isEstablished ? .seconds(60) : .seconds(0) }

    // MARK: Admission

    package func admit(_ ask: QuotaAsk) async throws(QuotaFailure) -> Admission {
        let answer = try await self.run(.admit) {
            self.input(of: ask)
        }
        return try Self.admission(of: ask, answer)
    }

    package func look(_ question: QuotaQuestion) async throws(QuotaFailure) -> Standing {
        let ask = QuotaAsk(
            caller: question.caller, limits: question.limits, calendar: question.calendar, promptEstimate: 0,
            outputCap: 0, request: RequestID(high: 0, low: 0))
        let answer = try await self.run(.look) {
            self.input(of: ask)
        }
        return try Self.standing(question, answer)
    }

    package func renew(_ leases: [Lease]) async throws(QuotaFailure) -> [RequestID] {
        guard !leases.isEmpty else { return [] }
        // Pipelined: the answers of one node come in their order, those of a cluster in any.
        let result: Result<[RequestID], QuotaFailure> = await withUnsafeContinuation { continuation in
            self.onLoop {
                var open = leases.count
                var lost: [RequestID] = []
                var failure: QuotaFailure?
                for lease in leases {
                    self.ask(.renew, self.input(of: lease)) { result in
                        switch result.flatMap({ Self.lives($0) }) {
                        case .success(let lives): if !lives { lost.append(lease.request) }
                        case .failure(let reason): failure = reason
                        }
                        open &-= 1
                        if open == 0 { continuation.resume(returning: failure.map { .failure($0) } ?? .success(lost)) }
                    }
                }
            }
        }
        return try result.get()
    }

    // MARK: Settlement

    package func settle(_ settlement: Settlement) async throws(QuotaFailure) -> SettlementResult {
        let answer = try await self.run(.settle) {
            self.input(of: settlement)
        }
        let (result, rest) = try Self.settled(settlement, answer).get()
        if let rest { self.submit(rest) }
        return result
    }

    package func submit(_ settlement: Settlement) {
        self.onLoop {
            var settlement = settlement
            settlement.doubt(at: self.clock.monotonicTime())
            self.send(SettlementQueue.Entry(settlement: settlement))
        }
    }

    private func tag(of settlement: Settlement) -> ByteString { self.tag(of: settlement.caller.tenant).tag }

    /// Sends a settlement, or keeps it when the store is known to be away.
    private func send(_ entry: SettlementQueue.Entry) {
        let isHeldUp = self.queue.hasWaiting && !self.trusts.isByTenant
        guard self.trusts[self.tag(of: entry.settlement)].isWhole, !isHeldUp else { return self.keep(entry) }
        let settlement = entry.settlement
        self.ask(.settle, self.input(of: settlement)) { result in
            switch result.flatMap({ Self.settled(settlement, $0) }) {
            case .success(let end): if let rest = end.rest { self.submit(rest) }
            case .failure(let failure):
                var entry = entry
                entry.note(failure, at: self.clock.monotonicTime())
                self.keep(entry)
            }
        }
    }

    private func keep(_ entry: SettlementQueue.Entry) {
        if !self.queue.append(entry) { self.healthNow.withLock { $0.droppedSettlements &+= 1 } }
        self.queueChanged()
    }

    private func queueChanged() {
        let count = self.queue.count
        self.healthNow.withLock { $0.waitingSettlements = count }
        guard self.queue.hasWaiting, !self.timer.isArmed else { return }
        self.timer.action = { [weak self] in self?.drain() }
        self.loop.arm(self.timer, after: Self.retryPeriod)
    }

    /// Sends what waits and may be sent; the rest goes behind it.
    private func drain() {
        var tried: Set<ByteString> = []
        for _ in 0..<min(Self.batch, self.queue.count) {
            guard let entry = self.queue.take(at: self.clock.monotonicTime()) else { break }
            let tag = self.tag(of: entry.settlement)
            let trust = self.trusts[tag]
            if trust.isWhole || (trust.refusedWriting != nil && tried.insert(tag).inserted) {
                self.resend(entry)
            } else {
                self.queue.putBack(entry)
                if tried.insert(tag).inserted { self.probe(for: entry.settlement) }
                if !self.trusts.isByTenant { break }
            }
        }
        self.queueChanged()
    }

    private func resend(_ entry: SettlementQueue.Entry) {
        self.ask(.settle, self.input(of: entry.settlement)) { result in
            switch result.flatMap({ Self.settled(entry.settlement, $0) }) {
            case .success(let end):
                self.queue.done()
                if let rest = end.rest { self.submit(rest) }
                self.drainSoon()
            case .failure(let failure): self.queue.failed(entry, failure, at: self.clock.monotonicTime())
            }
            self.queueChanged()
        }
    }

    /// The store is back: no reason to wait for the timer.
    private func drainSoon() { if self.queue.hasWaiting { self.loop.arm(self.timer, after: .milliseconds(1)) } }

    /// Asks for what moves nothing, on behalf of a settlement. Whether one was done that is not answered nobody knows,
    /// and after some minutes the store does not, either; so none is risked.
    private func probe(for settlement: Settlement) {
        self.ask(.renew, self.input(of: Lease(caller: settlement.caller, request: settlement.request))) { result in
            if case .success = result { self.drainSoon() }
        }
    }

    // MARK: Asking the client

    /// Runs a script from any thread and waits for its answer.
    func run(
        _ script: QuotaScript, _ input: @escaping () -> ScriptInput
    ) async throws(QuotaFailure) -> [ScriptValue] {
        let result: Result<[ScriptValue], QuotaFailure> = await withUnsafeContinuation { continuation in
            self.onLoop {
                self.ask(script, input()) { continuation.resume(returning: $0) }
            }
        }
        return try result.get()
    }

    /// On the loop, at once when already there.
    private func onLoop(_ body: @escaping () -> Void) {
        if self.loop.isCurrent { return body() }
        nonisolated(unsafe) let body = body  // Handed over: nobody here touches it again.
        self.loop.submit { body() }
    }

    private func ask(
        _ script: QuotaScript, _ input: ScriptInput,
        then: @escaping (Result<[ScriptValue], QuotaFailure>) -> Void
    ) {
        let tag = input.tag
        guard self.trusts[tag].mayAsk(at: self.clock.monotonicTime()) else { return then(.failure(.breakerOpen)) }
        var arguments = input.arguments
        if case .told(let clock) = self.scriptClock {
            arguments.append(ByteString(String(clock.wallTime().microseconds)))
        }
        self.runner.run(script, keys: input.keys, tag: tag, arguments: arguments) { result in
            self.heard(result, of: script, about: tag)
            then(result)
        }
    }

    private func heard(_ result: Result<[ScriptValue], QuotaFailure>, of script: QuotaScript, about tag: ByteString) {
        switch result {
        case .success: self.answered(script, about: tag)
        case .failure(let failure): self.failed(failure, of: script, about: tag)
        }
    }

    private func answered(_ script: QuotaScript, about tag: ByteString) {
        let proves = self.trusts[tag].answered(script) { self.clock.monotonicTime() }
        let isWell = self.healthNow.withLock { health in
            health.answers &+= 1
            // Another part may still fail.
            guard proves, health.degraded != nil, self.trusts.areWhole(at: self.clock.monotonicTime()) else {
                return false
            }
            health.degraded = nil
            return true
        }
        if isWell { self.observer(nil) }
    }

    private func failed(_ failure: QuotaFailure, of script: QuotaScript, about tag: ByteString) {
        self.trusts[tag].failed(failure, of: script, at: self.clock.monotonicTime())
        let isWhole = self.trusts[tag].isWhole
        let trouble = isWhole || failure == .overloaded ? nil : self.runner.trouble
        let news: StoreHealth.Degradation? = self.healthNow.withLock { health in
            health.failures[failure, default: 0] &+= 1
            guard !isWhole else { return nil }
            let before = health.degraded
            // What stands in the way may show itself later than that something does.
            let isNew = before?.reason != failure || (before?.trouble == nil && trouble != nil)
            health.degraded = .init(
                reason: failure, since: before?.since ?? self.clock.wallTime(), trouble: trouble ?? before?.trouble)
            return isNew ? health.degraded : nil
        }
        if let news { self.observer(news) }
    }

    // MARK: Keys

    func tag(of tenant: TenantID) -> QuotaKey {
        if let tag = self.tags[tenant] { return tag }
        let tag = QuotaKey(tenant)
        // Operators may ask for tenants that are not there; what they leave behind stays small.
        if self.tags.count >= 1024 { self.tags = [:] }
        self.trusts.forgetStrangers()
        self.tags[tenant] = tag
        return tag
    }

    private func input(of ask: QuotaAsk) -> ScriptInput {
        let keys = CallerKeys(ask.caller, limits: ask.limits, tenant: self.tag(of: ask.caller.tenant))
        return ScriptInput(
            keys: keys.keys(recordOf: ask.request, .steering, .counters, .minute, .leases), tag: keys.tenant.tag,
            arguments: Self.arguments(of: ask, at: self.wallTime))
    }

    private func input(of settlement: Settlement) -> ScriptInput {
        let tag = self.tag(of: settlement.caller.tenant)
        let callerKeys = CallerKeys(settlement.caller, limits: settlement.limits, tenant: tag)
        var keys = callerKeys.keys(recordOf: settlement.request, .counters, .leases)
        // An account may have taken the guest over, with what its asks had reserved.
        if settlement.caller.subject.isGuest { callerKeys.appendHandedOver(to: &keys) }
        return ScriptInput(keys: keys, tag: callerKeys.tenant.tag, arguments: Self.arguments(of: settlement))
    }

    private func input(of lease: Lease) -> ScriptInput {
        let keys = CallerKeys(lease.caller, limits: nil, tenant: self.tag(of: lease.caller.tenant))
        return ScriptInput(
            keys: keys.keys(recordOf: lease.request, .leases), tag: keys.tenant.tag,
            arguments: RedisWords([Self.text(lease.request)]))
    }

    /// Our guess of the store's calendar time; the script picks the day by its own clock.
    var wallTime: WallTime {
        if case .told(let clock) = self.scriptClock { return clock.wallTime() }
        return self.clock.wallTime()
    }

    static func text(_ request: RequestID) -> ByteString { ByteString(request.description) }
}

/// What a script is told.
struct ScriptInput {
    let keys: RedisWords
    let tag: ByteString
    let arguments: RedisWords
}
