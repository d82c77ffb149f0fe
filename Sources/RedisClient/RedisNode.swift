import EventLoops
import GatewayTypes
import TLS

/// What the nodes of a client tell it. On the loop.
protocol RedisNodeOwner: AnyObject {
    func nodeIsReady(_ node: RedisNode)
    func node(_ node: RedisNode, answered call: RedisCall, _ reply: RedisReply)
    /// The connection is gone, or none came about.
    func nodeFailed(_ node: RedisNode, _ failure: RedisFailure, unanswered: [RedisCall])
}

/// One server: keeps a connection to it, and calls that wait for one. On its loop.
final class RedisNode: RedisConnectionOwner {
    let address: RedisAddress
    private let role: RedisConnection.Role
    private let settings: RedisSettings
    private let loop: EventLoop
    private unowned let owner: any RedisNodeOwner
    private var connection: RedisConnection?
    private var waiting: WaitingCalls
    private var attempts = 0
    private var readySince: MonotonicTime?
    private(set) var lastFailure: RedisFailure?
    /// How the last connection ended; nil before one has.
    private(set) var trouble: RedisTrouble?
    private let timer = LoopTimer()
    private var isStopped = false
    private var resumption: TLSResumption?

    init(
        _ address: RedisAddress, role: RedisConnection.Role, settings: RedisSettings, loop: EventLoop,
        owner: any RedisNodeOwner
    ) {
        self.address = address
        self.role = role
        self.settings = settings
        self.loop = loop
        self.owner = owner
        self.waiting = WaitingCalls(loop: loop)
    }

    deinit { self.loop.remove(self.timer) }

    var isReady: Bool { self.connection?.isReady == true }
    /// No call waits for it or for its answer.
    var isIdle: Bool { self.waiting.isEmpty && self.connection?.isIdle != false }

    func start() {
        self.timer.action = { [unowned self] in self.connect() }
        self.connect()
    }

    private func connect() {
        guard !self.isStopped, self.connection == nil else { return }
        let connection = RedisConnection(
            self.address, role: self.role, settings: self.settings, credentials: self.settings.login.credentials,
            loop: self.loop, resuming: self.resumption, owner: self)
        self.connection = connection
        connection.start()
    }

    /// Sends a call, keeps it while a connection comes about, or fails it at once while none does.
    func submit(_ call: RedisCall) {
        guard let connection = self.connection else {
            return call.finish(.failure(self.lastFailure?.ofUnsent ?? .unreachable))
        }
        if connection.isReady { connection.send(call) } else { self.waiting.add(call) }
    }

    /// Gives the connection up; another one is made.
    func reset(_ failure: RedisFailure, _ detail: RedisTrouble.Detail) { self.connection?.close(failure, detail) }

    /// Ends the connection for good, and gives back what was not sent.
    func stop() -> [RedisCall] {
        self.isStopped = true
        self.loop.remove(self.timer)
        let unsent = self.waiting.take()
        self.connection?.close(.stopped)
        return unsent
    }

    /// At once when the connection has worked for a second, so that calls hardly notice; else later and later.
    private func reconnect() {
        if let since = self.readySince, self.loop.clock.monotonicTime() - since > .seconds(1) { self.attempts = 0 }
        self.readySince = nil
        self.attempts += 1
        guard self.attempts > 1 else { return self.connect() }
        let wait = ReplyPolicy.reconnect(self.attempts - 2) { Int64.random(in: $0) }
        self.loop.arm(self.timer, after: wait)
    }

    // MARK: From the connection

    func connectionIsReady(_ connection: RedisConnection) {
        self.readySince = self.loop.clock.monotonicTime()
        self.lastFailure = nil
        let now = self.loop.clock.monotonicTime()
        for call in self.waiting.take() {
            // One that is late would end the connection at once.
            if call.deadline > now { connection.send(call) } else { call.finish(.failure(.unreachable)) }
        }
        self.owner.nodeIsReady(self)
    }

    func connection(_ connection: RedisConnection, answered call: RedisCall, _ reply: RedisReply) {
        self.owner.node(self, answered: call, reply)
    }

    func connection(_ connection: RedisConnection, pushed reply: RedisReply) {}

    func connectionEnded(_ connection: RedisConnection, _ failure: RedisFailure, unanswered: [RedisCall]) {
        self.connection = nil
        self.resumption = connection.nextResumption
        self.lastFailure = failure
        self.trouble = RedisTrouble(address: self.address, detail: connection.detail)
        let unsent = self.waiting.take()
        if !self.isStopped { self.reconnect() }
        self.owner.nodeFailed(self, failure, unanswered: unanswered)
        for call in unsent { call.finish(.failure(failure.ofUnsent)) }
    }
}

/// Calls that wait for a server, each until its own deadline. On its loop.
final class WaitingCalls {
    private let loop: EventLoop
    private var calls: [RedisCall] = []
    private let timer = LoopTimer()

    init(loop: EventLoop) {
        self.loop = loop
        self.timer.action = { [unowned self] in self.expire() }
    }

    deinit { self.loop.remove(self.timer) }

    var isEmpty: Bool { self.calls.isEmpty }

    func add(_ call: RedisCall) {
        self.calls.append(call)
        if !self.timer.isArmed || call.deadline < self.timer.deadline { self.loop.arm(self.timer, at: call.deadline) }
    }

    func take() -> [RedisCall] {
        var calls: [RedisCall] = []
        swap(&calls, &self.calls)
        self.loop.cancel(self.timer)
        return calls
    }

    func fail(_ failure: RedisFailure) { for call in self.take() { call.finish(.failure(failure)) } }

    private func expire() {
        let now = self.loop.clock.monotonicTime()
        let late = self.calls.filter { $0.deadline <= now }
        self.calls.removeAll { $0.deadline <= now }
        if let next = self.calls.map(\.deadline).min() { self.loop.arm(self.timer, at: next) }
        // Never sent, so nothing was done.
        for call in late { call.finish(.failure(.unreachable)) }
    }
}
