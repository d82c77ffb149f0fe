import Asking
import EventLoops
import GatewayTypes
import Synchronization

/// An answer on its way that several readers follow.
///
/// It belongs to none of them: who leaves takes nothing from the others. Its text is gathered once; each subscription
/// reads on from where it is, on its own loop. What it is gathered for is the subclass' to say: `CachedCall` for asks
/// that wait for the same call, `Question` for the connections of one ask.
class SharedAnswer: AnswerReceiver, @unchecked Sendable {
    // Unchecked: `ask` is touched on `loop` only; all else that changes is in `state`.
    struct Member {
        let subscription: Subscription
        /// Bytes of the whole text that it has had, and pieces.
        var taken = 0
        var pieces = 0
        /// Was told that there is more, and has not looked yet.
        var isTold = false
    }

    struct State {
        var members: [Int: Member] = [:]
        var nextSerial = 0
        var payer = 0
        /// The text from `dropped` on.
        var text: [UInt8] = []
        var dropped = 0
        /// Where each piece from `droppedPieces` on ends in the whole text; empty where pieces don't count.
        var ends: [UInt32] = []
        var droppedPieces = 0
        var hasStarted = false
        /// Whether all text is held, for who comes later.
        var isOpen = true
        var isPaused = false
        /// What members are told behind the text.
        var end: AskEnd?

        var total: Int { self.dropped &+ self.text.count }
        var pieces: Int { self.droppedPieces &+ self.ends.count }
    }

    /// What a member has not had yet, or the first part of it.
    struct News {
        var text: [UInt8]
        /// Where each piece of `text` ends in it; empty where pieces don't count.
        var ends: [Int] = []
        var hasStarted: Bool
        /// Nil while there is more.
        var end: AskEnd?
    }

    let loop: EventLoop
    let state = Mutex(State())
    private let keepsPieces: Bool
    private let reporter: AttemptReporter?
    private(set) var ask: AskOnItsWay?

    /// - Parameter keepsPieces: every member is told the text in the pieces in which it came.
    init(loop: EventLoop, keepsPieces: Bool, reporter: AttemptReporter?) {
        self.loop = loop
        self.keepsPieces = keepsPieces
        self.reporter = reporter
    }

    /// Holds the call, unless it has ended already. On `loop`.
    func attach(_ ask: AskOnItsWay) { if !self.hasCallEnded { self.ask = ask } }

    private(set) var hasCallEnded = false

    // MARK: For the subclass to say

    /// Whether so much text may be held for who comes later.
    func mayHold(text: Int, pieces: Int) -> Bool { false }
    /// Nobody can come in any more.
    func closed() {}
    /// The last member has left, unless another has come since. From any loop.
    func emptied() {}
    /// The call has ended. On `loop`.
    func callEnded(_ end: AskEnd) { self.tell(end) }

    // MARK: Coming and going

    /// One more reader; nil when it is too late for that.
    ///
    /// - Parameter pieces: how many it has had already; nil is returned as well when there are not so many.
    func join(behind pieces: Int = 0, on loop: EventLoop, receiver: any AnswerReceiver) -> Subscription? {
        let joined = self.state.withLock { state -> (Subscription, hasNews: Bool)? in
            guard state.isOpen, pieces <= max(state.pieces, 0) else { return nil }
            let taken = pieces > 0 ? Int(state.ends[pieces &- 1]) : 0
            // Who paid has left a moment ago, and the call is not given up yet.
            if state.members.isEmpty, state.end == nil { state.payer = state.nextSerial }
            let subscription = self.add(
                Member(
                    subscription: Subscription(self, serial: state.nextSerial, loop: loop, receiver: receiver),
                    taken: taken, pieces: pieces), to: &state)
            return (subscription, state.hasStarted || state.end != nil)
        }
        guard let (subscription, hasNews) = joined else { return nil }
        // Not before the caller is ready for it.
        if hasNews { loop.submit { subscription.pull() } }
        return subscription
    }

    /// The ask that starts the call: its first member, and the one that pays.
    func lead(on loop: EventLoop, receiver: any AnswerReceiver) -> Subscription {
        self.state.withLock { state in
            self.add(
                Member(
                    subscription: Subscription(self, serial: state.nextSerial, loop: loop, receiver: receiver)),
                to: &state)
        }
    }

    private func add(_ member: Member, to state: inout State) -> Subscription {
        state.members[state.nextSerial] = member
        state.nextSerial &+= 1
        return member.subscription
    }

