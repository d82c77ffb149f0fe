import EventLoops
import GatewayTypes

/// Asks sentinels, one after the other, where the master is, and goes on until one says so. On its loop.
///
/// The sentinel that answered moves to the front. What it says is checked by `ROLE` where the master is connected to.
final class SentinelFinder: RedisConnectionOwner {
    private let name: ByteString
    private var sentinels: [RedisAddress]
    private let settings: RedisSettings
    private let loop: EventLoop
    private var connection: RedisConnection?
    private var next = 0
    /// What the sentinels of this round said that tells more than silence.
    private var heard: RedisFailure?
    /// Which sentinel said it, or was the last that said nothing.
    private var trouble: RedisTrouble?
    private var isSearching = false
    private var hasSearched = false
    private let pause = LoopTimer()
    var found: (RedisAddress) -> Void = { _ in }
    var failed: (RedisFailure, RedisTrouble?) -> Void = { _, _ in }
    /// Why the last round over all sentinels told nothing; nil once one did.
    private(set) var lastFailure: RedisFailure?

    init(
        name: ByteString, sentinels: [RedisAddress], settings: RedisSettings, loop: EventLoop
    ) {
        self.name = name
        self.sentinels = sentinels
        var settings = settings
        settings.connectTimeout = min(settings.connectTimeout, .milliseconds(300))
        self.settings = settings
        self.loop = loop
        self.pause.action = { [unowned self] in self.askNext() }
    }

    deinit { self.loop.remove(self.pause) }

    /// Begins a search, a moment after the last one; one that runs goes on.
    func start() {
        guard !self.isSearching else { return }
        self.isSearching = true
        self.next = 0
        // A failover takes its time: sentinels name the old master until it is over.
        self.loop.arm(self.pause, after: .milliseconds(self.hasSearched ? 200 : 0))
        self.hasSearched = true
    }

    /// Who follows, as a `+switch-master` message says it: `name old-host old-port host port`.
    static func newMaster(of name: ByteString, in payload: [UInt8]) -> RedisAddress? {
        let words = payload.split(separator: UInt8(ascii: " "))
        guard words.count == 5, words[0].elementsEqual(name.utf8),
            let host = String(validating: words[3], as: UTF8.self),
            let port = String(validating: words[4], as: UTF8.self).flatMap({ UInt16($0) })
        else { return nil }
        return RedisAddress(host: host, port: port)
    }

    func stop() {
        self.loop.cancel(self.pause)
        self.isSearching = false
        let connection = self.connection
        self.connection = nil
        connection?.close(.stopped)
    }

    private func askNext() {
        guard self.isSearching else { return }
        guard self.next < self.sentinels.count else { return self.endRound() }
        let connection = RedisConnection(
            self.sentinels[self.next], role: .sentinel, settings: self.settings,
            credentials: self.settings.sentinelLogin.credentials, loop: self.loop, owner: self)
        self.connection = connection
        connection.start()
    }

    private func endRound() {
        let failure = self.heard ?? .noSentinel
        self.lastFailure = failure
        self.heard = nil
        self.next = 0
        self.loop.arm(self.pause, after: .milliseconds(Int64.random(in: 200...500)))
        self.failed(failure, self.trouble)
    }

    private func goOn() {
        self.next += 1
        let connection = self.connection
        self.connection = nil
        connection?.close(.stopped)
        self.loop.arm(self.pause, after: .milliseconds(0))
    }

    func connectionIsReady(_ connection: RedisConnection) {
        let deadline = self.loop.clock.monotonicTime() + self.settings.connectTimeout
        connection.send(
            RedisCall(
                .command(["SENTINEL", "get-master-addr-by-name", self.name]), slot: nil, deadline: deadline,
                isIdempotent: true
            ) { _ in })
    }

    func connection(_ connection: RedisConnection, answered call: RedisCall, _ reply: RedisReply) {
        guard connection === self.connection else { return }
        guard let parts = reply.array, parts.count == 2, let host = parts[0].text,
            let port = parts[1].text.flatMap({ UInt16($0) })
        else {
            self.note(reply, from: connection.address)
            return self.goOn()
        }
        self.isSearching = false
        self.lastFailure = nil
        self.heard = nil
        self.sentinels.swapAt(0, self.next)
        self.connection = nil
        connection.close(.stopped)
        self.found(RedisAddress(host: host, port: port))
    }

    /// A sentinel that knows no such master tells more than one that refuses to speak with us.
    private func note(_ reply: RedisReply, from address: RedisAddress) {
        guard case .error(let error) = reply else {
            self.heard = .unknownMaster
            self.trouble = RedisTrouble(address: address, detail: .failure(.unknownMaster))
            return
        }
        guard self.heard == nil else { return }
        self.trouble = RedisTrouble(address: address, detail: .said(error.kind))
        switch error.kind {
        case .noAuth, .wrongPassword, .noPermission: self.heard = .notPermitted
        default: break
        }
    }

    func connection(_ connection: RedisConnection, pushed reply: RedisReply) {}

    func connectionEnded(_ connection: RedisConnection, _ failure: RedisFailure, unanswered: [RedisCall]) {
        guard connection === self.connection else { return }
        self.connection = nil
        self.next += 1
        if self.heard == nil { self.trouble = RedisTrouble(address: connection.address, detail: connection.detail) }
        switch failure {
        case .notPermitted, .tls: self.heard = self.heard ?? failure
        default: break
        }
        self.loop.arm(self.pause, after: .milliseconds(0))
    }
}
