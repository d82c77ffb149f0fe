import EventLoops
import GatewayTypes
import HTTPCodec

/// One call over plain HTTP/1.1. On its loop.
final class PlainCall: UpstreamCall {
    private enum Phase {
        /// No word of an answer yet, or in a head; then `body`.
        case head
        /// Then `over`.
        case chunks
        /// Bytes still to come.
        case length(Int)
        case untilClose
        /// Nothing is told any more.
        case over
    }

    /// Gives its calls up before it goes.
    private unowned let client: PlainClient
    private let loop: EventLoop
    private let place: PlainPlace
    private let endpoint: UpstreamEndpoint
    private var receiver: (any UpstreamReceiver)?
    private var stream: ByteStream?
    private var phase = Phase.head
    private var decoder: ChunkedDecoder
    private var isPaused = false
    /// Bytes that came before a pause and were not told before it; a piece of a head that has not come whole.
    private var kept: [UInt8] = []
    /// Undoes a coding that nobody asked for.
    private var inflater: Inflater?
    private var keepsConnection = false
    private var isReused = false
    private var sentAt = MonotonicTime(nanoseconds: 0)
    /// A peer that had closed an idle connection says so at once; whoever works on a request for longer has it.
    private static let longestUnread = TimeSpan.seconds(1)
    private var isResuming = false
    /// Of heads so far, those of interim answers too.
    private var headBytes = 0
    /// Bytes of `kept` that hold no whole head.
    private var scanned = 0
    private let target: PlainTarget
    private let readLimit: Int
    /// Until the first word of an answer; then nobody else is sent it.
    private var request: [UInt8]
    private var connector: Connector?
    private let deadline = LoopTimer()

    /// - Parameter readLimit: bytes taken in one read, which is what can lie before a slow reader of the answer.
    init(
        _ endpoint: UpstreamEndpoint, _ target: PlainTarget, _ request: [UInt8], readLimit: Int, client: PlainClient,
        receiver: any UpstreamReceiver
    ) {
        self.endpoint = endpoint
        self.target = target
        self.request = request
        self.readLimit = readLimit
        self.client = client
        self.loop = client.loop
        self.place = client.place(of: target.peer)
        self.receiver = receiver
        self.decoder = ChunkedDecoder(limits: client.limits)
    }

    /// What waits for a paused reader; the rest of one read at most.
    var heldBytes: Int { self.kept.count }

    private var isOver: Bool {
        if case .over = self.phase { return true }
        return false
    }

    // MARK: For the caller

    func cancel() {
        guard !self.isOver else { return }
        self.receiver = nil
        self.leave()
    }

    func setPaused(_ paused: Bool) {
        guard !self.isOver, paused != self.isPaused else { return }
        self.isPaused = paused
        if paused { self.stream?.setReading(false) } else { self.resumeLater() }
    }

    /// Goes on with what is kept before more is read, and not from inside the caller.
    private func resumeLater() {
        guard !self.isResuming else { return }
        self.isResuming = true
        self.loop.later { [self] in
            self.isResuming = false
            guard !self.isPaused, !self.isOver else { return }
            var kept: [UInt8] = []
            swap(&kept, &self.kept)
            kept.withUnsafeBytes { self.take($0) }
            if !self.isPaused { self.stream?.setReading(true) }
        }
    }

    // MARK: Connection

    func start(deadline: TimeSpan) {
        self.place.openCalls += 1
        self.deadline.action = { [unowned self] in self.expire() }
        self.loop.arm(self.deadline, after: deadline)
        if let stream = self.place.take(now: self.loop.turnTime) {
            self.isReused = true
            self.use(stream)
        } else {
            self.connect()
        }
    }

    private func connect() {
        let peer = self.target.peer
        let known = self.place.addresses(now: self.loop.turnTime)
        let connector = Connector(to: peer.host, port: peer.port, known: known, on: self.loop) {
            [unowned self] result in
            let found = self.connector?.lookedUp ?? []
            self.connector = nil
            switch result {
            case .success(let stream):
                self.place.keep(found, now: self.loop.turnTime)
                self.use(stream)
            case .failure(let failure):
                self.place.forgetAddresses()
                self.end(failure == .timedOut ? .connectTimeout : .unreachable)
            }
        }
        self.connector = connector
        connector.start(timeout: self.endpoint.connectTimeout)
    }

