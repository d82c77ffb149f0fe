package import EventLoops
package import GatewayTypes

/// Listens to channels on a connection of its own, and says from when and until when it hears everything.
///
/// A message that is published while nobody is told `established` is lost, so whoever relies on messages must doubt
/// what it knows until then. A silent connection is found out by a ping a second, in three.
package final class RedisSubscriber: @unchecked Sendable {
    // Unchecked: touched on the loop's thread only, after it was made.

    /// What is heard, on the loop.
    package enum Event: Sendable {
        case established
        case message(channel: [UInt8], payload: [UInt8])
        case lost(RedisFailure)
    }

    private let settings: RedisSettings
    private let channels: [ByteString]
    private let loop: EventLoop
    private let hear: (Event) -> Void
    private var connection: RedisConnection?
    private var finder: SentinelFinder?
    private var candidates: [RedisAddress]
    private var next = 0
    private var confirmed = 0
    private var attempts = 0
    /// Pings since anything was heard.
    private var silentPings = 0
    private let timer = LoopTimer()
    private var isStopped = false
    private var ending: (() -> Void)?

    private static let pingPeriod = TimeSpan.seconds(1)
    /// Counted and not timed: a loop that was held up hears late, but then all at once.
    private static let mostSilentPings = 2

    package init(
        _ settings: RedisSettings, channels: [ByteString], loop: EventLoop, hear: @escaping @Sendable (Event) -> Void
    ) {
        self.settings = settings
        self.channels = channels
        self.loop = loop
        self.hear = hear
        switch settings.topology {
        case .single(let address): self.candidates = [address]
        case .sentinel: self.candidates = []
        // A cluster hands every message to all of its nodes.
        case .cluster(let seeds): self.candidates = seeds
        }
    }

    /// Listens until the task is cancelled.
    package func run() async {
        await self.loop.hold { ended in
            guard !self.isStopped else { return ended() }
            self.ending = ended
            self.connect()
        } stop: {
            self.loop.submit { self.stop() }
        }
    }

    /// Begins to listen. On the loop; `stop` ends it.
    func start() { self.connect() }

    /// On the loop.
    func stop() {
        self.isStopped = true
        self.loop.remove(self.timer)
        self.finder?.stop()
        self.finder = nil
        self.connection?.close(.stopped)
        self.ending?()
        self.ending = nil
    }

    private func connect() {
        guard !self.isStopped, self.connection == nil else { return }
        if case .sentinel(let name, let sentinels, _) = self.settings.topology {
            let finder = SentinelFinder(
                name: name, sentinels: sentinels, settings: self.settings, loop: self.loop)
            finder.found = { [unowned self] address in
                self.finder = nil
                self.connect(to: address)
            }
            self.finder = finder
            finder.start()
        } else if !self.candidates.isEmpty {
            self.next = (self.next + 1) % self.candidates.count
            self.connect(to: self.candidates[self.next])
        }
    }

    private func connect(to address: RedisAddress) {
        let connection = RedisConnection(
            address, role: .subscriber, settings: self.settings, credentials: self.settings.login.credentials,
            loop: self.loop, owner: self)
        self.connection = connection
        connection.start()
    }

    private func watch() {
        guard let connection = self.connection else { return }
        guard self.silentPings < Self.mostSilentPings else { return connection.close(.timedOut) }
        self.silentPings += 1
        connection.sendUnanswered(["PING"])
        self.loop.arm(self.timer, after: Self.pingPeriod)
    }
}

extension RedisSubscriber: RedisConnectionOwner {
    func connectionIsReady(_ connection: RedisConnection) {
        self.confirmed = 0
        self.silentPings = 0
        connection.sendUnanswered(["SUBSCRIBE"] + self.channels)
        self.timer.action = { [unowned self] in self.watch() }
        self.loop.arm(self.timer, after: Self.pingPeriod)
    }

    func connection(_ connection: RedisConnection, pushed reply: RedisReply) {
        self.silentPings = 0
        guard let parts = reply.array, parts.count == 3, let kind = parts[0].text else {
            if case .error(let error) = reply {
                connection.close(error.kind == .noPermission ? .notPermitted : .server(error))
            }
            return
        }
        if kind == "subscribe" {
            self.confirmed += 1
            guard self.confirmed == self.channels.count else { return }
            self.attempts = 0
            self.hear(.established)
        } else if kind == "message", let channel = parts[1].bytes, let payload = parts[2].bytes {
            self.hear(.message(channel: channel, payload: payload))
        }
    }

    func connection(_ connection: RedisConnection, answered call: RedisCall, _ reply: RedisReply) {}

    func connectionEnded(_ connection: RedisConnection, _ failure: RedisFailure, unanswered: [RedisCall]) {
        guard connection === self.connection else { return }
        self.connection = nil
        let wasEstablished = self.confirmed == self.channels.count
        self.confirmed = 0
        if wasEstablished || self.attempts == 0 { self.hear(.lost(failure)) }
        guard !self.isStopped else { return }
        self.timer.action = { [unowned self] in self.connect() }
        self.loop.arm(self.timer, after: ReplyPolicy.reconnect(self.attempts) { Int64.random(in: $0) })
        self.attempts += 1
    }
}
