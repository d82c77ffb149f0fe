import EventLoops
import GatewayTypes
import HTTPClient
import HTTPCodec
import HTTPServer
import Observability

/// Takes what another instance answers to the client: events as they come, at the client's pace; anything else whole.
///
/// The client's leaving ends the hop, and the hop's silence is taken for its end. On the loop.
final class HopRelay: UpstreamReceiver {
    enum End {
        /// The client's stream has begun, and this is how far it came.
        case streamed(EventTail.Last)
        case whole(HopFrame.Content)
        case nothing
        case failed(AskFailure, isReplayed: Bool)
        /// The instance that was called is another one than the question's.
        case notHere
        /// It does not take our signature.
        case refused
        case clientGone
        /// This process stops.
        case draining
        case unreachable
        /// As many hops are open as may be.
        case overloaded
    }

    private let context: AskContext
    private let command: HopCommand
    private var call: (any UpstreamCall)?
    private var head: UpstreamHead?
    private var events = EventTail()
    private var body: [UInt8] = []
    private var isPaused = false
    private(set) var hasBegun = false
    private let silence = LoopTimer()
    private var lastNews: MonotonicTime
    private var result: End?
    private var waiter: UnsafeContinuation<End, Never>?

    /// Largest event that is handed on; no provider's piece is larger.
    private static let mostOfEvent = 4_194_304

    init(_ command: HopCommand, _ context: AskContext) {
        self.command = command
        self.context = context
        self.lastNews = context.now()
    }

    /// Starts the hop and waits for its end. To be called once.
    func run(at address: ByteString, with client: HopClient, keys: HopKeys, owner: QuestionOwner) async -> End {
        self.begin(at: address, with: client, keys: keys, owner: owner)
        if let result = self.result { return result }
        return await withUnsafeContinuation { self.waiter = $0 }
    }

    private func begin(at address: ByteString, with client: HopClient, keys: HopKeys, owner: QuestionOwner) {
        let request = HopRequest(
            command: self.command, owner: owner, language: self.context.language,
            seconds: self.context.loop.loop.clock.wallTime().seconds, nonce: .random())
        self.call = client.start(request, at: address, keys: keys, receiver: self)
        guard self.call != nil else { return self.finish(.overloaded) }
        self.silence.action = { [unowned self] in self.checkSilence() }
        self.context.loop.loop.arm(self.silence, after: self.patience)
        self.context.exchange.onDrained = { [unowned self] in self.clientCaughtUp() }
        self.context.exchange.onDeadline = { [unowned self] in self.finish(.draining) }
        self.context.exchange.onClientGone = { [unowned self] in self.finish(.clientGone) }
    }

    private func finish(_ end: End) {
        guard self.result == nil else { return }
        self.result = end
        self.call?.cancel()
        self.call = nil
        self.context.loop.loop.remove(self.silence)
        self.context.exchange.onClientGone = nil
        self.context.exchange.onDrained = nil
        self.context.exchange.onDeadline = nil
        self.waiter?.resume(returning: end)
        self.waiter = nil
    }

    // MARK: Silence

    /// What runs is heard of at least once in a heartbeat; a follow and a cancel are answered at once.
    private var patience: TimeSpan {
        let heartbeat = self.context.snapshot.relay.heartbeat
        if case .repeated = self.command { return heartbeat + heartbeat + .seconds(5) }
        return self.head == nil ? .seconds(5) : heartbeat + heartbeat + .seconds(5)
    }

    private func checkSilence() {
        let end = self.lastNews + self.patience
        guard self.context.now() >= end else { return self.context.loop.loop.arm(self.silence, at: end) }
        // While the client holds the hop up, it is not the hop that is silent.
        if self.isPaused { return self.context.loop.loop.arm(self.silence, after: self.patience) }
        self.finish(self.hasBegun ? .streamed(self.events.last) : .unreachable)
    }

    // MARK: From the other instance

    func upstreamAnswered(_ head: UpstreamHead) {
        self.head = head
        self.lastNews = self.context.now()
        if head.status == 200, head.contentType.hasPrefix("text/event-stream") { self.beginStream() }
    }

    func upstreamReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        self.lastNews = self.context.loop.loop.turnTime
        guard self.hasBegun else {
            guard self.body.count &+ bytes.count <= HopFrame.mostBytes else { return false }
            self.body.append(contentsOf: bytes)
            return true
        }
        let whole = self.events.take(bytes)
        if !whole.isEmpty { self.write(whole) }
        return self.events.heldBytes <= Self.mostOfEvent
    }

    func upstreamEnded(_ failure: HTTPClientFailure?) {
        self.call = nil
        if self.hasBegun { return self.finish(.streamed(self.events.last)) }
        guard failure == nil, let head = self.head else { return self.finish(.unreachable) }
        self.finish(self.end(of: head))
    }

    /// An answer that came in one piece.
    private func end(of head: UpstreamHead) -> End {
        switch head.status {
        case 200: return HopFrame.content(of: self.body).map { .whole($0) } ?? .unreachable
        case 204: return .nothing
        case 401: return .refused
        case HopError.notHere: return .notHere
        default:
            return HopError.failure(in: head).map { .failed($0.0, isReplayed: $0.isReplayed) } ?? .unreachable
        }
    }

    // MARK: To the client

    private func beginStream() {
        self.hasBegun = true
        self.context.status = 200
        if case .repeated = self.command { self.context.isRepeat = true }
        self.context.exchange.beginStream(200) { head in
            MessageWriter.field("content-type", "text/event-stream; charset=utf-8", to: &head)
            MessageWriter.field("x-accel-buffering", "no", to: &head)
            self.context.appendFields(to: &head)
        }
        self.context.exchange.flush()
    }

    private func write(_ events: [UInt8]) {
        let exchange = self.context.exchange
        if self.context.firstTextAt == nil { self.context.firstTextAt = self.context.now() }
        exchange.write { $0.append(contentsOf: events) }
        exchange.flushSoon()
        let most = self.context.snapshot.relay.pauseAboveBytes
        guard !self.isPaused, exchange.pendingBytes > most else { return }
        // The client may take all of it at once, and is then not heard of again.
        exchange.flush()
        guard exchange.pendingBytes > most, self.result == nil else { return }
        self.isPaused = true
        self.call?.setPaused(true)
    }

    private func clientCaughtUp() {
        guard self.isPaused else { return }
        self.isPaused = false
        self.lastNews = self.context.now()
        self.call?.setPaused(false)
    }
}

extension HopRelay.End {
    /// As metrics count it.
    var outcome: HopOutcome {
        switch self {
        case .streamed(.open): .broken
        case .streamed, .whole, .nothing, .failed: .answered
        case .notHere: .notHere
        case .refused: .refused
        case .clientGone: .clientGone
        case .draining: .draining
        case .unreachable: .unreachable
        case .overloaded: .overloaded
        }
    }
}
