package import EventLoops
package import GatewayTypes
import Synchronization

/// Calls to Redis from one loop: pipelined over one connection to each server, whatever the topology.
///
/// `run` keeps the connections; calls before it wait for it until their deadlines. Answers come on the loop. Every
/// retry and redirection happens within the call's own time.
package final class Redis: @unchecked Sendable {
    // Unchecked: all but `stateNow` and `openCalls` is touched on the loop's thread only.

    package let loop: EventLoop
    let settings: RedisSettings
    private let stateNow = Mutex(RedisState())
    private var nodes: [RedisAddress: RedisNode] = [:]
    private var map = ClusterMap()
    private var master: RedisAddress?
    private var finder: SentinelFinder?
    private var switches: RedisSubscriber?
    /// Calls for which no node is known yet.
    private let homeless: WaitingCalls
    /// Calls that wait for a moment before they are sent again.
    private var resting: [ObjectIdentifier: RedisCall] = [:]
    /// Written on the loop only.
    private let openCalls = Atomic(0)
    /// Why the nodes do not tell their map; nil once one did.
    private var mapFailure: RedisFailure?
    private var isRefreshing = false
    /// The servers are too old for `CLUSTER SHARDS`, or do not let us ask for it.
    private var asksForSlots = false
    private let refreshTimer = LoopTimer()
    private var isStarted = false
    private var isStopped = false
    private var ending: (() -> Void)?

    package init(_ settings: RedisSettings, loop: EventLoop) {
        self.settings = settings
        self.loop = loop
        self.homeless = WaitingCalls(loop: loop)
    }

    /// From any thread.
    package var state: RedisState {
        var state = self.stateNow.withLock { $0 }
        state.openCalls = self.openCalls.load(ordering: .relaxed)
        return state
    }

    // MARK: Life

    /// Keeps connections until the task is cancelled or `stop` is called. Calls then fail.
    package func run() async {
        await self.loop.hold { ended in
            guard !self.isStopped else { return ended() }
            self.ending = ended
            self.start()
        } stop: {
            self.stop()
        }
    }

    /// From any thread.
    package func stop() {
        self.loop.submit {
            guard !self.isStopped else { return }
            self.isStopped = true
            self.loop.remove(self.refreshTimer)
            self.finder?.stop()
            self.finder = nil
            self.switches?.stop()
            self.switches = nil
            let nodes = self.nodes
            self.nodes = [:]
            var calls = nodes.values.flatMap { $0.stop() } + self.homeless.take() + self.resting.values
            self.resting = [:]
            while let call = calls.popLast() { call.finish(.failure(.stopped)) }
            self.ending?()
            self.ending = nil
        }
    }

    private func start() {
        self.isStarted = true
        self.refreshTimer.action = { [unowned self] in self.refresh() }
        switch self.settings.topology {
        case .single(let address):
            self.master = address
            _ = self.node(address)
        case .sentinel:
            self.find()
            self.switches = self.listenForSwitches()
        case .cluster: self.visitSeeds()
        }
        for call in self.homeless.take() { self.dispatch(call) }
    }

    // MARK: Calls

    /// Sends a command; on the loop.
    ///
    /// - Parameters:
    ///   - key: decides on the node of a cluster; nil when any will do.
    ///   - timeout: nil for the settings' one.
    ///   - idempotent: done twice it is as done once, so it may be sent again when a connection broke.
    package func call(
        _ words: [ByteString], key: ByteString? = nil, timeout: TimeSpan? = nil, idempotent: Bool = false,
        then: @escaping (Result<RedisReply, RedisFailure>) -> Void
    ) {
        self.begin(.command(words), key: key, timeout: timeout, idempotent: idempotent, then: then)
    }

    /// Runs a script; on the loop.
    ///
    /// - Parameter tag: a key of the script or the hash tag of all: decides on the node of a cluster.
    package func evaluate(
        _ script: RedisScript, keys: RedisWords, tag: ByteString, arguments: RedisWords, timeout: TimeSpan? = nil,
        idempotent: Bool, then: @escaping (Result<RedisReply, RedisFailure>) -> Void
    ) {
        self.begin(
            .script(script, keys: keys, arguments: arguments), key: tag, timeout: timeout,
            idempotent: idempotent, then: then)
    }

    /// Sends a command; from anywhere.
    package func call(
        _ words: [ByteString], key: ByteString? = nil, timeout: TimeSpan? = nil, idempotent: Bool = false
    ) async throws(RedisFailure) -> RedisReply {
        let result: Result<RedisReply, RedisFailure> = await withUnsafeContinuation { continuation in
            self.loop.submit {
                self.call(words, key: key, timeout: timeout, idempotent: idempotent) {
                    continuation.resume(returning: $0)
                }
            }
        }
        return try result.get()
    }

    private func begin(
        _ subject: RedisCall.Subject, key: ByteString?, timeout: TimeSpan?, idempotent: Bool,
        then: @escaping (Result<RedisReply, RedisFailure>) -> Void
    ) {
        guard !self.isStopped else { return then(.failure(.stopped)) }
        let open = self.openCalls.load(ordering: .relaxed)
        guard open < self.settings.mostCalls else { return then(.failure(.overloaded)) }
        self.openCalls.store(open &+ 1, ordering: .relaxed)
        var slot: Int?
        if case .cluster = self.settings.topology { slot = key.map { ClusterMap.slot(of: $0) } }
        let deadline = self.loop.clock.monotonicTime() + (timeout ?? self.settings.commandTimeout)
        let call = RedisCall(subject, slot: slot, deadline: deadline, isIdempotent: idempotent) { [self] result in
            self.openCalls.store(self.openCalls.load(ordering: .relaxed) &- 1, ordering: .relaxed)
            then(result)
        }
        self.dispatch(call)
    }

    /// Sends a call to the node it belongs to, as far as is known.
    private func dispatch(_ call: RedisCall) {
        guard !self.isStopped else { return call.finish(.failure(.stopped)) }
        guard self.isStarted else { return self.homeless.add(call) }
        if let address = self.address(for: call) { return self.node(address).submit(call) }
        // A slot without a node may have one by now.
        if !self.map.isEmpty { self.refreshSoon(.milliseconds(200)) }
        // Nothing is known yet, or nothing works: then waiting helps nobody.
        if let failure = self.finder?.lastFailure ?? self.clusterFailure() { return call.finish(.failure(failure)) }
        self.homeless.add(call)
    }

    private func address(for call: RedisCall) -> RedisAddress? {
        guard case .cluster = self.settings.topology else { return self.master }
        guard let slot = call.slot else { return self.nodes.values.first { $0.isReady }?.address }
        return self.map.node(of: slot)
    }

    /// Why a cluster without a map has none, once every seed has been tried.
    private func clusterFailure() -> RedisFailure? {
        guard case .cluster = self.settings.topology else { return nil }
        guard self.map.isEmpty else { return .notServing }
        if let mapFailure = self.mapFailure { return mapFailure }
        let failures = self.nodes.values.compactMap(\.lastFailure)
        return failures.count == self.nodes.count ? failures.first?.ofUnsent : nil
    }

    private func node(_ address: RedisAddress) -> RedisNode {
        if let node = self.nodes[address] { return node }
        let role: RedisConnection.Role
        if case .sentinel = self.settings.topology { role = .master } else { role = .data }
        let node = RedisNode(address, role: role, settings: self.settings, loop: self.loop, owner: self)
        self.nodes[address] = node
        node.start()
        return node
    }

    /// Lets a node go; what it was not sent yet is for another to answer.
    private func drop(_ address: RedisAddress) {
        guard let unsent = self.nodes.removeValue(forKey: address)?.stop() else { return }
        for call in unsent { self.dispatch(call) }
    }

    private func note(_ change: (inout RedisState) -> Void) {
        let isConnected = self.nodes.values.contains { $0.isReady }
        self.stateNow.withLock { state in
            change(&state)
            state.isConnected = isConnected
        }
    }
}