    /// What a member that leaves has to pay for.
    enum Dues {
        case nothing
        /// A call that is given up, since nobody is left to take its place.
        case openCall
        /// A call that is over.
        case call(AskEnd)
    }

    /// A member leaves.
    func leave(_ serial: Int) -> Dues {
        let (dues, isLast, goesOn) = self.state.withLock { state -> (Dues, Bool, Bool) in
            guard state.members.removeValue(forKey: serial) != nil else { return (.nothing, false, false) }
            // The slowest may have been the one that held up the others.
            return (Self.dues(of: serial, in: &state), state.members.isEmpty, self.drop(&state))
        }
        if goesOn { self.loop.submit { self.ask?.setPaused(false) } }
        if isLast { self.emptied() }
        return dues
    }

    private static func dues(of serial: Int, in state: inout State) -> Dues {
        guard state.payer == serial else { return .nothing }
        // Behind the end who pays is settled.
        if let end = state.end { return .call(end) }
        guard let next = state.members.keys.min() else { return .openCall }
        state.payer = next
        return .nothing
    }

    func onLoop(_ call: @escaping @Sendable () -> Void) {
        if self.loop.isCurrent { call() } else { self.loop.submit(call) }
    }

    // MARK: For the members, from any loop

    /// What came behind the text that the member has had.
    func news(for serial: Int) -> News? {
        let (news, goesOn) = self.state.withLock { state -> (News?, Bool) in
            guard let member = state.members[serial] else { return (nil, false) }
            let news =
                self.keepsPieces ? Self.pieces(for: member, in: &state, serial) : Self.all(for: member, in: state)
            var told = News(text: news.text, ends: news.ends, hasStarted: state.hasStarted)
            let moved = Member(
                subscription: member.subscription, taken: member.taken &+ news.text.count,
                pieces: member.pieces &+ news.ends.count)
            state.members[serial] = moved
            if moved.taken >= state.total { told.end = self.end(for: serial, in: state) }
            return (told, self.drop(&state))
        }
        if goesOn { self.loop.submit { self.ask?.setPaused(false) } }
        return news
    }

    private static func all(for member: Member, in state: borrowing State) -> (text: [UInt8], ends: [Int]) {
        let start = min(max(member.taken &- state.dropped, 0), state.text.count)
        return (Array(state.text[start...]), [])
    }

    /// So many pieces at most are handed over at once, so that a reader can stop between them.
    private static let mostPieces = 256

    private static func pieces(
        for member: Member, in state: inout State, _ serial: Int
    ) -> (text: [UInt8], ends: [Int]) {
        let first = min(max(member.pieces &- state.droppedPieces, 0), state.ends.count)
        let ends = state.ends[first...].prefix(Self.mostPieces)
        let start = min(max(member.taken &- state.dropped, 0), state.text.count)
        guard let last = ends.last else { return ([], []) }
        let end = min(max(Int(last) &- state.dropped, start), state.text.count)
        return (Array(state.text[start..<end]), ends.map { Int($0) &- member.taken })
    }

    private func end(for serial: Int, in state: borrowing State) -> AskEnd? {
        state.payer == serial ? state.end : state.end?.ofNoCall
    }

    // MARK: From the core, on `loop`

    func answerStarted() { self.state.withLock { $0.hasStarted = true } }

    func answerGrew(_ text: UnsafeBufferPointer<UInt8>) {
        guard !text.isEmpty else { return }
        let (isOpen, total, pieces) = self.state.withLock { state in
            state.text.append(contentsOf: text)
            if self.keepsPieces { state.ends.append(UInt32(truncatingIfNeeded: state.total)) }
            return (state.isOpen, state.total, state.ends.count)
        }
        if isOpen, !self.mayHold(text: total, pieces: pieces) { self.close() }
    }

    /// Lets nobody in any more, and holds only what the slowest reader lacks.
    func close() {
        let wasOpen = self.state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen { self.closed() }
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
        self.hasCallEnded = true
        self.callEnded(end)
    }

    /// Tells every member the end, behind the text.
    func tell(_ end: AskEnd) {
        self.state.withLock { $0.end = end }
        self.tellAll()
    }

    func attemptEnded(_ attempt: AskAttempt) { self.reporter?.measure(attempt) }

    func breakerChanged(of provider: ProviderName, to state: BreakerState, after failure: ProviderFailure?) {
        self.reporter?.breakerChanged(of: provider, to: state, after: failure)
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
        let pieces = state.ends.prefix { Int($0) <= state.dropped }.count
        state.ends.removeFirst(pieces)
        state.droppedPieces &+= pieces
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
