import EventLoops
import GatewayTypes
import TLS

/// Told what becomes of a connection. On the loop.
protocol RedisConnectionOwner: AnyObject {
    func connectionIsReady(_ connection: RedisConnection)
    func connection(_ connection: RedisConnection, answered call: RedisCall, _ reply: RedisReply)
    /// What a server says unasked: messages of channels.
    func connection(_ connection: RedisConnection, pushed reply: RedisReply)
    /// Told once. `unanswered` were sent; whether the server acted on them is not known.
    func connectionEnded(_ connection: RedisConnection, _ failure: RedisFailure, unanswered: [RedisCall])
}

/// One connection to one server: connects, greets, then sends calls and matches answers to them in order.
///
/// A call that is not answered in its time ends the connection: its late answer would be taken for the next one's. On
/// its loop, all of it.
final class RedisConnection: RedisTransportDelegate {
    /// What the connection is for.
    enum Role {
        case data
        /// Data, and the server has to be a master.
        case master
        case sentinel
        case subscriber
    }

    private enum State {
        case connecting
        case greeting
        case ready
        case closed
    }

    let address: RedisAddress
    private let settings: RedisSettings
    private let credentials: RedisCredentials?
    private let role: Role
    private let loop: EventLoop
    private unowned let owner: any RedisConnectionOwner
    private var state = State.connecting
    private var connectDeadline = MonotonicTime(nanoseconds: 0)
    private var connector: Connector?
    private var transport: RedisTransport?
    private var reader = ReplyReader()
    private var greeting: [Greeting] = []
    /// Sent and not answered, oldest first; those before `answered` are done with.
    /// Nil where an answer tells nothing: that of an `ASKING`.
    private var pending: [RedisCall?] = []
    private var answered = 0
    private var output: [UInt8] = []
    private var flushes = false
    /// The loop was behind when a call's time ended, so its answer may lie unread.
    private var readsOnceMore = false
    private let resumption: TLSResumption?
    private var wasReady = false
    /// What the end was, once it has come.
    private(set) var detail = RedisTrouble.Detail.failure(.stopped)
    private let timer = LoopTimer()

    private enum Greeting {
        case authenticate
        case name
        case select
        case role
    }

    init(
        _ address: RedisAddress, role: Role, settings: RedisSettings, credentials: RedisCredentials?, loop: EventLoop,
        resuming resumption: TLSResumption? = nil, owner: any RedisConnectionOwner
    ) {
        self.address = address
        self.role = role
        self.settings = settings
        self.credentials = credentials
        self.resumption = resumption
        self.loop = loop
        self.owner = owner
    }

    deinit {
        self.loop.remove(self.timer)
        self.connector?.cancel()
        self.transport?.close()
    }

    /// For the next connection to the same server; none when this one never worked.
    var nextResumption: TLSResumption? { self.wasReady ? self.transport?.resumption : nil }

    var isReady: Bool { self.state == .ready }
    /// Nothing is waited for.
    var isIdle: Bool { self.answered == self.pending.count }

    // MARK: Connecting

    func start() {
        self.timer.action = { [unowned self] in self.timedOut() }
        self.connectDeadline = self.loop.clock.monotonicTime() + self.settings.connectTimeout
        self.loop.arm(self.timer, at: self.connectDeadline)
        let connector = Connector(to: self.address.host, port: self.address.port, on: self.loop) { [unowned self] in
            self.connected($0)
        }
        self.connector = connector
        connector.start(timeout: self.settings.connectTimeout)
    }

    private func connected(_ result: Result<ByteStream, ConnectFailure>) {
        let awaitsName = self.connector?.awaitsName == true
        self.connector = nil
        let stream: ByteStream
        switch result {
        case .success(let connected): stream = connected
        case .failure(.unknownHost): return self.close(.unreachable, .nameNotFound)
        case .failure(.refused): return self.close(.unreachable, .connectionRefused)
        case .failure(.timedOut): return self.close(.unreachable, awaitsName ? .nameNotFound : .connectTimeout)
        }
        do throws(TLSFailure) {
            let transport = try RedisTransport(
                stream, host: self.address.host, tls: self.settings.tls, resuming: self.resumption, delegate: self)
            self.transport = transport
            transport.start()
        } catch {
            self.close(.tls(error))
        }
    }

    /// Says who we are; the answers are read before the first call's.
    func transportOpened() {
        self.state = .greeting
        if let credentials = self.credentials {
            let words: [ByteString] = credentials.user.map { [$0, credentials.password] } ?? [credentials.password]
            self.greet(.authenticate, ["AUTH"] + words)
        }
        if self.role != .sentinel { self.greet(.name, ["CLIENT", "SETNAME", self.settings.clientName]) }
        if self.settings.database != 0, self.role != .sentinel {
            self.greet(.select, ["SELECT", ByteString("\(self.settings.database)")])
        }
        if self.mustBeMaster { self.greet(.role, ["ROLE"]) }
        self.greeting.reverse()
        if self.greeting.isEmpty { self.becomeReady() } else { self.flush() }
    }

    /// Messages may fail to reach a replica, too, when sentinels speak of an old time.
    private var mustBeMaster: Bool {
        guard self.role == .subscriber, case .sentinel = self.settings.topology else { return self.role == .master }
        return true
    }

    private func greet(_ kind: Greeting, _ words: [ByteString]) {
        self.greeting.append(kind)
        CommandWriter.begin(words.count, to: &self.output)
        for word in words { CommandWriter.append(word, to: &self.output) }
    }

    private func becomeReady() {
        self.state = .ready
        self.readsOnceMore = false
        self.wasReady = true
        self.loop.cancel(self.timer)
        self.owner.connectionIsReady(self)
    }

