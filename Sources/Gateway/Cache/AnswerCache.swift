import Asking
import EventLoops
import GatewayTypes
import JOSE
import Synchronization

/// The answers of one tenant that may be given again, and the asks for them that are on their way. In memory, shared
/// by all loops.
///
/// Keys are codes under a secret that dies with the process: neither a question nor anything that could be guessed
/// back to one is kept. Answers are, for as long as their task says and as the bounds allow, oldest out first.
package final class AnswerCache: Sendable {
    package struct Bounds: Hashable, Sendable {
        /// Of all answers with what is kept beside them.
        package var bytes: Int
        /// Of one answer; longer ones are not kept and not shared.
        package var answerBytes: Int

        package init(bytes: Int = 16_777_216, answerBytes: Int = 65_536) {
            self.bytes = bytes
            self.answerBytes = answerBytes
        }
    }

    /// How an ask gets its answer.
    enum Found {
        case kept(KeptAnswer)
        /// The same is being asked already.
        case shared(Subscription)
        /// The caller is to start the call.
        case mine(CachedCall, Subscription)
    }

    private struct Entry {
        var answer: KeptAnswer
        var expiresAt: MonotonicTime
        /// Tells this entry from an earlier one with the same key.
        var number: UInt64
    }

    /// Asks that differ only in how the answer comes are answered alike, but can't share a call.
    private struct OpenKey: Hashable {
        var key: CacheKey
        var streams: Bool
    }

    private struct State {
        var entries: [CacheKey: Entry] = [:]
        /// Every entry in the order of coming, and such as are gone already.
        var order: [(key: CacheKey, number: UInt64)] = []
        var oldest = 0
        var nextNumber: UInt64 = 0
        var bytes = 0
        var open: [OpenKey: CachedCall] = [:]
    }

    /// What an entry takes beside its text, roughly.
    private static let overhead = 256

    let bounds: Bounds
    private let authenticator: MessageAuthenticator
    private let state = Mutex(State())

    /// Nil when OpenSSL gives no authenticator.
    package init?(_ bounds: Bounds) {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        guard let authenticator = MessageAuthenticator(.sha256, secret: secret.span) else { return nil }
        self.bounds = bounds
        self.authenticator = authenticator
    }

    /// Bytes held now; never above the bound.
    package var heldBytes: Int { self.state.withLock { $0.bytes } }

    /// Places of answers in the order of their coming, with those of answers that are gone.
    var heldPlaces: Int { self.state.withLock { $0.order.count } }

    func key(_ request: AskRequest, of tenant: TenantID, from provider: ProviderName) -> CacheKey? {
        CacheKey(request, of: tenant, from: provider, authenticator: self.authenticator)
    }

    /// Finds the answer, joins whoever waits for it, or makes the caller the one that asks.
    func find(
        _ key: CacheKey, streams: Bool, lifetime: TimeSpan, now: MonotonicTime, on loop: EventLoop,
        reporter: AttemptReporter? = nil, receiver: any AnswerReceiver
    ) -> Found {
        self.state.withLock { state in
            if let entry = state.entries[key] {
                if entry.expiresAt > now { return .kept(entry.answer) }
                Self.remove(key, from: &state)
            }
            let place = OpenKey(key: key, streams: streams)
            if let running = state.open[place], let joined = running.join(on: loop, receiver: receiver) {
                return .shared(joined)
            }
            let call = CachedCall(
                key: key, streams: streams, lifetime: lifetime, cache: self, loop: loop, reporter: reporter)
            state.open[place] = call
            return .mine(call, call.lead(on: loop, receiver: receiver))
        }
    }

    /// A call takes nobody in any more.
    func close(_ call: CachedCall) {
        self.state.withLock { state in
            let place = OpenKey(key: call.key, streams: call.streams)
            if state.open[place] === call { state.open[place] = nil }
        }
    }

    /// A call has ended well: keeps its answer and takes nobody in any more, in one step, so that the next ask finds
    /// one or the other.
    func keep(_ answer: KeptAnswer, of call: CachedCall, now: MonotonicTime) {
        let size = answer.text.count &+ Self.overhead
        self.state.withLock { state in
            let place = OpenKey(key: call.key, streams: call.streams)
            if state.open[place] === call { state.open[place] = nil }
            guard answer.text.count <= self.bounds.answerBytes, size <= self.bounds.bytes else { return }
            Self.remove(call.key, from: &state)
            self.makeRoom(for: size, now: now, in: &state)
            let number = state.nextNumber
            state.nextNumber &+= 1
            state.entries[call.key] = Entry(answer: answer, expiresAt: now + call.lifetime, number: number)
            state.order.append((call.key, number))
            state.bytes &+= size
            Self.tidy(&state)
        }
    }

    /// Answers that outlive many others would keep the places of all these behind their own.
    private static func tidy(_ state: inout State) {
        guard state.order.count &- state.oldest > 2 &* state.entries.count &+ 256 else { return }
        state.order = state.order[state.oldest...].filter { state.entries[$0.key]?.number == $0.number }
        state.oldest = 0
    }

    private static func remove(_ key: CacheKey, from state: inout State) {
        guard let entry = state.entries.removeValue(forKey: key) else { return }
        state.bytes &-= entry.answer.text.count &+ self.overhead
    }

    /// Lets the oldest go until the new one fits, and besides any that have expired.
    private func makeRoom(for size: Int, now: MonotonicTime, in state: inout State) {
        while state.oldest < state.order.count {
            let (key, number) = state.order[state.oldest]
            if let entry = state.entries[key], entry.number == number {
                guard state.bytes &+ size > self.bounds.bytes || entry.expiresAt <= now else { break }
                Self.remove(key, from: &state)
            }
            state.oldest &+= 1
        }
        guard state.oldest > 64, state.oldest &* 2 > state.order.count else { return }
        state.order.removeFirst(state.oldest)
        state.oldest = 0
    }
}

/// A whole answer, ready to be given again.
struct KeptAnswer: Sendable {
    var text: [UInt8]
    var finish: FinishReason
    /// As the provider reported it.
    var usage: TokenUsage?
}