    private func use(_ stream: ByteStream) {
        self.stream = stream
        self.sentAt = self.loop.turnTime
        stream.delegate = self
        stream.readLimit = self.readLimit
        stream.setReading(!self.isPaused)
        // Held by name: news of a broken connection may let go of it before this returns.
        let request = self.request
        request.withUnsafeBytes { stream.write($0) }
    }

    private func expire() { self.end(self.connector == nil ? .timeout : .connectTimeout) }

    /// Lets go of everything; the receiver has been told, or does not care.
    private func leave(reusing: Bool = false) {
        self.phase = .over
        self.loop.remove(self.deadline)
        self.connector?.cancel()
        self.connector = nil
        self.kept = []
        self.request = []
        if let stream = self.stream {
            self.stream = nil
            if reusing, stream.isOpen, stream.pendingBytes == 0 {
                self.place.give(stream, now: self.loop.turnTime)
            } else {
                stream.close()
            }
        }
        self.place.openCalls -= 1
        self.client.ended(self, self.endpoint)
    }

    /// The client goes away.
    func abandon() {
        self.receiver = nil
        self.phase = .over
        self.loop.remove(self.deadline)
        self.connector?.cancel()
        self.stream?.close()
    }

    private func end(_ failure: HTTPClientFailure?, reusing: Bool = false) {
        guard !self.isOver else { return }
        let receiver = self.receiver
        self.receiver = nil
        self.leave(reusing: reusing)
        receiver?.upstreamEnded(failure)
    }

    // MARK: Reading