    private func greeted(_ kind: Greeting, _ reply: RedisReply) {
        if case .error(let error) = reply {
            switch error.kind {
            case .noAuth, .wrongPassword: return self.close(.notPermitted, .said(error.kind))
            // A name is a help to operators, which a narrow ACL may refuse, and a busy server.
            case _ where kind == .name: break
            case .noPermission where kind == .role: break
            case .noPermission: return self.close(.notPermitted, .said(.noPermission))
            case .loading, .masterDown, .busy: return self.close(.notServing, .said(error.kind))
            default:
                // A password where the server has none. Anything else says that it serves nobody now.
                if kind == .authenticate, error.isAboutPassword {
                    return self.close(.notPermitted, .said(.wrongPassword))
                }
                if kind == .authenticate { return self.close(.notServing, .said(error.kind)) }
                if kind == .select { return self.close(.server(error)) }
            }
        } else if kind == .role, reply.array?.first?.text != "master" {
            return self.close(.notServing, .notAMaster)
        }
        if self.greeting.isEmpty { self.becomeReady() }
    }

    // MARK: Calls

    /// Sends a call at the end of this turn of the loop. Only once ready.
    func send(_ call: RedisCall) {
        if call.isAsking {
            CommandWriter.begin(1, to: &self.output)
            CommandWriter.append(literal: "ASKING", to: &self.output)
            self.pending.append(nil)
        }
        call.append(to: &self.output)
        self.pending.append(call)
        if !self.timer.isArmed || self.timer.deadline > call.deadline { self.loop.arm(self.timer, at: call.deadline) }
        self.flushSoon()
    }

    /// Sends what is answered by pushes, or not at all.
    func sendUnanswered(_ words: [ByteString]) {
        CommandWriter.begin(words.count, to: &self.output)
        for word in words { CommandWriter.append(word, to: &self.output) }
        self.flushSoon()
    }

    private func flushSoon() {
        guard !self.flushes else { return }
        self.flushes = true
        self.loop.later { [self] in
            self.flushes = false
            self.flush()
        }
    }

    private func flush() {
        guard !self.output.isEmpty, let transport = self.transport else { return }
        var output: [UInt8] = []
        swap(&output, &self.output)
        output.withUnsafeBytes { transport.write($0) }
        guard self.output.isEmpty, output.capacity <= 262_144 else { return }
        output.removeAll(keepingCapacity: true)
        self.output = output
    }

    func transportReceived(_ bytes: UnsafeRawBufferPointer) {
        guard self.state != .closed else { return }
        self.reader?.append(bytes)
        do throws(ReplyReader.Malformed) {
            while self.state != .closed, let reply = try self.reader?.next() { self.take(reply) }
        } catch {
            self.close(.malformedReply, self.state == .ready ? nil : .notRedis)
        }
    }

    private func take(_ reply: RedisReply) {
        if let kind = self.greeting.popLast() { return self.greeted(kind, reply) }
        guard self.role != .subscriber else { return self.owner.connection(self, pushed: reply) }
        guard self.answered < self.pending.count else { return self.close(.malformedReply) }
        let call = self.pending[self.answered]
        self.answered += 1
        if self.answered == self.pending.count {
            self.pending.removeAll(keepingCapacity: true)
            self.answered = 0
            self.loop.cancel(self.timer)
        } else if self.answered >= 256 {
            self.pending.removeFirst(self.answered)
            self.answered = 0
        }
        if let call { self.owner.connection(self, answered: call, reply) }
    }

    /// Timers are late by a slot of the wheel; by more when something holds the loop up.
    private static let loopIsBehind = TimeSpan.milliseconds(16)

    private func timedOut() {
        let now = self.loop.clock.monotonicTime()
        guard self.state == .ready else {
            if !self.readsAgain(now - self.connectDeadline) { self.close(.unreachable, self.silence) }
            return
        }
        let open = self.pending[self.answered...].compactMap { $0 }
        if let late = open.first(where: { $0.deadline <= now }) {
            if !self.readsAgain(now - late.deadline) { self.close(.timedOut) }
            return
        }
        self.readsOnceMore = false
        if let next = open.map(\.deadline).min() { self.loop.arm(self.timer, at: next) }
    }

    /// What it was that took too long.
    private var silence: RedisTrouble.Detail {
        if let connector = self.connector { return connector.awaitsName ? .nameNotFound : .connectTimeout }
        // A server without TLS waits for the rest of what it takes for a command.
        return self.state == .connecting && self.settings.tls != nil ? .failure(.tls(.handshakeFailed)) : .noGreeting
    }

    /// Whether the sockets get another turn, since the loop looks at them after its timers.
    private func readsAgain(_ lateness: TimeSpan) -> Bool {
        guard lateness > Self.loopIsBehind, !self.readsOnceMore else { return false }
        self.readsOnceMore = true
        self.loop.arm(self.timer, after: .milliseconds(1))
        return true
    }

    // MARK: End

    func transportBroke(_ failure: RedisFailure) {
        // A server that hangs up before it is ready was not reached.
        guard self.state != .ready, failure == .connectionLost else { return self.close(failure) }
        self.close(.unreachable, .hungUp)
    }

    /// - Parameter detail: nil where the failure says it all.
    func close(_ failure: RedisFailure, _ detail: RedisTrouble.Detail? = nil) {
        guard self.state != .closed else { return }
        self.state = .closed
        self.detail = detail ?? .failure(failure)
        self.loop.remove(self.timer)
        self.connector?.cancel()
        self.transport?.close()
        let unanswered = self.pending[self.answered...].compactMap { $0 }
        self.pending = []
        self.answered = 0
        self.output = []
        self.owner.connectionEnded(self, failure, unanswered: unanswered)
    }
}