// MARK: - Answers

extension Redis: RedisNodeOwner {
    func node(_ node: RedisNode, answered call: RedisCall, _ reply: RedisReply) {
        guard case .error(let error) = reply else { return call.finish(.success(reply)) }
        let wasAsking = call.isAsking
        call.isAsking = false
        switch ReplyPolicy.action(for: error, from: node.address, hops: call.hops) {
        case .move(let slot, let address):
            call.hops += 1
            self.note { $0.redirections += 1 }
            self.map.move(slot, to: address)
            self.refreshSoon()
            self.resubmit(call, to: address)
        case .ask(let address):
            call.hops += 1
            self.note { $0.redirections += 1 }
            call.isAsking = true
            self.resubmit(call, to: address)
        case .retry(let failure, let refreshes):
            self.note(error, of: node)
            if refreshes { self.refreshSoon() }
            self.retryLater(call, failure)
        case .rediscover(let failure):
            self.retryLater(call, failure)
            node.reset(failure, .said(error.kind))
        case .sendText:
            guard !call.sendsText else { return call.finish(.failure(.malformedReply)) }
            call.sendsText = true
            call.isAsking = wasAsking
            node.submit(call)
        case .fail(let failure):
            self.note(error, of: node)
            call.finish(.failure(failure))
        case .failConnection(let failure):
            self.note(error, of: node)
            call.finish(.failure(failure))
            node.reset(failure, .said(error.kind))
        }
    }

