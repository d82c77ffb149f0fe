import GatewayTypes
import HTTPCodec
import Observability
import Synchronization

/// Lets in what instances that know the secret have just signed, once each.
final class HopGuard: Sendable {
    /// How far the clocks of two instances may be apart, in seconds.
    static let window: Int64 = 30

    private let nonces: NonceMemory
    /// The latest second that this clock has shown: set back, it must not make old hops fresh again.
    private let newest = Atomic<Int64>(.min)

    init(_ nonces: NonceMemory = NonceMemory()) { self.nonces = nonces }

    /// Why a hop is refused.
    enum Refusal: Error {
        /// It is none, or says something that no instance writes.
        case malformed
        case stale
        case badSignature
        case replayed
        /// More came than can be remembered.
        case overloaded

        var outcome: HopOutcome {
            switch self {
            case .malformed: .malformed
            case .stale: .stale
            case .badSignature: .badSignature
            case .replayed: .replayed
            case .overloaded: .overloaded
            }
        }

        /// Nothing is told of what was wrong.
        var status: Int { self == .overloaded ? 503 : 401 }
    }

    /// Only what is signed well is remembered, so that nobody else can fill the memory.
    func judge(
        _ head: HTTPRequestHead, keys: HopKeys, wall: WallTime, now: MonotonicTime
    ) throws(Refusal) -> HopRequest {
        guard let request = HopRequest(head), let signature = HopRequest.signature(in: head) else {
            throw .malformed
        }
        let newest = self.newest.max(wall.seconds, ordering: .relaxed).newValue
        guard request.seconds >= newest &- Self.window, request.seconds <= wall.seconds &+ Self.window else {
            throw .stale
        }
        guard keys.areOf(signature, request) else { throw .badSignature }
        switch self.nonces.take(request.nonce, at: now) {
        case .new: return request
        case .seen: throw .replayed
        case .full: throw .overloaded
        }
    }
}

/// The nonces of the last minute and a half, and up to as much more. From any loop.
final class NonceMemory: Sendable {
    enum Verdict {
        case new
        case seen
        /// There is no room to remember it, so that it can't be told from a later replay.
        case full
    }

    /// A hop is taken from a window before its time until a window behind it, and a window more where the clock is set
    /// back; seconds are whole.
    private static let span = TimeSpan.seconds(3 * HopGuard.window + 2)

    private struct State {
        var young: Set<RequestID> = []
        var old: Set<RequestID> = []
        var turnedAt: MonotonicTime?
    }

    private let state = Mutex(State())
    private let most: Int

    /// - Parameter most: nonces of one span; twice as many are held at most, 16 bytes each and the table's room.
    init(most: Int = 131_072) { self.most = most }

    func take(_ nonce: RequestID, at now: MonotonicTime) -> Verdict {
        self.state.withLock { state in
            self.turn(&state, at: now)
            guard !state.young.contains(nonce), !state.old.contains(nonce) else { return .seen }
            guard state.young.count < self.most else { return .full }
            state.young.insert(nonce)
            return .new
        }
    }

    private func turn(_ state: inout State, at now: MonotonicTime) {
        guard let turnedAt = state.turnedAt else { return state.turnedAt = now }
        guard now - turnedAt >= Self.span else { return }
        // What came just before this turn is held for one span more.
        state.old = now - turnedAt >= Self.span + Self.span ? [] : state.young
        state.young = []
        state.turnedAt = now
    }
}