    /// Reads on as far as the receiver goes along.
    private func take(_ bytes: UnsafeRawBufferPointer) {
        var at = 0
        while at < bytes.count {
            if self.isPaused {
                // The rest of one read, at most.
                self.kept.append(contentsOf: bytes[at...])
                return
            }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[at...])
            switch self.phase {
            case .head:
                guard let count = self.takeHead(rest) else { return }
                at += count
            case .chunks: at += self.takeChunks(rest)
            case .length(let remaining):
                let count = min(remaining, rest.count)
                self.phase = .length(remaining - count)
                at += count
                guard self.deliver(UnsafeRawBufferPointer(rebasing: rest[..<count])) else { return }
                if count == remaining { return self.complete(rest: bytes.count - at) }
            case .untilClose:
                _ = self.deliver(rest)
                return
            case .over: return
            }
        }
    }

    /// Reads one head; nil when it is not there yet or the call has ended.
    private func takeHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
        self.request = []
        let span = Span<UInt8>(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self))
        switch ResponseHeadParser.parse(span, scanned: self.scanned, limits: self.client.limits) {
        case .incomplete:
            self.scanned = bytes.count
            self.kept.append(contentsOf: bytes)
            return nil
        case .failed(let failure):
            switch failure {
            case .headTooLarge, .fieldTooLarge, .tooManyFields: self.end(.headTooLarge)
            default: self.end(.broken)
            }
            return nil
        case .head(let head, let count):
            self.scanned = 0
            self.headBytes += count
            guard self.headBytes <= self.client.limits.headBytes else {
                self.end(.headTooLarge)
                return nil
            }
            guard head.status >= 200 else {
                // 101 would be the end of HTTP here, and nobody asked for it.
                if head.status == 101 { self.end(.broken) }
                return self.isOver ? nil : count
            }
            return self.began(head, rest: bytes.count - count) ? count : nil
        }
    }

    /// Tells the head; false when the call has ended.
    private func began(_ head: HTTPResponseHead, rest: Int) -> Bool {
        self.keepsConnection = head.keepAlive
        switch head.framing {
        case .none, .length(0): self.phase = .length(0)
        case .length(let count): self.phase = .length(count)
        case .chunked: self.phase = .chunks
        case .untilClose: self.phase = .untilClose
        }
        let codings = head.values("content-encoding").map { $0.lowercased() }.filter { $0 != "identity" && !$0.isEmpty }
        // An answer without a body names the coding that it would have.
        if !codings.isEmpty, !self.hasNoBody {
            guard codings.count == 1, let inflater = Inflater(codings[0]) else {
                self.end(.coding)
                return false
            }
            self.inflater = inflater
        }
        self.receiver?.upstreamAnswered(
            UpstreamHead(head, wanting: self.endpoint.wantedFields, now: self.loop.clock.wallTime()))
        if self.hasNoBody { self.complete(rest: rest) }
        return !self.isOver
    }

    private var hasNoBody: Bool {
        if case .length(0) = self.phase { return true }
        return false
    }

    /// Tells what some bytes of a chunked body hold; gives how many it took.
    private func takeChunks(_ bytes: UnsafeRawBufferPointer) -> Int {
        let span = Span<UInt8>(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self))
        var at = 0
        var piece = self.decoder.next(span, from: &at, bodyLimit: .max)
        if case .data(let first) = piece {
            piece = self.decoder.next(span, from: &at, bodyLimit: .max)
            if case .data(let second) = piece {
                let isWanted = self.client.gathering { gathered in
                    gathered.append(contentsOf: bytes[first])
                    gathered.append(contentsOf: bytes[second])
                    let progress = self.decoder.decode(
                        span.extracting(at..<span.count), into: &gathered, bodyLimit: .max)
                    at += progress.consumed
                    piece = .end(progress.state)
                } then: {
                    self.deliver($0)
                }
                guard isWanted else { return at }
            } else if !self.deliver(UnsafeRawBufferPointer(rebasing: bytes[first])) {
                return at
            }
        }
        switch piece {
        case .data, .end(.needMore): break
        case .end(.complete): self.complete(rest: bytes.count - at)
        case .end(.failed): self.end(.broken)
        }
        return at
    }

    /// Hands bytes of the body on; false when the call has ended.
    private func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if let inflater = self.inflater {
            guard inflater.inflate(bytes, { self.tell($0) }) else {
                self.end(.coding)
                return false
            }
            return !self.isOver
        }
        return self.tell(bytes)
    }

    private func tell(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let receiver = self.receiver else { return false }
        if !receiver.upstreamReceived(bytes) { self.end(.cancelled) }
        return !self.isOver
    }

    /// The body has ended.
    ///
    /// - Parameter rest: bytes that came behind it; whoever sends them is not trusted with another call.
    private func complete(rest: Int) {
        guard !self.isOver else { return }
        guard self.inflater?.isComplete != false else { return self.end(.coding) }
        self.end(nil, reusing: self.keepsConnection && rest == 0)
    }
}

extension PlainCall: ByteStreamDelegate {
    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        guard !self.kept.isEmpty else { return self.take(bytes) }
        var joined: [UInt8] = []
        swap(&joined, &self.kept)
        joined.append(contentsOf: bytes)
        joined.withUnsafeBytes { self.take($0) }
    }

    func streamEnded(failed: Bool) {
        switch self.phase {
        case .head
        where self.isReused && !self.request.isEmpty && self.loop.turnTime - self.sentAt < Self.longestUnread:
            // Closed by the peer while it was idle, as peers may, and most likely before it knew of a request.
            self.isReused = false
            self.stream?.close()
            self.stream = nil
            self.connect()
        case .untilClose where !failed: self.complete(rest: 0)
        case .over: break
        default: self.end(.broken)
        }
    }

    func streamDrained() {}
}

extension UpstreamHead {
    fileprivate init(_ head: HTTPResponseHead, wanting names: [String], now: WallTime) {
        self.init(
            status: head.status,
            contentType: String(head.values("content-type").last?.prefix(100) ?? "").lowercased(),
            retryAfterSeconds: head.values("retry-after").last.flatMap {
                RetryAfter.seconds(String($0.prefix(64)), now: now)
            })
        for name in names {
            let joined = head.values(name).prefix(8).joined(separator: ",")
            if !joined.isEmpty, joined.utf8.count <= 1024 { self.fields[name] = joined }
        }
    }
}