    private func note(_ error: RedisServerError, of node: RedisNode) {
        self.note { $0.trouble = RedisTrouble(address: node.address, detail: .said(error.kind)) }
    }

    private func resubmit(_ call: RedisCall, to address: RedisAddress) {
        guard self.loop.clock.monotonicTime() < call.deadline else { return call.finish(.failure(.notServing)) }
        // Whoever redirects to ever new places leads nowhere.
        guard self.nodes[address] != nil || self.nodes.count < ClusterMap.mostNodes else {
            return call.finish(.failure(.notServing))
        }
        self.node(address).submit(call)
    }

    /// Sends a call again after a while, if there is time; it was not executed.
    private func retryLater(_ call: RedisCall, _ failure: RedisFailure) {
        let next = self.loop.clock.monotonicTime() + ReplyPolicy.backOff(call.backOffs)
        guard next < call.deadline, !self.isStopped else { return call.finish(.failure(failure)) }
        call.backOffs += 1
        call.hops = 0
        self.resting[ObjectIdentifier(call)] = call
        let timer = LoopTimer()
        timer.action = { [self] in
            timer.action = nil
            if self.resting.removeValue(forKey: ObjectIdentifier(call)) != nil { self.dispatch(call) }
        }
        self.loop.arm(timer, at: next)
    }

    func nodeIsReady(_ node: RedisNode) {
        self.note { $0.connected() }
        if case .cluster = self.settings.topology { if self.map.isEmpty { self.refresh() } else { self.refreshSoon() } }
        for call in self.homeless.take() { self.dispatch(call) }
    }

    func nodeFailed(_ node: RedisNode, _ failure: RedisFailure, unanswered: [RedisCall]) {
        if failure == .stopped { self.note { _ in } } else { self.lookAround(failure, node.trouble) }
        let now = self.loop.clock.monotonicTime()
        for call in unanswered {
            guard call.isIdempotent, !call.isResent, call.deadline > now, !self.isStopped else {
                let late = call.deadline <= now
                call.finish(.failure(late ? .timedOut : failure.ofSent))
                continue
            }
            call.isResent = true
            self.dispatch(call)
        }
        if self.map.isEmpty, let failure = self.clusterFailure() { self.homeless.fail(failure) }
    }
}

// MARK: - Looking for servers

extension Redis {
    /// A node is gone: another one may have its place.
    private func lookAround(_ failure: RedisFailure, _ trouble: RedisTrouble?) {
        self.note { $0.failed(failure, trouble) }
        switch self.settings.topology {
        case .single: break
        case .sentinel: self.find()
        case .cluster:
            self.refreshSoon()
            // All the nodes that were learned of may have moved at once.
            if !self.nodes.values.contains(where: { $0.isReady }) { self.visitSeeds() }
        }
    }

