import EventLoops
import GatewayTypes
import HTTPCodec

/// One client connection. On its loop, all of it.
///
/// Its task calls `nextExchange`, lets the handler answer, calls `finish`, and so on until nil. Bytes that come while
/// a request is in work are kept up to a bound and not parsed before its answer is out, so answers keep their order.
final class Connection: ByteStreamDelegate {
    enum Phase {
        /// Between requests, or in the middle of a head; then `working` or `closed`.
        case head
        /// A request is in work; then `finishing` or `closed`.
        case working
        /// Answered: the rest of the body and of the answer are on their way; then `head` or `lingering`.
        case finishing
        /// Our side is ended; what the peer still sends is thrown away. Then `closed`.
        case lingering
        case closed
    }

    let loop: EventLoop
    let peer: PeerAddress
    let configuration: HTTPServerConfiguration
    private let handler: any HTTPHandler
    private let shared: LoopShared
    private let stream: ByteStream
    private(set) var phase = Phase.head
    private(set) var isGone = false
    private var inbox: [UInt8] = []
    private var scanned = 0
    private var headStarted: MonotonicTime
    private var exchange: Exchange?
    private var headWaiter: UnsafeContinuation<Void, Never>?
    private var body = RequestBody(.none, limits: HTTPLimits())
    private var bodyFailure: HTTPServerFailure?
    private var wantsBody = false
    private var bodyStarted = MonotonicTime(nanoseconds: 0)
    private var bodyWaiter: UnsafeContinuation<Result<Void, HTTPServerFailure>, Never>?
    private var closesAfterAnswer = false
    private var owesContinue = false
    private(set) var isStreaming = false
    private(set) var isChunked = false
    private var sentBefore = 0
    private var isUnsent = false
    private let timer = LoopTimer()

    init(
        _ stream: ByteStream, peer: PeerAddress, loop: EventLoop, configuration: HTTPServerConfiguration,
        handler: any HTTPHandler, shared: LoopShared
    ) {
        self.stream = stream
        self.peer = peer
        self.loop = loop
        self.configuration = configuration
        self.handler = handler
        self.shared = shared
        self.headStarted = loop.clock.monotonicTime()
        self.closesAfterAnswer = shared.isDraining
    }

    /// Answers request after request until the connection ends.
    func serve() async {
        // A drain may have come between the accept and now; a timer armed here would outlive the connection.
        guard self.phase != .closed else { return }
        self.stream.delegate = self
        self.timer.action = { [unowned self] in self.timedOut() }
        self.loop.arm(self.timer, after: self.configuration.headTimeout)
        self.stream.setReading(true)
        while let exchange = await self.nextExchange() {
            await self.handler.handle(exchange)
            self.finish(exchange)
        }
    }

    private func nextExchange() async -> Exchange? {
        if self.phase == .head || self.phase == .finishing { await withUnsafeContinuation { self.headWaiter = $0 } }
        return self.phase == .working ? self.exchange : nil
    }

