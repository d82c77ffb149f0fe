import Asking
import EventLoops
import GatewayTypes
import Synchronization

/// One provider call whose answer several asks wait for.
///
/// It belongs to none of them: who leaves takes nothing from the others, and only when the last has left is the call
/// given up. Its text is gathered once; each subscription reads on from where it is, on its own loop. The first one
/// pays, and when that leaves, the next.
final class SharedAnswer: AnswerReceiver, @unchecked Sendable {
    // Unchecked: `ask` is touched on `loop` only; all else that changes is in `state`.
    private struct Member {
        let subscription: Subscription
        /// Bytes of the whole text that it has had.
        var taken = 0
        /// Was told that there is more, and has not looked yet.
        var isTold = false
    }

    private struct State {
        var members: [Int: Member] = [:]
        var nextSerial = 0
        var payer = 0
        /// The text from `dropped` on.
        var text: [UInt8] = []
        var dropped = 0
        var hasStarted = false
        var isOpen = true
        var isPaused = false
        var end: AskEnd?

        var total: Int { self.dropped &+ self.text.count }
    }

    /// What a member has not had yet.
    struct News {
        var text: [UInt8]
        var hasStarted: Bool
        var end: AskEnd?
    }

    let key: CacheKey
    let streams: Bool
    let lifetime: TimeSpan
    private let loop: EventLoop
    private let cache: AnswerCache
    private let reporter: AttemptReporter?
    private let state = Mutex(State())
    private var ask: Ask?

    init(
        key: CacheKey, streams: Bool, lifetime: TimeSpan, cache: AnswerCache, loop: EventLoop,
        reporter: AttemptReporter?
    ) {
        self.key = key
        self.streams = streams
        self.lifetime = lifetime
        self.cache = cache
        self.loop = loop
        self.reporter = reporter
    }

    /// Holds the call, which may have ended already. On `loop`.
    func attach(_ ask: Ask) { if self.state.withLock({ $0.end == nil }) { self.ask = ask } }

    /// One more ask waits for the answer; nil when it is too late for that.
    func join(on loop: EventLoop, receiver: any AnswerReceiver) -> Subscription? {
        let joined = self.state.withLock { state -> (Subscription, hasNews: Bool)? in
            guard state.isOpen else { return nil }
            let subscription = Subscription(self, serial: state.nextSerial, loop: loop, receiver: receiver)
            state.members[state.nextSerial] = Member(subscription: subscription)
            state.nextSerial &+= 1
            return (subscription, state.hasStarted)
        }
        guard let (subscription, hasNews) = joined else { return nil }
        // Not before the caller is ready for it.
        if hasNews { loop.submit { subscription.pull() } }
        return subscription
    }

    /// The ask that starts the call: its first member, and the one that pays.
    func lead(on loop: EventLoop, receiver: any AnswerReceiver) -> Subscription {
        self.state.withLock { state in
            let subscription = Subscription(self, serial: state.nextSerial, loop: loop, receiver: receiver)
            state.members[state.nextSerial] = Member(subscription: subscription)
            state.nextSerial &+= 1
            return subscription
        }
    }

    // MARK: For the members, from any loop

    /// What came behind the text that the member has had.
    func news(for serial: Int) -> News? {
        let (news, goesOn) = self.state.withLock { state -> (News?, Bool) in
            guard let member = state.members[serial] else { return (nil, false) }
            let start = min(max(member.taken &- state.dropped, 0), state.text.count)
            var end = state.end
            if state.payer != serial {
                end?.attempts = 0
                end?.spent = nil
            }
            let news = News(text: Array(state.text[start...]), hasStarted: state.hasStarted, end: end)
            state.members[serial] = Member(subscription: member.subscription, taken: state.total)
            return (news, self.drop(&state))
        }
        if goesOn { self.loop.submit { self.ask?.setPaused(false) } }
        return news
    }

    /// A member leaves; true when it was the one that pays and nobody is left to take its place.
    func leave(_ serial: Int) -> Bool {
        let (isPayer, isLast) = self.state.withLock { state -> (Bool, Bool) in
            guard state.members.removeValue(forKey: serial) != nil else { return (false, false) }
            let isLast = state.members.isEmpty && state.end == nil
            if isLast { state.isOpen = false }
            // Behind the end who pays is settled.
            guard state.payer == serial, state.end == nil else { return (false, isLast) }
            guard let next = state.members.keys.min() else { return (true, isLast) }
            state.payer = next
            return (false, isLast)
        }
        if isLast {
            self.cache.close(self)
            self.onLoop { self.ask?.cancel() }
        }
        return isPayer
    }

    private func onLoop(_ call: @escaping @Sendable () -> Void) {
        if self.loop.isCurrent { call() } else { self.loop.submit(call) }
    }

    // MARK: From the core, on `loop`

    func answerStarted() { self.state.withLock { $0.hasStarted = true } }

    func answerGrew(_ text: UnsafeBufferPointer<UInt8>) {
        let isTooLong = self.state.withLock { state in
            state.text.append(contentsOf: text)
            guard state.isOpen, state.total > self.cache.bounds.answerBytes else { return false }
            state.isOpen = false
            return true
        }
        if isTooLong { self.cache.close(self) }
    }

    func answerPaused() {
        self.tellAll()
        let pauses = self.state.withLock { state in
            _ = self.drop(&state)
            guard !state.isOpen, !state.isPaused, state.text.count > Self.mostBehind else { return false }
            state.isPaused = true
            return true
        }
        if pauses { self.ask?.setPaused(true) }
    }

    func answerEnded(_ end: AskEnd) {
        self.ask = nil
        let kept = self.state.withLock { state -> KeptAnswer? in
            defer {
                state.end = end
                state.isOpen = false
            }
            guard state.isOpen, end.failure == nil, !end.wasCancelled, let finish = end.finish,
                finish == .stop || finish == .length
            else { return nil }
            return KeptAnswer(text: state.text, finish: finish, usage: end.usage)
        }
        if let kept {
            self.cache.keep(kept, of: self, now: self.loop.clock.monotonicTime())
        } else {
            self.cache.close(self)
        }
        self.tellAll()
    }

    func attemptEnded(_ attempt: AskAttempt) { self.reporter?.measure(attempt) }

    func breakerChanged(of provider: ProviderName, to state: BreakerState) {
        self.reporter?.breakerChanged(of: provider, to: state)
    }

    func keySetAside(_ key: KeySetAside) { self.reporter?.keySetAside(key) }

    /// Bytes that the slowest reader of an answer too long to be kept may be behind.
    private static let mostBehind = 262_144

    /// Lets go of what everybody has had, once nobody can join; true when the provider may go on.
    private func drop(_ state: inout State) -> Bool {
        guard !state.isOpen, state.end == nil, state.text.count > Self.mostBehind / 4 else { return false }
        let least = state.members.values.reduce(state.total) { min($0, $1.taken) }
        let count = min(max(least &- state.dropped, 0), state.text.count)
        state.text.removeFirst(count)
        state.dropped &+= count
        guard state.isPaused, state.text.count <= Self.mostBehind / 2 else { return false }
        state.isPaused = false
        return true
    }

    private func tellAll() {
        let waiting = self.state.withLock { state in
            var waiting: [Subscription] = []
            for (serial, member) in state.members where !member.isTold {
                state.members[serial]?.isTold = true
                waiting.append(member.subscription)
            }
            return waiting
        }
        for subscription in waiting { subscription.tell(from: self.loop) }
    }
}