    /// Asks the sentinels who the master is. The nodes known until now are let go when it is another.
    func find() {
        guard case .sentinel(let name, let sentinels, _) = self.settings.topology else { return }
        if let finder = self.finder { return finder.start() }
        let finder = SentinelFinder(name: name, sentinels: sentinels, settings: self.settings, loop: self.loop)
        finder.found = { [unowned self] in self.found($0) }
        finder.failed = { [unowned self] failure, trouble in
            self.note { $0.failed(failure, trouble) }
            self.homeless.fail(failure)
        }
        self.finder = finder
        finder.start()
    }

    func found(_ address: RedisAddress) {
        let old = self.master
        self.master = address
        if let old, old != address { self.drop(old) }
        let node = self.node(address)
        for call in self.homeless.take() { node.submit(call) }
    }
}

// MARK: - Cluster

extension Redis {
    private func visitSeeds() {
        guard case .cluster(let seeds) = self.settings.topology else { return }
        for seed in seeds { _ = self.node(seed) }
    }

    private func refreshSoon(_ wait: TimeSpan = .milliseconds(50)) {
        guard case .cluster = self.settings.topology, !self.isStopped, !self.refreshTimer.isArmed else { return }
        self.loop.arm(self.refreshTimer, after: wait)
    }

    /// Learns from any node which one holds what.
    private func refresh() {
        guard !self.isRefreshing, !self.isStopped else { return }
        guard let node = self.nodes.values.filter({ $0.isReady }).randomElement() else { return }
        self.isRefreshing = true
        let deadline = self.loop.clock.monotonicTime() + self.settings.connectTimeout
        let call = RedisCall(
            .command(["CLUSTER", self.asksForSlots ? "SLOTS" : "SHARDS"]), slot: nil, deadline: deadline,
            isIdempotent: false
        ) { [self] result in
            self.isRefreshing = false
            if case .failure(let failure) = result, failure.isRefusal, !self.asksForSlots {
                self.asksForSlots = true
                return self.refresh()
            }
            guard case .success(let reply) = result, let map = self.map(in: reply, from: node.address), !map.isEmpty
            else { return self.refreshFailed(result, at: node.address) }
            self.take(map)
        }
        node.submit(call)
    }

    private func refreshFailed(_ result: Result<RedisReply, RedisFailure>, at address: RedisAddress) {
        self.refreshSoon(.milliseconds(200))
        // What a server says will hold for a while, unlike silence: then waiting helps no call.
        guard case .failure(let failure) = result, !failure.mayHaveActed, failure != .stopped else { return }
        self.mapFailure = failure
        let detail: RedisTrouble.Detail = if case .server = failure { .notACluster } else { .failure(failure) }
        self.note { $0.failed(failure, RedisTrouble(address: address, detail: detail)) }
        if self.map.isEmpty { self.homeless.fail(failure) }
    }

    private func map(in reply: RedisReply, from address: RedisAddress) -> ClusterMap? {
        if self.asksForSlots { return ClusterMap(reply, from: address) }
        return ClusterMap(shards: reply, from: address, isTLS: self.settings.tls != nil)
    }

    private func take(_ map: ClusterMap) {
        self.map = map
        self.mapFailure = nil
        for address in map.nodes { _ = self.node(address) }
        // A node that holds nothing any more may still be a seed; it is asked no longer.
        // Nor is one dropped that answers calls just now, as one does that takes its first slot over.
        for (address, node) in self.nodes where !map.nodes.contains(address) && node.isIdle { self.drop(address) }
        // Until a failover is over, the map names nodes that are gone.
        if map.nodes.contains(where: { self.nodes[$0]?.lastFailure != nil }) { self.refreshSoon(.milliseconds(500)) }
        for call in self.homeless.take() { self.dispatch(call) }
    }
}