    // MARK: Bytes

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        switch self.phase {
        case .head where self.inbox.isEmpty:
            if self.scanned == 0 { self.headStarted = self.loop.clock.monotonicTime() }
            let taken = self.parse(Span(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self)))
            if self.phase != .closed { self.inbox.append(contentsOf: bytes[taken...]) }
            self.advance()
        case .head, .working, .finishing:
            self.inbox.append(contentsOf: bytes)
            self.advance()
        case .lingering, .closed: break
        }
    }

    /// Does with the kept bytes whatever the phase allows.
    private func advance() {
        self.takeBody()
        if self.phase == .finishing { self.tryNextRequest() }
        if self.phase == .head, !self.inbox.isEmpty {
            let taken = self.inbox.withUnsafeBufferPointer { self.parse(Span(_unsafeElements: $0)) }
            self.dropInbox(taken)
        }
        if self.phase == .working || self.phase == .finishing {
            self.stream.setReading(self.inbox.count <= self.configuration.readAheadBytes)
        }
    }

    private func dropInbox(_ count: Int) {
        guard count > 0 else { return }
        if count >= self.inbox.count { self.inbox = [] } else { self.inbox.removeFirst(count) }
    }

    // MARK: Head

    /// Parses one head; returns the bytes it took.
    private func parse(_ bytes: Span<UInt8>) -> Int {
        switch RequestHeadParser.parse(bytes, scanned: self.scanned, limits: self.configuration.limits) {
        case .incomplete:
            // The head's time runs from its first byte, however slowly the rest comes.
            if self.scanned == 0 { self.loop.arm(self.timer, at: self.headStarted + self.configuration.headTimeout) }
            self.scanned = bytes.count
            return 0
        case .failed(let failure):
            self.refuse(.malformed(failure))
            return bytes.count
        case .head(let head, let consumed):
            self.scanned = 0
            self.begin(head)
            return consumed
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        self.loop.cancel(self.timer)
        self.phase = .working
        self.body = RequestBody(head.framing, limits: self.configuration.limits)
        self.bodyFailure = nil
        self.wantsBody = false
        self.owesContinue = head.expectsContinue && !self.body.isComplete
        if !head.keepAlive { self.closesAfterAnswer = true }
        let exchange = Exchange(head: head, receivedAt: self.loop.clock.monotonicTime(), connection: self)
        self.exchange = exchange
        self.resumeHead()
    }

    /// Answers a request that can't be read, and closes.
    private func refuse(_ failure: HTTPServerFailure) {
        self.closesAfterAnswer = true
        self.send { output in
            self.beginHead(failure.status, to: &output)
            let body = self.handler.answer(to: failure, fields: &output)
            MessageWriter.field("content-length", body.count, to: &output)
            MessageWriter.endOfHead(to: &output)
            output.append(contentsOf: body)
        }
        self.linger()
    }

    // MARK: Body

    func readBody(limit: Int) async throws(HTTPServerFailure) -> [UInt8] {
        if let announced = self.body.announced, self.body.received + announced > limit { throw .bodyTooLarge }
        self.body.limit = limit
        self.wantsBody = true
        if self.owesContinue {
            self.owesContinue = false
            self.send { MessageWriter.continueResponse(to: &$0) }
        }
        self.advance()
        if !self.body.isComplete, self.bodyFailure == nil, !self.isGone {
            self.bodyStarted = self.loop.clock.monotonicTime()
            self.loop.arm(self.timer, after: self.configuration.bodyGrace)
            let result = await withUnsafeContinuation { self.bodyWaiter = $0 }
            self.loop.cancel(self.timer)
            try result.get()
        }
        if let failure = self.bodyFailure { throw failure }
        guard self.body.isComplete else { throw .clientGone }
        return self.body.takeBytes()
    }

    /// Moves what belongs to the body out of the inbox, once somebody wants it or it is to be thrown away.
    private func takeBody() {
        guard self.wantsBody, !self.inbox.isEmpty, !self.body.isComplete, self.bodyFailure == nil else { return }
        do throws(HTTPServerFailure) {
            let kept = self.inbox
            let taken = try self.body.take(kept.span)
            self.dropInbox(taken)
            if self.body.isComplete { self.resumeBody(.success(())) }
        } catch {
            self.failBody(error)
        }
    }

    /// The rest of the body can't be told from a next request: the connection ends with this answer.
    private func failBody(_ failure: HTTPServerFailure) {
        self.bodyFailure = failure
        self.closesAfterAnswer = true
        self.inbox = []
        self.resumeBody(.failure(failure))
    }

    private func resumeBody(_ result: Result<Void, HTTPServerFailure>) {
        self.bodyWaiter?.resume(returning: result)
        self.bodyWaiter = nil
    }

    private func checkBodyRate() {
        let elapsed = (self.loop.clock.monotonicTime() - self.bodyStarted).inSeconds
        let rated = max(0, elapsed - self.configuration.bodyGrace.inSeconds) + 0.001
        guard Double(self.body.received) < rated * Double(self.configuration.bodyMinimumRate) else {
            return self.loop.arm(self.timer, after: .seconds(1))
        }
        self.failBody(.timeout)
    }

    // MARK: Answer

    /// Status line and the fields that every answer carries.
    func beginHead(_ status: Int, to output: inout [UInt8]) {
        self.decidePersistence()
        MessageWriter.statusLine(status, to: &output)
        self.shared.appendDate(to: &output)
        if self.closesAfterAnswer { MessageWriter.field("connection", "close", to: &output) }
    }

    /// A body that is too long to throw away, or may never come, ends the connection.
    private func decidePersistence() {
        guard !self.body.isComplete else { return }
        let announced = self.body.announced ?? 0
        if self.owesContinue || announced > self.configuration.drainedBodyBytes { self.closesAfterAnswer = true }
    }

    func send(_ build: (inout [UInt8]) -> Void) {
        self.shared.scratch.removeAll(keepingCapacity: true)
        build(&self.shared.scratch)
        self.send(self.shared.scratch)
    }

    func send(_ bytes: [UInt8]) {
        let wasHeld = self.stream.pendingBytes > 0 && self.timer.isArmed
        bytes.withUnsafeBytes { self.stream.write($0) }
        // More bytes give a stalled peer no more time.
        if !wasHeld, self.stream.pendingBytes > 0, self.bodyWaiter == nil {
            self.sentBefore = self.stream.sentBytes
            self.loop.arm(self.timer, after: self.configuration.writeTimeout)
        }
    }

    func flushSoon() {
        guard !self.isUnsent else { return }
        self.isUnsent = true
        self.shared.flushSoon(self)
    }

    func flushUnsent() {
        self.isUnsent = false
        self.exchange?.flush()
        // A burst that was too large to go on gathering may have left at once, or fallen into the void.
        if self.phase == .working, self.stream.pendingBytes == 0 { self.exchange?.onDrained?() }
    }

    var pendingBytes: Int { self.stream.pendingBytes }

    func beginStream(isChunked: Bool) {
        self.isStreaming = true
        self.isChunked = isChunked
        // Without chunks only the end of the connection ends the body.
        if !isChunked { self.closesAfterAnswer = true }
    }

    func endStream(isComplete: Bool) {
        self.isStreaming = false
        if !isComplete { self.closesAfterAnswer = true }
    }

    func streamDrained() {
        if self.phase == .working {
            // While a body is waited for, the timer is the body's.
            if self.bodyWaiter == nil { self.loop.cancel(self.timer) }
            self.exchange?.onDrained?()
        } else {
            self.advance()
        }
    }

    // MARK: After the answer

    /// The handler is done: goes on to the next request, or ends the connection.
    @inline(never) private func finish(_ exchange: Exchange) {
        exchange.releaseCallbacks()
        self.exchange = nil
        guard exchange.isAnswered, !self.isStreaming, !self.isGone else { return self.close(reset: self.isStreaming) }
        self.phase = .finishing
        if !self.body.isComplete, !self.closesAfterAnswer {
            self.body.isDiscarding = true
            self.body.limit = self.body.received + self.configuration.drainedBodyBytes
            self.wantsBody = true
            // While the answer is on its way, the timer watches over that.
            if self.stream.pendingBytes == 0 { self.loop.arm(self.timer, after: self.configuration.lingerTimeout) }
        }
        self.advance()
    }

    private func tryNextRequest() {
        guard self.stream.pendingBytes == 0 else { return }
        if self.closesAfterAnswer { return self.linger() }
        guard self.body.isComplete else { return }
        self.phase = .head
        self.scanned = 0
        self.headStarted = self.loop.clock.monotonicTime()
        self.loop.arm(self.timer, at: self.headStarted + self.configuration.idleTimeout)
        self.stream.setReading(true)
    }

    /// Ends our side and reads on for a moment: closing at once could destroy the answer (RFC 9112 §9.6).
    private func linger() {
        guard self.phase != .closed else { return }
        self.phase = .lingering
        self.inbox = []
        self.stream.endWriting()
        self.stream.setReading(true)
        self.loop.arm(self.timer, after: self.configuration.lingerTimeout)
        self.resumeHead()
    }

    private func resumeHead() {
        self.headWaiter?.resume()
        self.headWaiter = nil
    }

    private func close(reset: Bool = false) {
        guard self.phase != .closed else { return }
        self.phase = .closed
        self.loop.remove(self.timer)
        self.stream.close(reset: reset)
        self.inbox = []
        self.clientWent()
        self.resumeHead()
        self.shared.remove(self)
    }

    private func clientWent() {
        self.isGone = true
        self.resumeBody(.failure(.clientGone))
        self.exchange?.tellClientGone()
        // What was held has been let go: an answer that goes on without its reader must not wait for it.
        if self.stream.pendingBytes == 0 { self.exchange?.onDrained?() }
    }

    func streamEnded(failed: Bool) {
        switch self.phase {
        case .working: self.clientWent()
        case .finishing where !failed && self.stream.pendingBytes > 0: self.closesAfterAnswer = true
        case .head, .finishing, .lingering, .closed: self.close()
        }
    }

    private func timedOut() {
        switch self.phase {
        case .head:
            // Silence between requests is no fault; half a head is.
            if self.scanned == 0 { self.close() } else { self.refuse(.timeout) }
        case .working where self.bodyWaiter != nil: self.checkBodyRate()
        case .working: self.checkProgress()
        case .finishing where self.stream.pendingBytes > 0: self.checkProgress()
        case .finishing:
            self.closesAfterAnswer = true
            self.linger()
        case .lingering: self.close()
        case .closed: break
        }
    }

    /// Gives a peer up that has taken nothing for the whole write timeout.
    private func checkProgress() {
        guard self.stream.pendingBytes > 0 else { return }
        guard self.stream.sentBytes == self.sentBefore else {
            self.sentBefore = self.stream.sentBytes
            return self.loop.arm(self.timer, after: self.configuration.writeTimeout)
        }
        self.close(reset: true)
    }

    // MARK: Drain

    /// No request after the one in work.
    func drain() {
        self.closesAfterAnswer = true
        if self.phase == .head, self.scanned == 0 { self.close() }
    }

    /// The answer in work has to end now.
    func deadlineCame() { self.exchange?.onDeadline?() }

    /// Nothing is waited for any more.
    func abort() { self.close(reset: true) }
}
